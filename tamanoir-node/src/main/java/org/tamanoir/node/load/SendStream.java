package org.tamanoir.node.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ReadableByteChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.LoadBatch;
import org.tamanoir.node.cli.CommandException;

/**
 * One stream that is being sent: generated load, or an input cut into packets.
 *
 * <p>Thread contract: {@link #run} on one thread; {@link #stop}, and what it has sent, from any.
 */
public final class SendStream implements Runnable {
    /** How long a TCP peer may take to end its side after the last answer. */
    private static final Duration LINGER = Duration.ofSeconds(10);

    private static final int READ_BYTES = 256 * 1024;

    /** What a stream sends. */
    interface Source {
        /** Sends until its end, or until the stream is stopped. */
        void send(SendStream stream) throws IOException;
    }

    private final AnepSender sender;
    private final Source source;
    private final Pacer pacer;
    private final boolean waitsForEnd;
    private volatile boolean stopped;
    private volatile @Nullable String failure;
    private volatile boolean leftOpen;
    private volatile long replies;
    private volatile long endNs;

    /** How it goes. */
    public enum Way {
        TCP("TCP"),
        QUIC("QUIC"),
        UDP("UDP"),
        SAPF_OVER_TCP("TCP by SAPF"),
        SAPF_OVER_UDP("UDP by SAPF");

        /** What reports call it. */
        final String text;

        Way(String text) {
            this.text = text;
        }
    }

    /** Connects over TCP or QUIC, whose far side ends the connection in its turn, or binds a socket for UDP. */
    public SendStream(AnepSender.Settings settings, Way way, Source source, Pacer pacer) throws IOException {
        this.source = source;
        this.pacer = pacer;
        this.waitsForEnd = way != Way.UDP && way != Way.SAPF_OVER_UDP;
        this.sender = switch (way) {
            case TCP -> settings.onReply(answer -> countReply()).tcp();
            case QUIC -> settings.onReply(answer -> countReply()).quic();
            case UDP -> settings.udp();
            case SAPF_OVER_TCP -> settings.onReply(answer -> countReply()).sapfOverTcp();
            case SAPF_OVER_UDP -> settings.sapf();
        };
    }

    /** Generated load: {@code maxPackets} of it, for at most {@code maxNs}. */
    static Source load(LoadBatch batch, long maxPackets, long maxNs) {
        return stream -> {
            long endNs = System.nanoTime() + maxNs;
            long left = maxPackets;
            while (left > 0 && !stream.stopped && System.nanoTime() - endNs < 0) {
                int packets = stream.permits((int) Math.min(left, batch.packets()));
                if (packets > 0) {
                    left -= stream.sender.send(batch, packets);
                }
            }
        };
    }

    /** An input, cut into payloads of {@code payloadBytes}; the last one is what remains. */
    public static Source input(ReadableByteChannel input, PacketBuilder builder, int payloadBytes) {
        return stream -> {
            ByteBuffer chunk = ByteBuffer.allocateDirect(Math.max(READ_BYTES / payloadBytes, 1) * payloadBytes);
            while (!stream.stopped && stream.read(input, chunk)) {
                int bytes = chunk.position();
                int whole = bytes - bytes % payloadBytes;
                stream.sendCut(chunk.limit(whole).position(0), builder, payloadBytes);
                chunk.limit(bytes).position(whole).compact();
            }
            stream.sendCut(chunk.flip(), builder, payloadBytes);
        };
    }

    /** False at the end of input, and when it was closed to stop this stream. */
    private boolean read(ReadableByteChannel input, ByteBuffer chunk) throws IOException {
        try {
            return input.read(chunk) >= 0;
        } catch (ClosedChannelException e) {
            if (!stopped) {
                throw e;
            }
            return false;
        }
    }

    private void sendCut(ByteBuffer chunk, PacketBuilder builder, int payloadBytes) throws IOException {
        int end = chunk.limit();
        while (chunk.position() < end && !stopped) {
            int left = (end - chunk.position() + payloadBytes - 1) / payloadBytes;
            int packets = permits(left);
            for (int i = 0; i < packets; i++) {
                int next = Math.min(end, chunk.position() + payloadBytes);
                sender.send(builder, chunk.limit(next));
                chunk.limit(end).position(next);
            }
            // What may leave leaves: the next packets may wait for their turn, or for the input.
            sender.flush();
        }
    }

    /** Packets that may leave now; sleeps when none may. */
    private int permits(int wanted) {
        int packets = pacer.take(wanted, System.nanoTime());
        if (packets == 0) {
            LockSupport.parkNanos(pacer.sleepNs());
        }
        return packets;
    }

    /** Sends a packet in its turn, on the stream's thread; none when the stream is stopped. */
    void send(PacketBuilder builder, ByteBuffer payload) throws IOException {
        awaitPermit();
        if (!stopped) {
            sender.send(builder, payload);
            if (pacer.isLimited()) {
                sender.flush();
            }
        }
    }

    /** Sleeps until one packet may leave, or the stream is stopped. */
    void awaitPermit() {
        while (!stopped && permits(1) == 0) {}
    }

    @Override
    public void run() {
        try {
            source.send(this);
            sender.finish();
            endNs = System.nanoTime();
            if (waitsForEnd) {
                awaitEnd();
            }
        } catch (IOException | RuntimeException e) {
            failure = CommandException.line(e);
            endNs = System.nanoTime();
        } finally {
            sender.close();
        }
    }

    /** The far side ends its output when it has read to the end; a reset instead shows that it has not. */
    private void awaitEnd() throws IOException {
        Packet answer = new Packet();
        while (!stopped && sender.poll(answer, LINGER)) {
            countReply();
        }
        leftOpen = !sender.ended();
        if (!leftOpen) {
            endNs = System.nanoTime();
        }
    }

    void stop() {
        stopped = true;
    }

    boolean isStopped() {
        return stopped;
    }

    /** On the stream's thread alone. */
    void countReply() {
        replies = replies + 1;
    }

    public AnepSender sender() {
        return sender;
    }

    long replies() {
        return replies;
    }

    /** When all was sent and, where the far side has told so, read; in the time of {@link System#nanoTime}. */
    long endNs() {
        return endNs;
    }

    /** Why it broke; null while it has not. */
    @Nullable
    public String failure() {
        return failure;
    }

    /** Whether the far side had not ended the connection when waiting for that was over. */
    boolean isLeftOpen() {
        return leftOpen;
    }
}
