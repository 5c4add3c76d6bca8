package org.tamanoir.ee;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.sched.LinkItem;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.sched.LinkQueue;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.ProgressWatch;

/**
 * One thread's datagrams to the next hops of one link: those that have to wait are copied into memory of its own, and
 * leave when the link grants it. Within a class none overtakes another; what the discipline drops is counted here.
 *
 * <p>Thread contract: the service's thread, but for {@link #forsake}.
 */
final class DatagramBacklog {
    private final LinkPort port;
    private final Traffic traffic;
    private final LinkQueue<Waiting> queue;
    private final IoLoop loop;
    private final PacketStore memory;
    /** Handed to the link and not taken back. */
    private long waiting;
    /** Packets that came back so far. */
    private long returned;
    /** Null until something is to follow when nothing comes back. */
    private @Nullable ProgressWatch watch;
    /** The packet that was added last. */
    private @Nullable Waiting newest;
    /** Granted and handed to a departure, which may not have been flushed. */
    private @Nullable LinkItem<Waiting> departing;

    /** A packet that waits, and its way once it may leave. */
    private static final class Waiting extends PacketStore.Stored {
        private int trafficOctet;
        private final OwnAddress own = new OwnAddress();
        Egress.@Nullable Datagrams way;

        @Nullable
        RouteCacheEntry hop;

        /** Told what becomes of it; null of almost all. */
        @Nullable
        Fate fate;
    }

    DatagramBacklog(LinkPort port, IoLoop loop, BufferPool pool, Traffic traffic) {
        this.loop = loop;
        this.port = port;
        this.traffic = traffic;
        this.queue = new LinkQueue<>(loop::wakeup, Waiting::new);
        this.memory = new PacketStore(pool, this);
    }

    LinkPort port() {
        return port;
    }

    /**
     * Sends a datagram, or has it wait.
     *
     * @param way that leads to where it goes
     * @return null, or why it is dropped
     */
    @Nullable
    DropReason add(Packet packet, int trafficClass, Egress.Datagrams way, RouteCacheEntry hop) {
        if (waiting > 0) {
            takeReturned(); // They are older.
        }
        int bytes = packet.length();
        if (waiting == 0 && port.passes(trafficClass, bytes)) {
            return way.add(packet, hop);
        }
        port.returnTokens();
        if (!memory.reserve(bytes, port.link().maxChunks())) {
            return port.link().refused(port.content(), trafficClass, bytes);
        }
        LinkItem<Waiting> item = queue.newItem();
        item.processedIn(port.turnClass());
        DropReason refusal = port.link()
                .enqueue(
                        item,
                        port.content(),
                        trafficClass,
                        bytes,
                        port.content().tag(packet));
        if (refusal != null) {
            queue.recycle(item);
            return refusal;
        }
        // Nobody but this thread sends it, granted or not.
        Waiting stored = item.stored();
        memory.put(stored, packet.buffer(), packet.offset(), bytes);
        stored.way = way;
        stored.hop = hop;
        stored.trafficOctet = way.marked();
        way.tellOwn(hop, stored.own);
        newest = stored;
        waiting++;
        way.expect(1);
        return null;
    }

    /** Has what is added from now on be the newest. */
    void forgetNewest() {
        newest = null;
    }

    /** Tells this what becomes of the newest packet, if there is one that waits; else returns false. */
    boolean follow(Fate fate) {
        Waiting followed = newest;
        if (followed != null) {
            followed.fate = fate;
        }
        return followed != null;
    }

    private static void tell(Waiting packet, @Nullable DropReason reason) {
        Fate fate = packet.fate;
        if (fate != null) {
            packet.fate = null;
            fate.ended(reason);
        }
    }

    /** Hands what the link has granted to its departures, in that order, and counts what was dropped. */
    void takeReturned() {
        if (!queue.hasReturned()) {
            return;
        }
        LinkItem<Waiting> item = port.link().takeReturned(queue);
        while (item != null) {
            LinkItem<Waiting> next = item.behind();
            waiting--;
            returned++;
            DropReason reason = leave(item);
            if (reason != null) {
                traffic.drop(reason);
                tell(item.stored(), reason);
            }
            item.putBehind(departing);
            departing = item;
            item = next;
        }
    }

    /** Hands a packet to its way, unless the link has dropped it; it is expected there no more. */
    private @Nullable DropReason leave(LinkItem<Waiting> item) {
        Waiting stored = item.stored();
        Egress.Datagrams way = stored.way;
        RouteCacheEntry hop = stored.hop;
        if (way == null || hop == null) {
            throw new IllegalStateException("a packet that waited has a way");
        }
        way.expect(-1);
        if (item.reason() != null) {
            return item.reason();
        }
        PacketStore.Chunk chunk = stored.required();
        chunk.buffer.check(this, chunk.generation);
        int now = way.marked();
        way.mark(stored.trafficOctet);
        DropReason reason = way.addLater(chunk.buffer.nio(), stored.offset, item.bytes(), hop, stored.own);
        way.mark(now);
        return reason;
    }

    /**
     * Departures have been flushed: the memory of what they sent is free. Returns whether its link has given more for
     * that.
     */
    boolean flushed() {
        LinkItem<Waiting> item = departing;
        departing = null;
        int underWay = 0;
        while (item != null) {
            LinkItem<Waiting> next = item.behind();
            underWay += item.takeUnderWay() ? 1 : 0;
            tell(item.stored(), null);
            item.stored().way = null;
            item.stored().hop = null;
            memory.release(item.stored());
            queue.recycle(item);
            item = next;
        }
        if (underWay == 0) {
            return false;
        }
        port.link().departed(queue, underWay);
        return queue.hasReturned();
    }

    /** Has all that waits granted at once, and hands it to its departures: what comes now goes another way. */
    void releaseAll() {
        if (waiting > 0) {
            port.link().grantAll(queue);
            takeReturned();
        }
    }

    /** Returns how many packets wait for the link. */
    long held() {
        return waiting;
    }

    /** Returns whether the link has granted something, or it was dropped, since it was taken last. */
    boolean hasReturned() {
        return queue.hasReturned();
    }

    /** Returns whether it has packets to send for which others wait. */
    boolean isAwaited() {
        return (departing != null || queue.hasReturned()) && port.content().awaitsDeparture();
    }

    /** Has {@code starved} follow, once, when something waits and nothing is granted for this long. */
    void watch(Duration time, Consumer<LinkPort> starved) {
        ProgressWatch watching = watch;
        if (watching == null) {
            watching = new ProgressWatch(loop, time, () -> waiting > 0, () -> returned, () -> starved.accept(port));
            watch = watching;
        }
        watching.watch();
    }

    /** Drops what waits. */
    void close(DropReason reason) {
        if (waiting > 0 || departing != null) {
            forsake();
        }
        traffic.drop(reason, waiting);
        waiting = 0;
        memory.close();
    }

    /** Frees its memory, if nothing waits; returns whether nothing does. */
    boolean closeIfEmpty() {
        if (waiting == 0) {
            memory.close();
        }
        return waiting == 0;
    }

    /** Takes what waits out of the link's queue. Another thread, while the service's is known to be elsewhere. */
    void forsake() {
        port.link().withdraw(queue);
    }
}
