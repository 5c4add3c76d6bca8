package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Set;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;

/** Reads packets from one connection and has each verified by its flow. One thread. */
final class PacketReader {
    private static final int BUFFER_BYTES = 1 << 17;
    private static final int SHOWN_BYTES = 24;

    /** Gets each packet when it was verified. */
    interface Arrival {
        void arrived(Flow flow) throws IOException;
    }

    private final Flows flows;
    private final int end;
    private final String name;
    private final Set<Flow> seen = new LinkedHashSet<>();
    private long bytes;

    /**
     * @param end whose connection this is
     * @param name of the connection, for people
     */
    PacketReader(Flows flows, int end, String name) {
        this.flows = flows;
        this.end = end;
        this.name = name;
    }

    /**
     * Reads to the end of the connection.
     *
     * @throws DifferenceException also when a connection breaks that carries whole flows
     */
    void read(InputStream in, Arrival arrival) throws DifferenceException {
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        Packet packet = new Packet();
        try {
            int count;
            while ((count = in.read(buffer.array(), buffer.position(), buffer.remaining())) >= 0) {
                buffer.position(buffer.position() + count).flip();
                take(buffer, packet, arrival);
                buffer.compact();
            }
        } catch (SocketTimeoutException e) {
            throw new DifferenceException(this + ": nothing came for too long: " + e.getMessage());
        } catch (InterruptedIOException e) {
            return;
        } catch (IOException e) {
            broke(e);
            return;
        } finally {
            seen.forEach(Flow::over);
        }
        if (buffer.position() > 0) {
            throw new DifferenceException(this + ": ends in the middle of a packet, after " + buffer.position()
                    + " bytes of it, which are "
                    + flows.content.origin(buffer.array(), 0, buffer.position()));
        }
    }

    private void take(ByteBuffer buffer, Packet packet, Arrival arrival) throws DifferenceException, IOException {
        int at = 0;
        int length;
        while ((length = Framing.next(buffer, at, buffer.limit())) > 0) {
            ParseFault fault = packet.parse(buffer, at, length);
            if (fault != null) {
                throw strange(buffer, at, "a packet that breaks the rules: " + fault);
            }
            Flow flow = flows.find(packet.streamId());
            if (flow == null) {
                throw strange(buffer, at, "a packet of flow " + packet.streamId() + ", which nobody sent");
            }
            seen.add(flow);
            try {
                flow.arrived(packet, end, this);
            } catch (DifferenceException e) {
                throw new DifferenceException(e.getMessage() + "; " + this);
            }
            bytes += length;
            at += length;
            arrival.arrived(flow);
        }
        if (length == Framing.BROKEN) {
            throw strange(buffer, at, "what is no packet");
        }
        buffer.position(at);
    }

    private DifferenceException strange(ByteBuffer buffer, int at, String got) {
        int shown = Math.min(SHOWN_BYTES, buffer.limit() - at);
        return new DifferenceException(this + ": expected a packet, got " + got + ": "
                + HexFormat.of().formatHex(buffer.array(), at, at + shown) + ", "
                + flows.content.origin(buffer.array(), at, buffer.limit()) + "; the connection carries " + seen);
    }

    private void broke(IOException e) throws DifferenceException {
        for (Flow flow : seen) {
            if (flow.shape.isWhole()) {
                throw new DifferenceException(flow + ": its connection broke, " + e.getMessage() + "; " + this);
            }
        }
    }

    @Override
    public String toString() {
        return name + ", byte " + bytes + " of the connection";
    }
}
