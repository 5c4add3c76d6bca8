package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;

/**
 * Takes in one TCP connection: large reads, packets walked where they lie. The buffer starts small and grows when a
 * read fills it, so that many idle connections cost little.
 *
 * <p>Thread contract: {@link #run} on one thread; {@link #close} from any.
 */
final class TcpReception implements Runnable, Peer {
    private static final int FIRST_BUFFER_BYTES = 16 * 1024;
    private static final int MAX_BUFFER_BYTES = 256 * 1024;
    /** A read waits this long, then again: the connection may be idle for as long as it likes. */
    private static final long READ_WAIT_NS = Duration.ofSeconds(60).toNanos();

    private final BlockingConnection connection;
    private final PacketHandler handler;
    private final ReceiverStatistics statistics;
    private final Packet packet;
    private ByteBuffer buffer = ByteBuffer.allocateDirect(FIRST_BUFFER_BYTES);
    /** Bytes in the buffer, all of them before the walk, those of a packet's beginning after it. */
    private int filled;

    private @Nullable ByteBuffer replies;
    private volatile boolean closing;

    TcpReception(BlockingConnection connection, PacketHandler handler, ReceiverStatistics statistics, Packet packet) {
        this.connection = connection;
        this.handler = handler;
        this.statistics = statistics;
        this.packet = packet;
    }

    @Override
    public void run() {
        String fault = null;
        try {
            fault = receive();
        } catch (IOException | RuntimeException e) {
            if (!closing) {
                fault = Causes.text(e);
            }
        } finally {
            connection.close();
            handler.closed(fault);
        }
    }

    /** Receives until the connection ends; returns what was wrong with it. */
    private @Nullable String receive() throws IOException {
        connection.shakeHands(connection.stallTimeout());
        while (!closing) {
            int bytes = connection.read(buffer.position(filled), READ_WAIT_NS);
            if (bytes < 0) {
                if (filled > 0) {
                    statistics.countMalformed(ParseFault.TRUNCATED);
                    return "the connection ended in the middle of a packet";
                }
                if (connection.hasTls()) {
                    connection.shutdownOutput(() -> false);
                }
                return null;
            }
            filled += bytes;
            ParseFault fault = bytes == 0 ? null : walk();
            if (fault != null) {
                return "malformed packet (" + fault + "): connection closed";
            }
        }
        return null;
    }

    private @Nullable ParseFault walk() throws IOException {
        int at = 0;
        int end = filled;
        int packets = 0;
        long bytes = 0;
        ParseFault fault;
        try {
            while (true) {
                fault = packet.parse(buffer, at, end - at);
                if (fault == null) {
                    int length = packet.length();
                    packets++;
                    bytes += length;
                    at += length;
                    handle();
                } else if (fault == ParseFault.SHORT || fault == ParseFault.TRUNCATED) {
                    fault = null;
                    break;
                } else {
                    statistics.countMalformed(fault);
                    if (fault == ParseFault.VERSION || fault == ParseFault.HEADER_LENGTH) {
                        break;
                    }
                    at += packet.length();
                }
            }
        } finally {
            statistics.countBatch(packets, bytes);
        }
        handler.batchEnd();
        flushReplies();
        keep(at, end);
        return fault;
    }

    private void handle() throws IOException {
        try {
            handler.packet(packet, this);
        } catch (IOException | RuntimeException e) {
            statistics.countHandlerFailure();
            throw e;
        }
    }

    /** Moves the beginning of the last packet to the front; room for the largest packet follows when it is needed. */
    private void keep(int at, int end) {
        int rest = end - at;
        boolean full = end == buffer.capacity();
        if (full && buffer.capacity() < MAX_BUFFER_BYTES) {
            ByteBuffer larger = ByteBuffer.allocateDirect(
                    Math.max(buffer.capacity() * 4, Integer.highestOneBit(Anep.MAX_PACKET_OCTETS) * 2));
            larger.put(0, buffer, at, rest);
            buffer = larger;
        } else if (at > 0) {
            buffer.put(0, buffer, at, rest);
        }
        filled = rest;
    }

    /** Has {@link #run} end. Any thread. */
    void close() {
        closing = true;
        connection.close();
    }

    // ---- Peer ---------------------------------------------------------------------------------------------

    @Override
    public void reply(Packet answer) throws IOException {
        answer.seal();
        ByteBuffer target = replies;
        if (target == null) {
            target = ByteBuffer.allocateDirect(MAX_BUFFER_BYTES);
            replies = target;
        }
        if (target.remaining() < answer.length()) {
            flushReplies();
        }
        target.put(target.position(), answer.buffer(), answer.offset(), answer.length());
        target.position(target.position() + answer.length());
    }

    private void flushReplies() throws IOException {
        ByteBuffer target = replies;
        if (target != null && target.position() > 0) {
            target.flip();
            try {
                connection.write(target, () -> false);
            } finally {
                target.clear();
            }
        }
    }

    @Override
    public boolean isUdp() {
        return false;
    }

    @Override
    public long addressHigh() {
        return Addresses.high(connection.peer().getAddress());
    }

    @Override
    public long addressLow() {
        return Addresses.low(connection.peer().getAddress());
    }

    @Override
    public int port() {
        return connection.peer().getPort();
    }

    @Override
    public InetSocketAddress address() {
        return connection.peer();
    }
}
