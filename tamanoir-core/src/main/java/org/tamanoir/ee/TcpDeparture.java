package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * Packets of a stream to a TCP connection, from where they lie: their memory must not change until they have left.
 * Those that have to wait for a link are copied into a {@link TcpBacklog}.
 *
 * <p>Thread contract: the service's thread.
 */
final class TcpDeparture implements Departure {
    private final TcpConnection connection;
    private final BatchMemory memory;
    private final Traffic traffic;
    private final Runs runs;
    private long heldPackets;
    private long heldOctets;
    private boolean closed;
    /** Null while the connection goes over no link that is scheduled. */
    private @Nullable TcpBacklog backlog;

    TcpDeparture(TcpConnection connection, BatchMemory memory, Traffic traffic) {
        this.connection = connection;
        this.memory = memory;
        this.traffic = traffic;
        this.runs = new Runs(memory, connection::write);
    }

    TcpConnection connection() {
        return connection;
    }

    @Override
    public @Nullable DropReason add(Packet packet) {
        add(memory.holderOf(packet), packet.offset(), packet.length());
        return null;
    }

    /** Adds a packet that leaves over the link of this departure, at once or when its turn comes. */
    @Nullable
    DropReason add(Packet packet, int trafficClass) {
        TcpBacklog queue = backlog;
        if (queue == null || (queue.isEmpty() && queue.port().passes(trafficClass, packet.length()))) {
            return add(packet);
        }
        return queue.add(packet, trafficClass);
    }

    /**
     * Packets leave over this link from now on; what waits for another one leaves before.
     *
     * @param port null = over none
     * @return false when what waits cannot leave
     */
    boolean over(@Nullable LinkPort port, StreamInstance stream) {
        TcpBacklog before = backlog;
        if (before != null && before.port() == port) {
            return true;
        }
        if (before != null) {
            if (!awaitIdle()) {
                return false;
            }
            before.close();
            backlog = null;
        }
        if (port != null) {
            backlog = new TcpBacklog(connection, port, stream);
        }
        return true;
    }

    @Override
    public boolean awaitIdle() {
        TcpBacklog queue = backlog;
        return queue == null ? isIdle() : queue.awaitLeft() && isIdle();
    }

    /** The packets that wait for the link, or have waited; null while there is no link. */
    @Nullable
    TcpBacklog backlog() {
        return backlog;
    }

    /** Adds a packet that lies in {@code buffer}. */
    void add(Buffer buffer, int offset, int octets) {
        runs.add(buffer, offset, octets);
        heldPackets++;
        heldOctets += octets;
    }

    @Override
    public void flush() {
        if (closed) {
            return;
        }
        if (heldPackets > 0 && runs.write()) {
            connection.flush();
        }
        settle();
    }

    /** Counts out what has left, and writes what its link has granted since. */
    void settle() {
        if (heldPackets > 0 && connection.failure() == null && connection.isDrained()) {
            traffic.out(heldPackets, heldOctets);
            heldPackets = 0;
            heldOctets = 0;
        }
        TcpBacklog queue = backlog;
        if (queue != null && queue.held() > 0 && connection.failure() == null && !closed) {
            queue.settle();
            if (queue.mayWrite()) {
                runs.write(); // Those are older.
                queue.write();
            }
        }
    }

    @Override
    public long held() {
        TcpBacklog queue = backlog;
        return queue == null ? heldPackets : heldPackets + queue.held();
    }

    /** Whether packets have not left that lie in the memory of the batch. */
    boolean holdsMemory() {
        return heldPackets > 0;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void resetFromOutside() {
        TcpBacklog queue = backlog;
        if (queue != null) {
            queue.forsake();
        }
        connection.resetFromOutside();
    }

    @Override
    public void close(DropReason reason) {
        if (held() > 0) {
            reset(reason);
        } else if (!closed) {
            closed = true;
            closeBacklog();
            connection.close();
        }
    }

    private void closeBacklog() {
        if (backlog != null) {
            backlog.close();
        }
    }

    /** The same, and tells the far side that octets are missing. */
    void reset(DropReason reason) {
        if (!closed) {
            closed = true;
            traffic.drop(reason, held());
            heldPackets = 0;
            closeBacklog();
            connection.reset();
        }
    }
}
