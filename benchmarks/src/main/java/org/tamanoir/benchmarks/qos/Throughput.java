package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.qos.Setup.Placement;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.routing.NextHop;

/** What quality of service leaves of a node's throughput: one TCP stream as fast as it goes, without and with, in turns. */
final class Throughput {
    private static final int[] SIZES = {1400, 32_768};
    private static final int ROUNDS = 4;
    private static final int SETTLE_MS = 500;

    private Throughput() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(("One TCP stream through Monitor as fast as it goes, without quality of service and with both "
                        + "points, %d rounds in turns; the sink counts octets and parses nothing. The ratio is that of a "
                        + "round's two windows; median over the rounds.")
                .formatted(ROUNDS));
        List<Placement> placements = settings.off() ? List.of(Placement.off) : List.of(Placement.off, Placement.both);
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        StringBuilder csv = new StringBuilder("octets,placement,round,MB/s\n");
        List<List<String>> rows = new ArrayList<>();
        try {
            CountingSink sink = new CountingSink();
            opened.push(sink);
            List<Node> nodes = new ArrayList<>();
            for (Placement placement : placements) {
                Node node =
                        new Node(List.of(Work.monitor()), placement.uncongested(), sink.address(), NextHop.Kind.HOST);
                opened.push(node);
                nodes.add(node);
            }
            for (int size : SIZES) {
                List<List<Double>> rates = new ArrayList<>();
                placements.forEach(placement -> rates.add(new ArrayList<>()));
                for (int round = 0; round <= ROUNDS; round++) {
                    for (int i = 0; i < nodes.size(); i++) {
                        double rate = window(settings, nodes.get(i), sink, size);
                        // The first round warms up.
                        if (round > 0) {
                            rates.get(i).add(rate);
                            csv.append(String.format(
                                    Locale.ROOT, "%d,%s,%d,%.1f%n", size, placements.get(i), round, rate));
                        }
                    }
                }
                describe(section, placements, size, rates, rows);
            }
        } finally {
            Bed.closeAll(opened);
        }
        section.table(List.of("octets", "without, MB/s", "both, MB/s", "ratio (least–most)"), rows);
        section.csv("", csv.toString());
    }

    private static void describe(
            Section section, List<Placement> placements, int size, List<List<Double>> rates, List<List<String>> rows) {
        if (placements.size() < 2) {
            return;
        }
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < rates.get(0).size(); i++) {
            ratios.add(rates.get(1).get(i) / rates.get(0).get(i));
        }
        List<Double> sorted = ratios.stream().sorted().toList();
        String ratio = String.format(
                Locale.ROOT, "%.2f (%.2f–%.2f)", Numbers.median(ratios), sorted.get(0), sorted.get(sorted.size() - 1));
        String octets = String.format(Locale.ROOT, "%,d", size);
        section.find("throughput with both, of that without, " + octets + " octets", "≥ 0.8", ratio);
        rows.add(List.of(
                octets,
                String.format(Locale.ROOT, "%,.0f", Numbers.median(rates.get(0))),
                String.format(Locale.ROOT, "%,.0f", Numbers.median(rates.get(1))),
                ratio));
    }

    /** MB/s at the sink. */
    private static double window(Settings settings, Node node, CountingSink sink, int packetOctets) throws IOException {
        ByteBuffer batch = Load.batch(1, packetOctets, Load.BATCH_OCTETS, Integer.MAX_VALUE);
        try (SocketChannel channel = SocketChannel.open(node.address(false))) {
            Thread writer = new Thread(() -> flood(channel, batch), "flood");
            writer.setDaemon(true);
            writer.start();
            Bed.pause(TimeUnit.MILLISECONDS.toNanos(Math.round(settings.scaled(SETTLE_MS))));
            long before = sink.octets();
            long beginNs = System.nanoTime();
            Bed.pause(Math.round(settings.scaled(1.0) * 1e9));
            long octets = sink.octets() - before;
            double seconds = (System.nanoTime() - beginNs) / 1e9;
            if (octets == 0) {
                throw new IOException("nothing arrived at the sink");
            }
            return octets / 1e6 / seconds;
        }
    }

    private static void flood(SocketChannel channel, ByteBuffer batch) {
        try {
            while (true) {
                channel.write(batch);
                if (!batch.hasRemaining()) {
                    batch.rewind();
                }
            }
        } catch (IOException e) {
            // The window is over, and the channel closed.
        }
    }

    /** Counts octets on a thread per connection. */
    private static final class CountingSink implements AutoCloseable {
        private final ServerSocketChannel server = ServerSocketChannel.open().bind(Load.loopback(0));
        private final AtomicLong octets = new AtomicLong();

        CountingSink() throws IOException {
            daemon(this::accept);
        }

        InetSocketAddress address() throws IOException {
            return (InetSocketAddress) server.getLocalAddress();
        }

        long octets() {
            return octets.get();
        }

        private static void daemon(Runnable body) {
            Thread thread = new Thread(body, "sink");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            try {
                while (true) {
                    SocketChannel channel = server.accept();
                    daemon(() -> read(channel));
                }
            } catch (IOException e) {
                // The sink was closed.
            }
        }

        private void read(SocketChannel channel) {
            ByteBuffer room = ByteBuffer.allocateDirect(Load.BATCH_OCTETS);
            try (channel) {
                int read;
                while ((read = channel.read(room.clear())) >= 0) {
                    octets.addAndGet(read);
                }
            } catch (IOException e) {
                // A stream that is cut at the end of its window ends with a reset.
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
