package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.TcpSink;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.qos.Setup.Placement;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.routing.NextHop;

/** What quality of service leaves of a node's throughput: one TCP stream as fast as it goes, without and with, in turns. */
final class Throughput {
    private static final int[] SIZES = {1400, 32_768};
    private static final int ROUNDS = 4;
    private static final double SETTLE_S = 0.5;

    private Throughput() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "One TCP stream through Monitor as fast as it goes, without quality of service and with both "
                        + "points, %d rounds in turns; the sink counts bytes and parses nothing. The ratio is that of a "
                        + "round's two windows; median over the rounds.",
                ROUNDS);
        List<Placement> placements = settings.off() ? List.of(Placement.off) : List.of(Placement.off, Placement.both);
        Rows csv = new Rows("bytes,placement,round,MB/s");
        Rows table = new Rows("bytes | without, MB/s | both, MB/s | ratio (least–most)");
        try (Opened opened = new Opened()) {
            TcpSink sink = opened.add(new TcpSink(false));
            InetSocketAddress address = Load.loopback(sink.port());
            List<Node> nodes = new ArrayList<>();
            for (Placement placement : placements) {
                nodes.add(opened.add(
                        new Node(List.of(Work.monitor()), placement.uncongested(), address, NextHop.Kind.HOST)));
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
                            csv.row("%d,%s,%d,%.1f", size, placements.get(i), round, rate);
                        }
                    }
                }
                if (placements.size() > 1) {
                    describe(section, size, rates, table);
                }
            }
        }
        section.table(table);
        section.csv("", csv);
    }

    private static void describe(Section section, int size, List<List<Double>> rates, Rows table) {
        List<Double> without = rates.get(0);
        List<Double> with = rates.get(1);
        double[] ratios = IntStream.range(0, with.size())
                .mapToDouble(i -> with.get(i) / without.get(i))
                .sorted()
                .toArray();
        String ratio = "%.2f (%.2f–%.2f)".formatted(Numbers.median(ratios), ratios[0], ratios[ratios.length - 1]);
        section.find("throughput with both, of that without, %,d bytes".formatted(size), "≥ 0.8", ratio);
        table.row("%,d | %,.0f | %,.0f | %s", size, Numbers.median(without), Numbers.median(with), ratio);
    }

    /** MB/s at the sink. */
    private static double window(Settings settings, Node node, TcpSink sink, int packetBytes) throws IOException {
        ByteBuffer batch = Load.batch(1, packetBytes, Load.BATCH_BYTES, Integer.MAX_VALUE);
        try (SocketChannel channel = SocketChannel.open(node.address(false))) {
            Threads.start("flood", () -> Load.flood(channel, batch));
            Threads.pause(settings.scaled(SETTLE_S));
            long before = sink.bytes();
            long beginNs = System.nanoTime();
            Threads.pause(settings.scaled(1.0));
            long bytes = sink.bytes() - before;
            double seconds = (System.nanoTime() - beginNs) / 1e9;
            if (bytes == 0) {
                throw new IOException("nothing arrived at the sink");
            }
            return bytes / 1e6 / seconds;
        }
    }
}
