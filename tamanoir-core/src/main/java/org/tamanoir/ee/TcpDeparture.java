package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * Packets of a stream to a TCP connection, from where they lie: packets that stand back to back leave as one slice.
 * Short runs between gaps are copied together, since a slice of its own costs more than that.
 */
final class TcpDeparture implements Departure {
    /** A run shorter than this is copied, in octets. */
    private static final int COPY_BELOW_OCTETS = 2048;

    private final TcpConnection connection;
    private final BatchMemory memory;
    private final Traffic traffic;

    /** The run that grows. */
    private @Nullable Buffer run;

    private int runStart;
    private int runEnd;
    /** The run before it, which a copy may still be appended to. */
    private @Nullable Buffer previous;

    private int previousStart;
    private int previousEnd;
    private long heldPackets;
    private long heldOctets;
    private boolean closed;

    TcpDeparture(TcpConnection connection, BatchMemory memory, Traffic traffic) {
        this.connection = connection;
        this.memory = memory;
        this.traffic = traffic;
    }

    TcpConnection connection() {
        return connection;
    }

    @Override
    public @Nullable DropReason add(Packet packet) {
        add(memory.holderOf(packet), packet.offset(), packet.length(), 1);
        return null;
    }

    /** Adds {@code packets} packets that stand back to back. */
    void add(Buffer buffer, int offset, int octets, long packets) {
        if (buffer == run && offset == runEnd) {
            runEnd += octets;
        } else {
            endRun();
            run = buffer;
            runStart = offset;
            runEnd = offset + octets;
        }
        heldPackets += packets;
        heldOctets += octets;
    }

    private void endRun() {
        Buffer buffer = run;
        if (buffer == null) {
            return;
        }
        int start = runStart;
        int octets = runEnd - runStart;
        if (octets < COPY_BELOW_OCTETS && !memory.isScratch(buffer)) {
            int copy = memory.tryCopy(buffer, start, octets);
            if (copy >= 0) {
                buffer = memory.scratch();
                start = copy;
            }
        }
        if (buffer == previous && start == previousEnd) {
            previousEnd += octets;
        } else {
            writePrevious();
            previous = buffer;
            previousStart = start;
            previousEnd = start + octets;
        }
        run = null;
    }

    private void writePrevious() {
        Buffer buffer = previous;
        if (buffer != null) {
            connection.write(buffer, previousStart, previousEnd);
            previous = null;
        }
    }

    @Override
    public void flush() {
        if (heldPackets == 0) {
            return;
        }
        Buffer buffer = run;
        if (buffer != null && previous == null) {
            connection.write(buffer, runStart, runEnd);
            run = null;
            connection.flush();
        } else if (buffer != null || previous != null) {
            endRun();
            writePrevious();
            connection.flush();
        }
        settle();
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
