package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * Packets of a stream to a TCP connection, from where they lie: their memory must not change until they have left.
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

    /** Adds a packet that lies in {@code buffer}. */
    void add(Buffer buffer, int offset, int octets) {
        runs.add(buffer, offset, octets);
        heldPackets++;
        heldOctets += octets;
    }

    @Override
    public void flush() {
        if (heldPackets > 0 && !closed) {
            if (runs.write()) {
                connection.flush();
            }
            settle();
        }
    }

    /** Counts out what has left. */
    void settle() {
        if (heldPackets > 0 && connection.failure() == null && connection.isDrained()) {
            traffic.out(heldPackets, heldOctets);
            heldPackets = 0;
            heldOctets = 0;
        }
    }

    @Override
    public long held() {
        return heldPackets;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void resetFromOutside() {
        connection.resetFromOutside();
    }

    @Override
    public void close(DropReason reason) {
        if (heldPackets > 0) {
            reset(reason);
        } else if (!closed) {
            closed = true;
            connection.close();
        }
    }

    /** The same, and tells the far side that octets are missing. */
    void reset(DropReason reason) {
        if (!closed) {
            closed = true;
            traffic.drop(reason, heldPackets);
            heldPackets = 0;
            connection.reset();
        }
    }
}
