package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.sched.LinkItem;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.sched.OrderedLinkQueue;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;

/**
 * Packets of a stream that wait for the link of their connection. They are copied, so that the stream may read and
 * process on meanwhile, up to a bound: then, or when their class is full, the stream waits. They leave in the order in
 * which they came; those granted are written once those before them have left, so that their memory is bounded too.
 *
 * <p>Thread contract: the service's thread, but for {@link #forsake}.
 */
final class TcpBacklog {
    private final TcpConnection connection;
    private final LinkPort port;
    private final NextHops.Parking parking;
    private final Traffic traffic;
    private final OrderedLinkQueue<PacketStore.Stored> queue;
    private final PacketStore memory;
    /** Handed to the link and not taken back. */
    private long waiting;
    /** Granted, linked, not written yet. */
    private @Nullable LinkItem<PacketStore.Stored> granted;

    private @Nullable LinkItem<PacketStore.Stored> lastGranted;
    private long grantedPackets;
    /** Written, linked, not known to have left. */
    private @Nullable LinkItem<PacketStore.Stored> leaving;

    private long leavingPackets;
    private long leavingBytes;
    /** Packets that were granted so far, and again when they had left. */
    private long moved;

    private boolean isClosed;

    TcpBacklog(
            TcpConnection connection,
            LinkPort port,
            NextHops.Parking parking,
            Object owner,
            Traffic traffic,
            IoLoop loop,
            NodeContext context) {
        this.connection = connection;
        this.port = port;
        this.parking = parking;
        this.traffic = traffic;
        this.queue = new OrderedLinkQueue<>(loop::wakeup, PacketStore.Stored::new);
        this.memory = new PacketStore(context.pool(), owner);
    }

    LinkPort port() {
        return port;
    }

    /** Returns whether a packet may be written at once without overtaking another. */
    boolean isEmpty() {
        return waiting == 0 && grantedPackets == 0;
    }

    /** Returns how many packets have not left. */
    long held() {
        return waiting + grantedPackets + leavingPackets;
    }

    /** Has a packet wait for the link, or first, with its stream, for room. */
    void add(Packet packet, int trafficClass) {
        port.returnTokens();
        int turnClass = port.turnClass();
        if (!offer(packet, trafficClass, turnClass)) {
            parking.park(packet, new Addition(packet, trafficClass, turnClass));
        }
    }

    /** A packet that waits for room; the turn in which it was processed may have ended. */
    private final class Addition implements NextHops.Departure {
        private final Packet packet;
        private final int trafficClass;
        private final int turnClass;

        Addition(Packet packet, int trafficClass, int turnClass) {
            this.packet = packet;
            this.trafficClass = trafficClass;
            this.turnClass = turnClass;
        }

        @Override
        public @Nullable DropReason again() {
            if (isClosed) {
                return DropReason.NEXT_HOP_LOST;
            }
            if (!offer(packet, trafficClass, turnClass)) {
                parking.park(packet, this);
            }
            return null;
        }
    }

    private boolean offer(Packet packet, int trafficClass, int turnClass) {
        int bytes = packet.length();
        if (!memory.reserve(bytes, port.link().streamChunks())) {
            return false;
        }
        LinkItem<PacketStore.Stored> item = queue.newItem();
        item.processedIn(turnClass);
        if (!port.link().offer(queue, item, port.content(), trafficClass, bytes)) {
            queue.recycle(item);
            return false;
        }
        memory.put(item.stored(), packet.buffer(), packet.offset(), bytes);
        waiting++;
        return true;
    }

    /** Returns whether the link has granted something, and what was written before has left. */
    boolean mayWrite() {
        takeGranted();
        return granted != null && leaving == null;
    }

    /** Writes what the link has granted. */
    void write() {
        LinkItem<PacketStore.Stored> first = granted;
        if (first != null) {
            leaving = first;
            leavingPackets = grantedPackets;
            leavingBytes = 0;
            granted = null;
            lastGranted = null;
            grantedPackets = 0;
            writeAll(first);
            connection.flush();
            countOut();
        }
    }

    private void takeGranted() {
        if (!queue.hasReturned()) {
            return;
        }
        LinkItem<PacketStore.Stored> item = port.link().takeReturned(queue);
        if (granted == null) {
            granted = item;
        } else if (lastGranted != null) {
            lastGranted.putBehind(item);
        }
        while (item != null) {
            waiting--;
            grantedPackets++;
            moved++;
            lastGranted = item;
            item = item.behind();
        }
    }

    /** Writes packets, those that lie back to back as one slice. */
    private void writeAll(LinkItem<PacketStore.Stored> first) {
        LinkItem<PacketStore.Stored> item = first;
        while (item != null) {
            PacketStore.Chunk chunk = item.stored().required();
            int start = item.stored().offset;
            int end = start;
            while (item != null && item.stored().chunk == chunk && item.stored().offset == end) {
                end += item.bytes();
                item = item.behind();
            }
            leavingBytes += end - start;
            connection.write(chunk.buffer, chunk.generation, start, end);
        }
    }

    /** Counts out what has left. */
    void countOut() {
        if (leaving != null && connection.failure() == null && connection.isDrained()) {
            traffic.out(leavingPackets, leavingBytes);
            moved += leavingPackets;
            leavingPackets = 0;
            LinkItem<PacketStore.Stored> item = leaving;
            leaving = null;
            while (item != null) {
                LinkItem<PacketStore.Stored> next = item.behind();
                memory.release(item.stored());
                queue.recycle(item);
                item = next;
            }
        }
    }

    /** Returns a number that grows when packets are granted, and when they have left. */
    long moved() {
        return moved;
    }

    /** Returns whether packets are still for want of the link's grant, not of the next hop's taking them. */
    boolean isStarved() {
        return leavingPackets == 0;
    }

    /** Forgets all that has not left. */
    void close() {
        isClosed = true;
        forsake();
        waiting = 0;
        grantedPackets = 0;
        leavingPackets = 0;
        granted = null;
        leaving = null;
        memory.close();
    }

    /** Takes what waits out of the link's queue. Another thread, while the stream's is known to be elsewhere. */
    void forsake() {
        port.link().withdraw(queue);
    }
}
