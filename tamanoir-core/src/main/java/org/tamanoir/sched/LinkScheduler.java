package org.tamanoir.sched;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.Slot;
import org.tamanoir.qdisc.GatedDiscipline;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;

/**
 * The scheduling point after processing, for one outgoing link: packets leave in the order of a queueing discipline,
 * under the link's token bucket. It grants departures; the threads whose packets they are send them.
 *
 * <p>While nothing waits, packets {@linkplain #pass pass} at the cost of their tokens. Otherwise an item for each waits
 * in the discipline, and whoever enqueues, gives tokens back or is the timer grants what may go: the items return to
 * their queues, and each queue's owner is woken once.
 *
 * <p>Not scheduled, since they cross no link of the configuration: replies, that is what goes back on the connection or
 * to the address that a stream's or a datagram's sender uses.
 *
 * <p>Thread contract: any thread.
 */
public final class LinkScheduler implements GatedDiscipline.Gate {
    /** Tokens that a thread may take ahead for the packets of a batch, in bytes. */
    private static final long AHEAD_BYTES = 16 * 1024;
    /**
     * The timer comes so much later than the next packet could go, or by the time in which a quarter of the burst comes
     * together: then some packets go at once, and their owners are woken less often.
     */
    private static final long MAX_SLACK_NS = 250_000;
    /** Before a discipline is asked again that says that it is ready and gives nothing. */
    private static final long LEAST_PAUSE_NS = 20_000;
    /** Chunks of memory that a stream may have waiting and leaving, at any rate. */
    private static final int MIN_STREAM_CHUNKS = 4;
    /** The same at high rates. */
    private static final int MAX_STREAM_CHUNKS = 16;
    /** How long a stream's packets last when it has the link to itself: its thread may be late. */
    private static final long STREAM_MILLIS = 10;

    private static final long NEVER = Long.MAX_VALUE;

    private final String name;
    private final Runnable roomAgain;
    private final @Nullable QosTimer timer;
    private final GatedDiscipline.@Nullable Opener opener;
    private final Wake wake = new Wake();
    private final Object lock = new Object();
    private final LinkSuccession succession;
    private final int chunkBytes;
    private long wakesAtNs = NEVER;
    private volatile boolean closed;
    private volatile long burst;
    private volatile int maxChunks;
    private volatile int streamChunks = MIN_STREAM_CHUNKS;
    private long slackNs;

    /**
     * A link that {@link #change} is to be called for.
     *
     * @param first its settings
     * @param roomAgain called when classes that were held back may have turns again; not inside the lock
     * @param timer null = {@link #pump} is called by hand
     * @param opener opens the gates of gated disciplines; null = there is none
     * @param clock in ns
     * @param chunkBytes in which packets that wait lie in memory
     * @param patienceNs for which a discipline may give nothing while another follows
     * @param arena that shows it
     */
    LinkScheduler(
            Link first,
            @Nullable QosTimer timer,
            GatedDiscipline.@Nullable Opener opener,
            Runnable roomAgain,
            LongSupplier clock,
            int chunkBytes,
            long patienceNs,
            Arena arena) {
        this.name = first.name();
        this.timer = timer;
        this.opener = opener;
        this.roomAgain = roomAgain;
        this.succession = new LinkSuccession(first, clock, patienceNs, arena);
        this.chunkBytes = chunkBytes;
        if (timer != null) {
            timer.add(wake);
        }
    }

    private final class Wake extends QosTimer.Task {
        @Override
        public void due() {
            pump();
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public boolean change(BooleanSupplier change) {
        boolean changed;
        synchronized (lock) {
            succession.tick();
            changed = change.getAsBoolean();
            grant(null);
        }
        tell();
        return changed;
    }

    // ---- configuration ---------------------------------------------------------------------------------------------

    /**
     * Schedules so from now on. What waits leaves first, in the order of the configuration under which it came, and at
     * the rate that holds now.
     *
     * @return what waits under this configuration
     */
    LinkContent change(QosConfig config, Link link) {
        LinkContent made;
        synchronized (lock) {
            succession.tick();
            made = succession.change(this, config, link);
            burst = link.burst();
            maxChunks = config.maxChunks(chunkBytes);
            streamChunks = streamChunks(link);
            slackNs = Math.min(MAX_SLACK_NS, (long) (link.burst() / 4 * 1e9 / link.rate()));
            grant(null);
        }
        tell();
        return made;
    }

    private int streamChunks(Link link) {
        long chunksAtRate = link.rate() / (1000 / STREAM_MILLIS) / chunkBytes;
        return (int) Math.max(MIN_STREAM_CHUNKS, Math.min(MAX_STREAM_CHUNKS, chunksAtRate));
    }

    /**
     * Returns how many bytes one stream can have waiting at a link with these settings: all chunks but the oldest, which
     * is in use until its last packet has left.
     */
    long streamBytes(Link link) {
        return (streamChunks(link) - 1L) * chunkBytes;
    }

    /** Has the gate of a content opened, if it has one; before threads know of it. */
    void attach(LinkContent content) {
        synchronized (lock) {
            content.attach(opener);
        }
    }

    /** The longest packet that can leave, in bytes. */
    public long burst() {
        return burst;
    }

    /** Chunks of memory that the datagrams of one thread may take up while they wait. */
    public int maxChunks() {
        return maxChunks;
    }

    /** Chunks of memory that the packets of one stream may take up while they wait and leave. */
    public int streamChunks() {
        return streamChunks;
    }

    // ---- what departs ----------------------------------------------------------------------------------------------

    /**
     * Takes tokens for packets that need not wait, because none does.
     *
     * @param bytes of the first of them
     * @return bytes that may pass: these, or more for those behind; 0 when the packet has to be enqueued
     */
    long pass(int bytes) {
        synchronized (lock) {
            long ahead = Math.min(AHEAD_BYTES, burst / 4);
            if (closed) {
                return Math.max(ahead, bytes);
            }
            succession.tick();
            long passed = bytes < ahead && succession.pass(ahead) ? ahead : succession.pass(bytes) ? bytes : 0;
            succession.publish();
            return passed;
        }
    }

    /**
     * Counts what has passed, and takes back the tokens that were not needed.
     *
     * @param used bit i = packets of class i of {@code under} have passed
     * @param packets by class
     * @param bytes by class
     */
    void passed(LinkContent under, long used, long[] packets, long[] bytes, long restBytes) {
        synchronized (lock) {
            if (closed) {
                return;
            }
            for (long left = used; left != 0; left &= left - 1) {
                int i = Long.numberOfTrailingZeros(left);
                ClassCounts counts = under.classAt(i).counts;
                counts.served(packets[i], bytes[i]);
                counts.waited(0, packets[i]);
            }
            if (restBytes > 0) {
                succession.giveBack(restBytes);
                if (!succession.isEmpty()) {
                    succession.tick();
                    grant(null);
                }
            }
        }
        tell();
    }

    /**
     * Has a datagram wait.
     *
     * @param under the configuration that holds, as its thread has seen it
     * @param index of its class there
     * @param hash of its stream
     * @return null, or why it is dropped; the item is the caller's then
     */
    public @Nullable DropReason enqueue(LinkItem<?> item, LinkContent under, int index, int bytes, long hash) {
        DropReason refusal = null;
        synchronized (lock) {
            succession.tick();
            succession.begin(item, under.classAt(index), bytes);
            if (closed) {
                under.release(item);
                return null;
            }
            refusal = under.enqueue(item, hash);
            if (refusal == null) {
                grant(item.queue);
            } else {
                succession.publish();
            }
        }
        tell();
        return refusal;
    }

    /** Counts a datagram for which its owner has no memory. */
    public DropReason refused(LinkContent under, int index, int bytes) {
        synchronized (lock) {
            under.classAt(index).counts.dropped(DropReason.QUEUE_FULL, 1, bytes);
            succession.publish();
        }
        return DropReason.QUEUE_FULL;
    }

    /**
     * Has a packet of a connection wait, behind those before it.
     *
     * @param under the configuration that holds, as its thread has seen it
     * @param index of its class there
     * @return false when its class is full, and others of the queue wait already, or the room is for others: the owner is
     *     woken when there is room
     */
    public <P> boolean offer(OrderedLinkQueue<P> queue, LinkItem<P> item, LinkContent under, int index, int bytes) {
        synchronized (lock) {
            succession.tick();
            LinkClass itsClass = under.classAt(index);
            if (closed) {
                succession.begin(item, itsClass, bytes);
                under.release(item);
                return true;
            }
            boolean hasRoom = !itsClass.yieldsRoom(item) && (queue.isEmpty() || itsClass.hasRoom(bytes));
            if (!hasRoom && queue.wouldJoinRun(itsClass)) {
                itsClass.awaitRoom(queue, item);
                return false;
            }
            succession.begin(item, itsClass, bytes);
            under.append(queue, item);
            grant(queue);
        }
        tell();
        return true;
    }

    /** Items of the queue that came back, linked; null when there are none. */
    public <P> @Nullable LinkItem<P> takeReturned(LinkQueue<P> queue) {
        synchronized (lock) {
            return queue.takeReturned();
        }
    }

    /**
     * Tells a gated discipline that packets which came back have been sent, or have ended otherwise. What it gives for
     * that, the caller takes without being woken.
     *
     * @param packets those that {@link LinkItem#takeUnderWay} told of
     */
    public void departed(LinkQueue<?> queue, int packets) {
        synchronized (lock) {
            succession.tick();
            queue.departed(packets);
            grant(queue);
        }
        tell();
    }

    /** The owner sends no more of what waits in this queue, and takes nothing back. */
    public void withdraw(LinkQueue<?> queue) {
        synchronized (lock) {
            succession.tick();
            succession.withdraw(queue);
            grant(null);
        }
        tell();
    }

    /** Grants all datagrams of a queue at once: others like them go another way from now on. */
    public void grantAll(LinkQueue<?> queue) {
        synchronized (lock) {
            succession.tick();
            succession.grantAll(queue);
            grant(queue);
        }
        tell();
    }

    /**
     * Grants what may go now, and has the timer come back for the rest. Inside the lock.
     *
     * @param asking looks by itself, and need not be woken
     */
    private void grant(@Nullable LinkQueue<?> asking) {
        if (!closed) {
            long waitNs = succession.grant(asking);
            succession.publish();
            wakeAt(waitNs == NEVER ? NEVER : succession.nowNs() + Math.max(LEAST_PAUSE_NS, waitNs + slackNs));
        }
    }

    private void wakeAt(long timeNs) {
        if (timeNs != wakesAtNs) {
            wakesAtNs = timeNs;
            if (timer != null) {
                timer.at(wake, timeNs);
            }
        }
    }

    /** Tells that classes are held back no more, outside the lock. */
    private void tell() {
        if (succession.takeRoomAgain()) {
            roomAgain.run();
        }
    }

    // ---- time, and what is seen ------------------------------------------------------------------------------------

    /** Its time has come: grants what may go now. */
    void pump() {
        synchronized (lock) {
            wakesAtNs = NEVER;
            succession.tick();
            grant(null);
        }
        tell();
    }

    /** When the timer is to come; the maximum when it need not. */
    long wakesAtNs() {
        synchronized (lock) {
            return wakesAtNs;
        }
    }

    /** Grants everything that waits, and all that will be asked for. */
    void close() {
        synchronized (lock) {
            closed = true;
            succession.tick();
            succession.releaseAll();
            succession.close();
            if (timer != null) {
                timer.remove(wake);
            }
        }
        tell();
    }

    Slot slot() {
        return succession.slot();
    }

    QosStatus.Point status() {
        synchronized (lock) {
            return succession.status(name);
        }
    }
}
