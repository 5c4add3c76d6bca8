package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.routing.Addresses;

/** Thread contract: one thread; close from any. */
final class TcpLink implements PacketLink {
    private static final int REPLY_BYTES = 2 * 65_536;

    private final BlockingConnection connection;
    private final @Nullable Consumer<Packet> replyHandler;
    private final Packet view;
    private ByteBuffer writeView = ByteBuffer.allocate(0);
    private ByteBuffer writeViewOf = writeView;
    private @Nullable ByteBuffer replies;
    private int start;
    private int end;
    private boolean ended;

    TcpLink(BlockingConnection connection, int typeId, @Nullable Consumer<Packet> replyHandler) {
        this.connection = connection;
        this.replyHandler = replyHandler;
        this.view = new Packet(typeId, PacketSpace.HEAP);
    }

    @Override
    public int maxPacketBytes() {
        return Anep.MAX_PACKET_OCTETS;
    }

    @Override
    public InetSocketAddress local() throws IOException {
        return connection.local();
    }

    @Override
    public void write(ByteBuffer packets, int from, int to) throws IOException {
        if (writeViewOf != packets) {
            writeView = packets.duplicate();
            writeViewOf = packets;
        }
        connection.write(writeView.limit(to).position(from), this::serveReplies);
    }

    /** Hands answers on while a write waits; without a handler they wait to be polled. */
    private boolean serveReplies() throws IOException {
        Consumer<Packet> handler = replyHandler;
        if (handler == null || ended) {
            return false;
        }
        while (poll(view, 0)) {
            handler.accept(view);
        }
        return !ended;
    }

    @Override
    public boolean poll(Packet packet, long timeoutNs) throws IOException {
        ByteBuffer buffer = replies;
        if (buffer == null) {
            buffer = ByteBuffer.allocateDirect(REPLY_BYTES);
            replies = buffer;
        }
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (true) {
            ParseFault fault = packet.parse(buffer, start, end - start);
            if (fault == null) {
                start += packet.length();
                return true;
            }
            switch (fault) {
                case SHORT, TRUNCATED -> {
                    if (ended || !fill(buffer, Math.max(0, deadlineNs - System.nanoTime()))) {
                        return false;
                    }
                }
                case VERSION, HEADER_LENGTH -> {
                    close();
                    throw new IOException("answer from " + Addresses.text(connection.peer()) + " is malformed (" + fault
                            + "): connection closed");
                }
                default -> {
                    start += packet.length();
                }
            }
        }
    }

    /** Reads more; returns false when nothing came in time or the end did. */
    private boolean fill(ByteBuffer buffer, long timeoutNs) throws IOException {
        buffer.limit(end).position(start);
        buffer.compact();
        end -= start;
        start = 0;
        int bytes = connection.read(buffer, timeoutNs);
        ended = bytes < 0;
        if (bytes > 0) {
            end += bytes;
        }
        buffer.clear();
        return bytes > 0;
    }

    @Override
    public boolean ended() {
        return ended;
    }

    @Override
    public long refusedPackets() {
        return 0;
    }

    @Override
    public String lastError() {
        return "";
    }

    @Override
    public void shutdownOutput() throws IOException {
        connection.shutdownOutput(this::serveReplies);
    }

    @Override
    public void close() {
        connection.close();
    }
}
