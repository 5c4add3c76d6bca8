package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.cluster.element.Jitter;
import org.tamanoir.cluster.element.Reordering;

/**
 * A stream of numbered datagrams at a steady rate, and what arrives of it, in the order of arrival. A sender that woke
 * late sends what is due at once.
 *
 * <p>Thread contract: one thread, which reads; another one sends.
 */
final class NumberedStream implements AutoCloseable {
    /** Those of the element's 1,500-byte packets, without any header. */
    static final int PAYLOAD_BYTES = 1_432;

    private static final int BUFFER_BYTES = 8 << 20;
    private static final int SILENCE_MS = 1_000;
    private static final int FIRST_MS = 30_000;

    private final DatagramSocket sink = new DatagramSocket(Load.loopback(0));
    private final DatagramPacket packet = new DatagramPacket(new byte[2_048], 2_048);
    private final ByteBuffer payload = ByteBuffer.wrap(packet.getData());

    /**
     * What arrived.
     *
     * @param sent datagrams
     * @param arrived of them, and those that came twice
     * @param jitterUs interarrival jitter, on average over all arrivals
     * @param seconds that it took
     */
    record Result(int sent, int arrived, Reordering order, double jitterUs, double seconds) {
        double lossPercent() {
            return 100.0 * (sent - arrived) / sent;
        }
    }

    NumberedStream() throws IOException {
        sink.setReceiveBufferSize(BUFFER_BYTES);
    }

    int sinkPort() {
        return sink.getLocalPort();
    }

    /** Sends to a port until datagrams come through, so that all on the way is ready and warm. */
    void warmUp(int port, int rate, double seconds) throws IOException {
        InetSocketAddress to = Load.loopback(port);
        long endNs = System.nanoTime() + FIRST_MS * 1_000_000L;
        while (System.nanoTime() - endNs < 0) {
            if (run(to, rate, rate / 10, -rate, 200).arrived > 0) {
                run(to, rate, (int) (rate * seconds), -(int) (rate * seconds), SILENCE_MS);
                return;
            }
        }
        throw new IOException("nothing came through the element in " + FIRST_MS / 1_000 + " s");
    }

    /** Sends numbers 0 and up. */
    Result run(int port, int rate, int count) throws IOException {
        return run(Load.loopback(port), rate, count, 0, SILENCE_MS);
    }

    private Result run(InetSocketAddress to, int rate, int count, long first, int silenceMs) throws IOException {
        long[] numbers = new long[count + count / 10];
        int arrived = 0;
        Jitter jitter = new Jitter();
        double jitters = 0;
        long beganNs = System.nanoTime();
        Thread sending = Threads.start("source", () -> send(to, rate, count, first));
        sink.setSoTimeout(silenceMs);
        boolean open = true;
        while (open && arrived < numbers.length && !(arrived >= count && !sending.isAlive())) {
            try {
                sink.receive(packet);
                long number = payload.getLong(0);
                if (number >= first && number < first + count) {
                    numbers[arrived++] = number;
                    jitter.arrived(System.nanoTime() - payload.getLong(Long.BYTES));
                    jitters += jitter.value();
                }
            } catch (SocketTimeoutException e) {
                open = sending.isAlive();
            }
        }
        double seconds = (System.nanoTime() - beganNs) / 1e9;
        Threads.join(sending, FIRST_MS / 1e3);
        return new Result(
                count,
                arrived,
                Reordering.of(Arrays.copyOf(numbers, arrived)),
                arrived == 0 ? 0 : jitters / arrived / 1e3,
                seconds);
    }

    private static void send(InetSocketAddress to, int rate, int count, long first) throws IOException {
        ByteBuffer datagram = ByteBuffer.allocateDirect(PAYLOAD_BYTES);
        long intervalNs = 1_000_000_000L / rate;
        try (DatagramChannel channel = DatagramChannel.open()) {
            long dueNs = System.nanoTime();
            for (int i = 0; i < count; i++, dueNs += intervalNs) {
                Threads.until(dueNs);
                datagram.clear().putLong(0, first + i).putLong(Long.BYTES, System.nanoTime());
                channel.send(datagram, to);
            }
        }
    }

    @Override
    public void close() {
        sink.close();
    }
}
