package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.ready.ReadyQueue;
import org.tamanoir.ready.StreamOrder;
import org.tamanoir.sched.QualityOfService;
import org.tamanoir.transport.Buffer;

/**
 * The packets of a service that go to whichever worker is free. Each is a <em>job</em>, an index into arrays that are
 * made at the start: where it lies, where it came from, its stream, its priority. A job waits behind those of its
 * stream, then is ready, then a worker's until {@link #end}.
 *
 * <p>A stream is what has one {@linkplain Classifier#streamHash stream identifier and ends} and came from one address; two
 * streams whose hashes meet in one of the slots go one after the other too.
 *
 * <p>Thread contract: any thread. Those that put packets in take a lock; workers take none.
 */
final class PacketJobs {
    private static final int NONE = -1;

    private final QualityOfService quality;
    private final JobMemory memory;
    private final ReadyQueue ready;
    /** Null where packets of a stream may overtake each other. */
    private final @Nullable StreamOrder order;

    private final Arrival.Sockets sockets = new Arrival.Sockets();
    private final int streamMask;
    private final int[] streams;
    private final byte[] priorities;
    private final int[] offsets;
    private final int[] lengths;
    private final int[] ports;
    private final long[] highs;
    private final long[] lows;
    private final long[] ascents;
    private final long[] toHighs;
    private final long[] toLows;
    /** By free job: the next free one. */
    private final int[] below;

    private final AtomicInteger free = new AtomicInteger();
    private final AtomicInteger inUse = new AtomicInteger();
    private boolean closed;

    /** @param buffer in which packets lie; it stays the caller's */
    PacketJobs(QualityOfService quality, Buffer buffer, Dispatch dispatch) {
        this.quality = quality;
        this.memory = new JobMemory(buffer);
        int jobs = dispatch.jobs();
        this.ready = new ReadyQueue(2 * jobs); // Twice: a taker may stand in the midst of one that is free again.
        this.streamMask = Integer.highestOneBit(jobs) - 1;
        this.order = dispatch.ordered() ? new StreamOrder(streamMask + 1, jobs) : null;
        this.streams = new int[jobs];
        this.priorities = new byte[jobs];
        this.offsets = new int[jobs];
        this.lengths = new int[jobs];
        this.ports = new int[jobs];
        this.highs = new long[jobs];
        this.lows = new long[jobs];
        this.ascents = new long[jobs];
        this.toHighs = new long[jobs];
        this.toLows = new long[jobs];
        this.below = new int[jobs];
        for (int job = 0; job < jobs; job++) {
            below[job] = job + 1 < jobs ? job + 1 : NONE;
        }
    }

    /**
     * Copies a packet in.
     *
     * @return null, or why it was not taken
     */
    @Nullable
    DropReason offer(Packet packet, Arrival from) {
        Classifier classifier = quality.now().classifier();
        int priority = classifier == null ? 0 : Math.min(classifier.classOf(packet), ReadyQueue.PRIORITIES - 1);
        int stream = order == null ? 0 : stream(Classifier.streamHash(packet), from);
        return offer(packet.buffer(), packet.offset(), packet.length(), from, priority, stream);
    }

    private synchronized @Nullable DropReason offer(
            ByteBuffer bytes, int offset, int length, Arrival from, int priority, int stream) {
        if (closed) {
            return DropReason.SHUTDOWN;
        }
        int job = free.get();
        int at = job == NONE ? NONE : memory.put(bytes, offset, length);
        if (at == NONE) {
            return DropReason.INBOX_FULL;
        }
        while (!free.compareAndSet(job, below[job])) {
            job = free.get(); // Others give jobs back, none but the lock's holder takes any.
        }
        streams[job] = stream;
        priorities[job] = (byte) priority;
        offsets[job] = at;
        lengths[job] = length;
        ports[job] = sockets.portAndSocket(from);
        highs[job] = from.high();
        lows[job] = from.low();
        ascents[job] = from.ascent();
        toHighs[job] = from.toHigh();
        toLows[job] = from.toLow();
        inUse.incrementAndGet();
        int before = order == null ? StreamOrder.NONE : order.append(stream, job);
        if (before >= 0) {
            free(before);
        }
        if (before != StreamOrder.WAITS) {
            makeReady(job);
        }
        return null;
    }

    private int stream(long hash, Arrival from) {
        long mixed = (hash ^ from.high() ^ Long.rotateLeft(from.low(), 17) ^ from.port()) * 0x9E37_79B9_7F4A_7C15L;
        return (int) (mixed >>> 32) & streamMask;
    }

    /** Puts a job in for any worker. */
    void makeReady(int job) {
        while (!ready.put(job, priorities[job])) {
            Thread.yield(); // A thread stalls where the ring has come round to: it is being preempted.
        }
    }

    /** Takes ready jobs of one priority; returns how many. */
    int take(int[] into, int limit) {
        return ready.take(into, limit);
    }

    /** Returns the job behind one that a worker has, of the same stream; {@link StreamOrder#NONE} if there is none yet. */
    int successor(int job) {
        return order == null ? StreamOrder.NONE : order.successor(job);
    }

    /** Ends a job whose successor the same worker has taken. */
    void endLinked(int job) {
        free(job);
        inUse.decrementAndGet();
    }

    /** Ends a job: the next of its stream gets ready. Returns whether there was one. */
    boolean end(int job) {
        int next = order == null ? StreamOrder.NONE : order.finish(streams[job], job);
        if (next != StreamOrder.LEFT) {
            free(job);
        }
        if (next >= 0) {
            makeReady(next);
        }
        inUse.decrementAndGet();
        return next >= 0;
    }

    private void free(int job) {
        int top;
        do {
            top = free.get();
            below[job] = top;
        } while (!free.compareAndSet(top, job));
    }

    /** Tells where a job's packet came from. */
    void arrival(int job, Arrival arrival) {
        int port = ports[job];
        arrival.set(
                sockets.socket(port),
                highs[job],
                lows[job],
                Arrival.Sockets.port(port),
                ascents[job],
                toHighs[job],
                toLows[job]);
    }

    /** Returns where a job's packet lies. */
    int offset(int job) {
        return offsets[job];
    }

    int length(int job) {
        return lengths[job];
    }

    /** Gives the room of a packet back that lay here. */
    void release(int offset) {
        memory.release(offset);
    }

    /** Returns how many jobs wait, or are workers'. */
    int inUse() {
        return inUse.get();
    }

    /** Takes no more. */
    synchronized void close() {
        closed = true;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Returns the memory in which packets lie. */
    Buffer memory() {
        return memory.buffer();
    }
}
