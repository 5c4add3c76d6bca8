package org.tamanoir.ee;

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
 * <p>Control packets have room of their own, as {@link ControlRing} says, and the first priority, which no others have,
 * as far as their {@link ControlShare} goes; beyond that the priority of their class.
 *
 * <p>With order, a stream that waits behind one of its packets leaves {@linkplain JobRoom room} for others.
 *
 * <p>A stream is what has one {@linkplain Classifier#streamHash stream identifier and ends} and came from one address; two
 * streams whose hashes meet in one of the slots go one after the other too.
 *
 * <p>Thread contract: any thread. Those that put packets in take a lock; workers take none.
 */
final class PacketJobs {
    private static final int NONE = -1;
    private static final int FIRST = 0;

    private final QualityOfService quality;
    private final JobRoom others;
    private final JobRoom control;
    /** Jobs from here on are control packets'. */
    private final int controlFrom;
    /** Guarded by this. */
    private final ControlShare share = new ControlShare();

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
    private final int[] proofs;
    private boolean closed;

    /**
     * Makes the arrays.
     *
     * @param buffer in which packets lie; it stays the caller's
     * @param controlBuffer likewise, for control packets
     */
    PacketJobs(QualityOfService quality, Buffer buffer, Buffer controlBuffer, Dispatch dispatch) {
        this.quality = quality;
        this.controlFrom = dispatch.jobs();
        int jobs = controlFrom + ControlRing.PACKETS;
        this.others = new JobRoom(0, controlFrom, buffer, dispatch.ordered());
        this.control = new JobRoom(controlFrom, ControlRing.PACKETS, controlBuffer, dispatch.ordered());
        // More than there are: a taker may stand in the midst of one that is free again.
        this.ready = new ReadyQueue(Math.max(2 * controlFrom, 4 * ControlRing.PACKETS));
        this.streamMask = Integer.highestOneBit(controlFrom) - 1;
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
        this.proofs = new int[jobs];
    }

    /**
     * Copies a packet in.
     *
     * @return null, or why it was not taken
     */
    @Nullable
    DropReason offer(Packet packet, Arrival from) {
        Classifier classifier = quality.now().classifier();
        int index = classifier == null ? 0 : classifier.classOf(packet);
        int priority = Math.min(FIRST + 1 + index, ReadyQueue.PRIORITIES - 1);
        int stream = order == null ? 0 : stream(Classifier.streamHash(packet), from);
        return offer(packet, from, priority, stream);
    }

    private synchronized @Nullable DropReason offer(Packet packet, Arrival from, int priority, int stream) {
        if (closed) {
            return DropReason.SHUTDOWN;
        }
        JobRoom room = ControlRing.isControl(packet) ? control : others;
        int job = room.take(packet.buffer(), packet.offset(), packet.length(), stream, offsets);
        if (job == NONE) {
            return DropReason.INBOX_FULL;
        }
        streams[job] = stream;
        priorities[job] = (byte) (room == control && goesFirst() ? FIRST : priority);
        lengths[job] = packet.length();
        if (room == others) {
            share.other();
        }
        ports[job] = sockets.portAndSocket(from);
        highs[job] = from.high();
        lows[job] = from.low();
        ascents[job] = from.ascent();
        toHighs[job] = from.toHigh();
        toLows[job] = from.toLow();
        proofs[job] = from.proof();
        int before = order == null ? StreamOrder.NONE : order.append(stream, job);
        if (before >= 0) {
            free(before);
        }
        if (before != StreamOrder.WAITS) {
            makeReady(job);
        }
        return null;
    }

    private boolean goesFirst() {
        boolean admitted = share.admits();
        if (admitted) {
            share.control();
        }
        return admitted;
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
        JobRoom room = room(job);
        room.end(streams[job], lengths[job]);
        room.free(job);
        room.ended();
    }

    /** Ends a job: the next of its stream gets ready. Returns whether there was one. */
    boolean end(int job) {
        JobRoom room = room(job);
        int stream = streams[job];
        room.end(stream, lengths[job]); // Before it finishes: it may be another packet's then.
        int next = order == null ? StreamOrder.NONE : order.finish(stream, job);
        if (next != StreamOrder.LEFT) {
            room.free(job);
        }
        if (next >= 0) {
            makeReady(next);
        }
        room.ended();
        return next >= 0;
    }

    private void free(int job) {
        room(job).free(job);
    }

    private JobRoom room(int job) {
        return isControl(job) ? control : others;
    }

    /** Returns whether this is a control packet's, which lies in memory of their own. */
    boolean isControl(int job) {
        return job >= controlFrom;
    }

    /** Returns whether this job goes before all others. */
    boolean isFirst(int job) {
        return priorities[job] == FIRST;
    }

    /** Returns whether one that goes before all others is ready. */
    boolean isFirstReady() {
        return ready.isReady(FIRST);
    }

    /** Takes a job that goes before all others; false when there is none. */
    boolean takeFirst(int[] into) {
        return ready.take(into, 1, FIRST + 1) == 1;
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
                toLows[job],
                proofs[job]);
    }

    /** Returns where a job's packet lies. */
    int offset(int job) {
        return offsets[job];
    }

    int length(int job) {
        return lengths[job];
    }

    /** Gives the memory of a packet back that lay here; the job may be another packet's of its kind by now. */
    void release(int job, int offset) {
        room(job).memory.release(offset);
    }

    /** Returns how many jobs wait, or are workers'. */
    int inUse() {
        return others.inUse() + control.inUse();
    }

    /** Takes no more. */
    synchronized void close() {
        closed = true;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Returns the memory in which packets lie, but for control packets. */
    Buffer memory() {
        return others.memory.buffer();
    }

    /** Returns the memory in which control packets lie. */
    Buffer controlMemory() {
        return control.memory.buffer();
    }
}
