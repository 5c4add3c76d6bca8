package org.tamanoir.ee;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
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
    private final StreamInstance stream;
    private final OrderedLinkQueue queue;
    private final QueueMemory memory;
    /** Handed to the link and not taken back. */
    private long waiting;
    /** Granted, linked, not written yet. */
    private @Nullable LinkItem granted;

    private @Nullable LinkItem lastGranted;
    private long grantedPackets;
    /** Written, linked, not known to have left. */
    private @Nullable LinkItem leaving;

    private long leavingPackets;
    private long leavingOctets;
    /** When something was granted or has left last, by {@link System#nanoTime}. */
    private long movedNs;

    private long pendingOctets;

    TcpBacklog(TcpConnection connection, LinkPort port, StreamInstance stream) {
        this.connection = connection;
        this.port = port;
        this.stream = stream;
        this.queue = new OrderedLinkQueue(stream.loop::wakeup);
        this.memory = new QueueMemory(stream.environment().pool());
    }

    LinkPort port() {
        return port;
    }

    /** Whether a packet may be written at once without overtaking another. */
    boolean isEmpty() {
        return waiting == 0 && grantedPackets == 0;
    }

    /** Packets that have not left. */
    long held() {
        return waiting + grantedPackets + leavingPackets;
    }

    /**
     * Has a packet wait for the link; waits for room itself.
     *
     * @return null, or why the stream cannot go on
     */
    @Nullable
    DropReason add(Packet packet, int trafficClass) {
        int octets = packet.length();
        port.settle();
        if (!offer(packet, trafficClass, octets)) {
            BooleanSupplier offered = () -> offer(packet, trafficClass, octets);
            return stream.awaitLink(offered, 1);
        }
        return null;
    }

    /** Waits until nothing waits and nothing is leaving; false when the stream cannot go on. */
    boolean awaitLeft() {
        return held() == 0 || stream.awaitLink(() -> held() == 0, 1) == null;
    }

    private boolean offer(Packet packet, int trafficClass, int octets) {
        if (!memory.reserve(octets, port.link().streamChunks())) {
            return false;
        }
        LinkItem item = queue.newItem();
        boolean wasIdle = held() == 0;
        if (!port.link().offer(queue, item, port.config(), trafficClass, octets)) {
            queue.recycle(item);
            return false;
        }
        memory.put(item, packet.buffer(), packet.offset(), octets);
        waiting++;
        if (wasIdle) {
            movedNs = System.nanoTime();
        }
        return true;
    }

    /** Whether the link has granted something, and what was written before has left. */
    boolean mayWrite() {
        takeGranted();
        return granted != null && leaving == null;
    }

    /** Writes what the link has granted. */
    void write() {
        LinkItem first = granted;
        if (first != null) {
            leaving = first;
            leavingPackets = grantedPackets;
            leavingOctets = 0;
            granted = null;
            lastGranted = null;
            grantedPackets = 0;
            writeAll(first);
            connection.flush();
            settle();
        }
    }

    private void takeGranted() {
        if (!queue.hasReturned()) {
            return;
        }
        LinkItem item = port.link().takeReturned(queue);
        if (granted == null) {
            granted = item;
        } else if (lastGranted != null) {
            lastGranted.behind = item;
        }
        while (item != null) {
            waiting--;
            grantedPackets++;
            lastGranted = item;
            item = item.behind;
        }
        movedNs = System.nanoTime();
    }

    /** Packets that lie back to back leave as one slice. */
    private void writeAll(LinkItem first) {
        LinkItem item = first;
        while (item != null) {
            QueueMemory.Chunk chunk = chunkOf(item);
            int start = item.offset;
            int end = start;
            while (item != null && item.chunk == chunk && item.offset == end) {
                end += item.octets;
                item = item.behind;
            }
            leavingOctets += end - start;
            connection.write(chunk.buffer, start, end);
        }
    }

    private static QueueMemory.Chunk chunkOf(LinkItem item) {
        QueueMemory.Chunk chunk = item.chunk;
        if (chunk == null) {
            throw new IllegalStateException("a packet that waited has memory");
        }
        return chunk;
    }

    /** Counts out what has left. */
    void settle() {
        if (leaving != null && connection.failure() == null && connection.isDrained()) {
            stream.traffic.out(leavingPackets, leavingOctets);
            leavingPackets = 0;
            movedNs = System.nanoTime();
            LinkItem item = leaving;
            leaving = null;
            while (item != null) {
                LinkItem next = item.behind;
                memory.release(item);
                queue.recycle(item);
                item = next;
            }
        }
    }

    /**
     * How long nothing was granted, nor taken by the next hop, while packets wait for the one or the other.
     *
     * @return nanoseconds; 0 while nothing waits
     */
    long stillForNs(long nowNs) {
        if (held() == 0) {
            return 0;
        }
        long pending = connection.pendingOctets();
        if (pending != pendingOctets) {
            pendingOctets = pending;
            movedNs = nowNs;
        }
        return nowNs - movedNs;
    }

    /** Whether packets are still for want of the link's grant, not of the next hop's taking them. */
    boolean isStarved() {
        return leavingPackets == 0;
    }

    /** Forgets all that has not left. */
    void close() {
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
