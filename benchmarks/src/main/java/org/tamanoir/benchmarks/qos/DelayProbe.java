package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop;

/**
 * A chain of nodes in this process, through which packets are sent one by one over TCP, each with its time of writing.
 *
 * <p>Thread contract: one thread.
 */
final class DelayProbe implements AutoCloseable {
    private static final double ARRIVAL_TIMEOUT_S = 30;
    private static final long MAX_DELAY_NS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Delays of one stream's packets.
     *
     * @param firstNs of its first packet, for which the node makes the service's instance and its connections
     * @param ns of those that count
     */
    record Delays(long firstNs, Histogram ns) {}

    private final Opened opened = new Opened();
    private final InetSocketAddress entrance;
    private final Work work;
    private volatile Recorder recorder = new Recorder(0, 0);

    /** @param nodes in the chain */
    DelayProbe(int nodes, QosConfig qos) throws IOException {
        work = Work.monitor();
        try {
            PacketHandler handler = (packet, peer) -> recorder.arrived(packet);
            AnepReceiver sink =
                    opened.add(AnepReceiver.on(Load.loopback(0)).tcp().start(() -> handler));
            InetSocketAddress next = sink.address();
            for (int i = 0; i < nodes; i++) {
                NextHop.Kind kind = i == 0 ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE;
                Node node = opened.add(new Node(List.of(work), qos, next, kind));
                next = node.address(false);
            }
            entrance = next;
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** What the sink's thread writes and the prober reads when all have arrived. */
    private static final class Recorder {
        private final int skipped;
        private final int packets;
        private final Histogram delays = new Histogram(MAX_DELAY_NS, 3);
        private long firstNs;
        private volatile int arrived;

        Recorder(int skipped, int packets) {
            this.skipped = skipped;
            this.packets = packets;
        }

        void arrived(Packet packet) {
            long ns = System.nanoTime() - packet.payload().getLong();
            int before = arrived;
            if (before == 0) {
                firstNs = ns;
            }
            if (before >= skipped) {
                delays.recordValue(Math.min(MAX_DELAY_NS, Math.max(0, ns)));
            }
            arrived = before + 1;
        }
    }

    /**
     * Opens a stream and sends through it.
     *
     * @param packetBytes 48 and more
     * @param skipped packets at first whose delay does not count
     * @param packets that count
     * @throws IOException if not all arrive
     */
    Delays measure(int packetBytes, int skipped, int packets, long intervalNs) throws IOException {
        Recorder expected = new Recorder(skipped, skipped + packets);
        recorder = expected;
        // No class of service, stream or time option: in 50 bytes the payload has no more room than for a time.
        PacketBuilder header = new PacketBuilder()
                .destination(Load.loopback(0).getAddress())
                .service(work.service())
                .hopBudget(16);
        ByteBuffer payload = Load.payload(header, packetBytes);
        try (AnepSender sender = AnepSender.tcp(entrance)) {
            long dueNs = System.nanoTime();
            for (int i = 0; i < expected.packets; i++) {
                payload.putLong(0, System.nanoTime());
                sender.send(header, payload);
                sender.flush();
                if (i == 0) {
                    await(expected, 1);
                    dueNs = System.nanoTime();
                }
                dueNs += intervalNs;
                Threads.until(dueNs);
            }
            await(expected, expected.packets);
        }
        return new Delays(expected.firstNs, expected.delays);
    }

    private static void await(Recorder recorder, int packets) throws IOException {
        if (!Threads.await(ARRIVAL_TIMEOUT_S, 0.1, () -> recorder.arrived >= packets)) {
            throw new IOException(
                    "%d of %d packets arrived in %.0f s".formatted(recorder.arrived, packets, ARRIVAL_TIMEOUT_S));
        }
    }

    @Override
    public void close() throws IOException {
        opened.close();
    }
}
