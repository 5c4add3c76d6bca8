package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop;

/**
 * A chain of nodes in this process, through which packets are sent one by one over TCP, each with its time of writing.
 *
 * <p>Thread contract: one thread.
 */
final class DelayProbe implements AutoCloseable {
    private static final long ARRIVAL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long MAX_DELAY_NS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Delays of one stream's packets.
     *
     * @param firstNs of its first packet, for which the node makes the service's instance and its connections
     * @param ns of those that count
     */
    record Delays(long firstNs, Histogram ns) {}

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final InetSocketAddress entrance;
    private final Work work;
    private volatile Recorder recorder = new Recorder(0, 0);

    /** @param nodes in the chain */
    DelayProbe(int nodes, QosConfig qos) throws IOException {
        work = Work.monitor();
        try {
            AnepReceiver sink = AnepReceiver.on(Load.loopback(0)).tcp().start(() -> new PacketHandler() {
                @Override
                public void packet(Packet packet, Peer peer) {
                    recorder.arrived(packet);
                }
            });
            opened.push(sink);
            InetSocketAddress next = sink.address();
            for (int i = 0; i < nodes; i++) {
                NextHop.Kind kind = i == 0 ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE;
                Node node = new Node(List.of(work), qos, next, kind);
                opened.push(node);
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
     * @param packetOctets 48 and more
     * @param skipped packets at first whose delay does not count
     * @param packets that count
     * @throws IOException if not all arrive
     */
    Delays measure(int packetOctets, int skipped, int packets, long intervalNs) throws IOException {
        Recorder expected = new Recorder(skipped, skipped + packets);
        recorder = expected;
        // No class of service, stream or time option: in 50 octets the payload has no more room than for a time.
        PacketBuilder header = new PacketBuilder()
                .destination(Load.loopback(0).getAddress())
                .service(work.service())
                .hopBudget(16);
        ByteBuffer payload = Load.payload(header, packetOctets);
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
                long earlyNs;
                while ((earlyNs = dueNs - System.nanoTime()) > 0) {
                    LockSupport.parkNanos(earlyNs);
                }
            }
            await(expected, expected.packets);
        }
        return new Delays(expected.firstNs, expected.delays);
    }

    private static void await(Recorder recorder, int packets) throws IOException {
        long endNs = System.nanoTime() + ARRIVAL_TIMEOUT_NS;
        while (recorder.arrived < packets) {
            if (System.nanoTime() - endNs > 0) {
                throw new IOException(recorder.arrived + " of " + packets + " packets arrived in "
                        + TimeUnit.NANOSECONDS.toSeconds(ARRIVAL_TIMEOUT_NS) + " s");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    @Override
    public void close() throws IOException {
        Bed.closeAll(opened);
    }
}
