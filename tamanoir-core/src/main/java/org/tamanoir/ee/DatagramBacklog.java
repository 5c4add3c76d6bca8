package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;

/**
 * One thread's datagrams to the next hops of one link: those that have to wait are copied into memory of its own, and
 * leave when the link grants it. Within a class none overtakes another; what the discipline drops is counted here.
 *
 * <p>Thread contract: the service's thread, but for {@link #forsake}.
 */
final class DatagramBacklog {
    private final LinkPort port;
    private final Traffic traffic;
    private final LinkQueue queue;
    private final QueueMemory memory;
    /** Handed to the link and not taken back. */
    private long waiting;
    /** When something came back last, by {@link System#nanoTime}. */
    private long movedNs;
    /** Granted and handed to a departure, which may not have been flushed. */
    private @Nullable LinkItem departing;

    DatagramBacklog(LinkPort port, IoLoop loop, BufferPool pool, Traffic traffic) {
        this.port = port;
        this.traffic = traffic;
        this.queue = new LinkQueue(loop::wakeup);
        this.memory = new QueueMemory(pool);
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
    DropReason add(Packet packet, int trafficClass, Departure way, Hop hop) {
        if (waiting > 0) {
            takeReturned(); // They are older.
        }
        int octets = packet.length();
        if (waiting == 0 && port.passes(trafficClass, octets)) {
            return send(way, packet, hop);
        }
        port.settle();
        if (!memory.reserve(octets, port.link().maxChunks())) {
            return port.link().refused(port.config(), trafficClass, octets);
        }
        LinkItem item = queue.newItem();
        DropReason refusal =
                port.link().enqueue(item, port.config(), trafficClass, octets, Classifier.streamHash(packet));
        if (refusal != null) {
            queue.recycle(item);
            return refusal;
        }
        // Nobody but this thread sends it, granted or not.
        memory.put(item, packet.buffer(), packet.offset(), octets);
        item.way = way;
        item.high = hop.high;
        item.low = hop.low;
        item.port = hop.port();
        if (waiting++ == 0) {
            movedNs = System.nanoTime();
        }
        if (way instanceof QueuedDeparture connection) {
            connection.expect(1);
        }
        return null;
    }

    private static @Nullable DropReason send(Departure way, Packet packet, Hop hop) {
        if (way instanceof UdpDeparture datagrams) {
            return datagrams.to(hop.high, hop.low, hop.port()).add(packet);
        }
        return way.add(packet);
    }

    /** Hands what the link has granted to its departures, in that order, and counts what was dropped. */
    void takeReturned() {
        if (!queue.hasReturned()) {
            return;
        }
        movedNs = System.nanoTime();
        LinkItem item = port.link().takeReturned(queue);
        while (item != null) {
            LinkItem next = item.behind;
            waiting--;
            if (item.way instanceof QueuedDeparture connection) {
                connection.expect(-1);
            }
            DropReason reason = item.reason != null ? item.reason : send(item);
            if (reason != null) {
                traffic.drop(reason);
            }
            item.behind = departing;
            departing = item;
            item = next;
        }
    }

    private static @Nullable DropReason send(LinkItem item) {
        QueueMemory.Chunk chunk = item.chunk;
        Departure way = item.way;
        if (chunk == null || way == null) {
            throw new IllegalStateException("a packet that waited has memory and a way");
        }
        if (way instanceof UdpDeparture datagrams) {
            datagrams.to(item.high, item.low, item.port).add(chunk.buffer.nio(), item.offset, item.octets);
            return null;
        }
        QueuedDeparture connection = (QueuedDeparture) way;
        return connection.add(chunk.buffer.nio(), item.offset, item.octets);
    }

    /** Departures have been flushed: the memory of what they sent is free. */
    void flushed() {
        LinkItem item = departing;
        departing = null;
        while (item != null) {
            LinkItem next = item.behind;
            memory.release(item);
            queue.recycle(item);
            item = next;
        }
    }

    /** Has all that waits granted at once, and hands it to its departures: what comes now goes another way. */
    void releaseAll() {
        if (waiting > 0) {
            port.link().grantAll(queue);
            takeReturned();
        }
    }

    /** Packets that wait for the link. */
    long held() {
        return waiting;
    }

    /** Whether the link has granted something, or it was dropped, since it was taken last. */
    boolean hasReturned() {
        return queue.hasReturned();
    }

    /** How long nothing was granted while something waits, in nanoseconds; 0 while nothing waits. */
    long stillForNs(long nowNs) {
        return waiting == 0 ? 0 : nowNs - movedNs;
    }

    /** Drops what waits. */
    void close(DropReason reason) {
        if (waiting > 0) {
            forsake();
            traffic.drop(reason, waiting);
            waiting = 0;
        }
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
