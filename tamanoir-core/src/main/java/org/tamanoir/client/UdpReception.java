package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Takes in all datagrams of one socket, in batches.
 *
 * <p>Thread contract: {@link #run} on one thread, which closes the socket at its end; {@link #close} from any.
 */
final class UdpReception implements Runnable, Peer {
    /** How long {@link #close} may go unnoticed. */
    private static final Duration WAIT = Duration.ofMillis(100);

    private static final int REPLY_BYTES = 256 * 1024;

    private final UdpSocket socket;
    private final UdpBatch batch;
    private final UdpSender sender;
    private final PacketHandler handler;
    private final ReceiverStatistics statistics;
    private final Packet packet;
    private int message;
    private @Nullable ByteBuffer replies;
    private volatile boolean closing;

    UdpReception(UdpSocket socket, PacketHandler handler, ReceiverStatistics statistics, Packet packet) {
        this.socket = socket;
        this.batch = socket.newBatch();
        this.sender = socket.newSender();
        this.handler = handler;
        this.statistics = statistics;
        this.packet = packet;
    }

    @Override
    public void run() {
        String fault = null;
        try {
            while (!closing) {
                int messages = socket.receive(batch);
                if (messages > 0) {
                    walk(messages);
                } else {
                    socket.awaitReadable(WAIT);
                }
            }
        } catch (IOException e) {
            fault = Causes.text(e);
        } finally {
            socket.close();
            handler.closed(fault);
        }
    }

    private void walk(int messages) {
        int packets = 0;
        long bytes = 0;
        for (message = 0; message < messages; message++) {
            int end = batch.end(message);
            int segment = Math.max(1, batch.segmentBytes(message));
            int at = batch.start(message);
            ByteBuffer buffer = batch.buffer(message);
            do {
                ParseFault fault = packet.parse(buffer, at, Math.min(segment, end - at));
                if (fault == null) {
                    packets++;
                    bytes += packet.length();
                    handle();
                } else {
                    statistics.countMalformed(fault);
                }
                at += segment;
            } while (at < end);
        }
        statistics.countBatch(packets, bytes);
        try {
            handler.batchEnd();
        } catch (IOException | RuntimeException e) {
            statistics.countHandlerFailure();
        }
        flushReplies();
    }

    /** Handles a packet; what goes wrong with it does not end the reception for other peers. */
    private void handle() {
        try {
            handler.packet(packet, this);
        } catch (IOException | RuntimeException e) {
            statistics.countHandlerFailure();
        }
    }

    void close() {
        closing = true;
    }

    // ---- Peer ---------------------------------------------------------------------------------------------

    @Override
    public void reply(Packet answer) {
        answer.seal();
        ByteBuffer target = replies;
        if (target == null) {
            target = ByteBuffer.allocateDirect(REPLY_BYTES);
            replies = target;
        }
        if (target.remaining() < answer.length()) {
            flushReplies();
        }
        int start = target.position();
        target.put(start, answer.buffer(), answer.offset(), answer.length());
        target.position(start + answer.length());
        sender.from(batch.ownHigh(message), batch.ownLow(message), batch.ownDevice(message));
        sender.add(target, start, answer.length(), addressHigh(), addressLow(), port());
    }

    private void flushReplies() {
        ByteBuffer target = replies;
        if (target != null && target.position() > 0) {
            sender.flush();
            target.clear();
        }
    }

    @Override
    public boolean isUdp() {
        return true;
    }

    @Override
    public long addressHigh() {
        return batch.addressHigh(message);
    }

    @Override
    public long addressLow() {
        return batch.addressLow(message);
    }

    @Override
    public int port() {
        return batch.port(message);
    }

    @Override
    public InetSocketAddress address() {
        return new InetSocketAddress(Addresses.of(addressHigh(), addressLow()), port());
    }
}
