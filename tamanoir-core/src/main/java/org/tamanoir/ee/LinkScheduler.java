package org.tamanoir.ee;

import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.transport.BufferPool;

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
final class LinkScheduler {
    /** Tokens that a thread may take ahead for the packets of a batch, in octets. */
    private static final long AHEAD_OCTETS = 16 * 1024;
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
    private final Wake wake = new Wake();
    private final Object lock = new Object();
    private final LinkContent content;
    private long wakesAtNs = NEVER;
    private boolean closed;
    private volatile Map<String, LinkClass> classesByName = Map.of();
    private volatile long burst;
    private volatile int maxChunks;
    private volatile int streamChunks = MIN_STREAM_CHUNKS;
    private long slackNs;

    /**
     * @param roomAgain called when a class whose queue was full has room again; not inside the lock
     */
    LinkScheduler(String name, QosTimer timer, Runnable roomAgain) {
        this(name, timer, roomAgain, System::nanoTime);
        timer.add(wake);
    }

    /**
     * @param timer null = {@link #pump} is called by hand
     */
    LinkScheduler(String name, @Nullable QosTimer timer, Runnable roomAgain, LongSupplier clock) {
        this.name = name;
        this.timer = timer;
        this.roomAgain = roomAgain;
        this.content = new LinkContent(name, clock);
    }

    private final class Wake extends QosTimer.Task {
        @Override
        void due(long nowNs) {
            pump();
        }
    }

    String name() {
        return name;
    }

    // ---- configuration ---------------------------------------------------------------------------------------------

    /**
     * Schedules so from now on; what waits keeps waiting, under the new configuration.
     *
     * @param generation not needed: who asks says which configuration he has seen
     */
    void change(QosConfig config, Link link, int generation) {
        boolean room;
        synchronized (lock) {
            content.change(config, link);
            classesByName = content.classes().byName();
            burst = link.burst();
            long limitOctets = config.classes().stream()
                    .mapToLong(TrafficClass::limitOctets)
                    .sum();
            maxChunks = (int) Math.min(
                    Integer.MAX_VALUE,
                    2
                            * (limitOctets / BufferPool.MEDIUM_OCTETS
                                    + config.classes().size()));
            long chunksAtRate = link.rate() / (1000 / STREAM_MILLIS) / BufferPool.MEDIUM_OCTETS;
            streamChunks = (int) Math.max(MIN_STREAM_CHUNKS, Math.min(MAX_STREAM_CHUNKS, chunksAtRate));
            slackNs = Math.min(MAX_SLACK_NS, (long) (link.burst() / 4 * 1e9 / link.rate()));
            grant(null);
            room = content.takeRoomAgain();
        }
        tell(room);
    }

    /** The longest packet that can leave, in octets. */
    long burst() {
        return burst;
    }

    /**
     * Chunks of memory that the datagrams of one thread may take up while they wait: twice what the limits of all
     * classes come to, since those that leave first leave gaps.
     */
    int maxChunks() {
        return maxChunks;
    }

    /** Chunks of memory that the packets of one stream may take up while they wait and leave. */
    int streamChunks() {
        return streamChunks;
    }

    // ---- what departs ----------------------------------------------------------------------------------------------

    /**
     * Takes tokens for packets that need not wait, because none does.
     *
     * @param octets of the first of them
     * @return octets that may pass: these, or more for those behind; 0 when the packet has to be enqueued
     */
    long pass(int octets) {
        synchronized (lock) {
            long ahead = Math.min(AHEAD_OCTETS, burst / 4);
            if (closed) {
                return Math.max(ahead, octets);
            }
            content.tick();
            if (octets < ahead && content.pass(ahead)) {
                return ahead;
            }
            return content.pass(octets) ? octets : 0;
        }
    }

    /** Counts what has passed, and takes back the tokens that were not needed. */
    void passed(LinkPort port, long restOctets) {
        boolean room;
        synchronized (lock) {
            if (closed) {
                return;
            }
            for (int i = port.nextUsed(0); i >= 0; i = port.nextUsed(i + 1)) {
                ClassCounts counts = content.classes().of(port.config(), i).counts;
                counts.served(port.packets(i), port.octets(i));
                counts.waited(0, port.packets(i));
            }
            if (restOctets > 0) {
                content.giveBack(restOctets);
                if (!content.isEmpty()) {
                    content.tick();
                    grant(null);
                }
            }
            room = content.takeRoomAgain();
        }
        tell(room);
    }

    /**
     * Has a datagram wait.
     *
     * @param index of its class in {@code seen}
     * @param hash of its stream
     * @return null, or why it is dropped; the item is the caller's then
     */
    @Nullable
    DropReason enqueue(LinkItem item, QosConfig seen, int index, int octets, long hash) {
        DropReason refusal = null;
        boolean room;
        synchronized (lock) {
            content.tick();
            content.begin(item, content.classes().of(seen, index), octets);
            if (closed) {
                content.release(item);
                return null;
            }
            refusal = content.enqueue(item, hash);
            if (refusal == null) {
                grant(item.queue);
            }
            room = content.takeRoomAgain();
        }
        tell(room);
        return refusal;
    }

    /** Counts a datagram for which its owner has no memory. */
    DropReason refused(QosConfig seen, int index, int octets) {
        synchronized (lock) {
            content.classes().of(seen, index).counts.dropped(DropReason.QUEUE_FULL, 1, octets);
        }
        return DropReason.QUEUE_FULL;
    }

    /**
     * Has a packet of a connection wait, behind those before it.
     *
     * @param index of its class in {@code seen}
     * @return false when its class is full, and others of the queue wait already: the owner is woken when there is room
     */
    boolean offer(OrderedLinkQueue queue, LinkItem item, QosConfig seen, int index, int octets) {
        boolean room;
        synchronized (lock) {
            content.tick();
            LinkClass itsClass = content.classes().of(seen, index);
            if (closed) {
                content.begin(item, itsClass, octets);
                content.release(item);
                return true;
            }
            if (!queue.isEmpty() && queue.wouldJoinRun(itsClass) && !itsClass.hasRoom(octets)) {
                itsClass.awaitRoom(queue);
                return false;
            }
            content.begin(item, itsClass, octets);
            content.append(queue, item);
            grant(queue);
            room = content.takeRoomAgain();
        }
        tell(room);
        return true;
    }

    /** Items of the queue that came back, linked; null when there are none. */
    @Nullable
    LinkItem takeReturned(LinkQueue queue) {
        synchronized (lock) {
            return queue.takeReturned();
        }
    }

    /** The owner sends no more of what waits in this queue, and takes nothing back. */
    void withdraw(LinkQueue queue) {
        boolean room;
        synchronized (lock) {
            content.tick();
            content.withdraw(queue);
            grant(null);
            room = content.takeRoomAgain();
        }
        tell(room);
    }

    /** Grants all datagrams of a queue at once: others like them go another way from now on. */
    void grantAll(LinkQueue queue) {
        boolean room;
        synchronized (lock) {
            content.tick();
            content.takeOut(queue, true);
            grant(queue);
            room = content.takeRoomAgain();
        }
        tell(room);
    }

    /**
     * Grants what may go now, and has the timer come back for the rest. Inside the lock.
     *
     * @param asking looks by itself, and need not be woken
     */
    private void grant(@Nullable LinkQueue asking) {
        if (!closed) {
            long waitNs = content.grant(asking);
            wakeAt(waitNs == NEVER ? NEVER : content.nowNs() + Math.max(LEAST_PAUSE_NS, waitNs + slackNs));
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

    private void tell(boolean hasRoomAgain) {
        if (hasRoomAgain) {
            roomAgain.run();
        }
    }

    // ---- time, and what is seen ------------------------------------------------------------------------------------

    /** Its time has come: grants what may go now. */
    void pump() {
        boolean room;
        synchronized (lock) {
            wakesAtNs = NEVER;
            content.tick();
            grant(null);
            room = content.takeRoomAgain();
        }
        tell(room);
    }

    /** When the timer is to come; the maximum when it need not. */
    long wakesAtNs() {
        synchronized (lock) {
            return wakesAtNs;
        }
    }

    /** Whether the queue of this class is full. Takes no lock. */
    boolean isFull(String className) {
        LinkClass known = classesByName.get(className);
        return known != null && known.isFull();
    }

    /** Grants everything that waits, and all that will be asked for. */
    void close() {
        boolean room;
        synchronized (lock) {
            closed = true;
            content.tick();
            content.releaseAll();
            if (timer != null) {
                timer.remove(wake);
            }
            room = content.takeRoomAgain();
        }
        tell(room);
    }

    QosStatus.Point status() {
        synchronized (lock) {
            return new QosStatus.Point(
                    name, content.discipline(), content.classes().status());
        }
    }
}
