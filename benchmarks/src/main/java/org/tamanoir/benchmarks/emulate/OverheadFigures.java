package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** What the node adds to a packet's load, by the load and by how many packets wait when it looks. */
final class OverheadFigures {
    private static final double[] LOADS_US = {0, 0.5, 1, 2, 5, 10, 50, 100};
    private static final int[] RUNNABLE = {1, 8, 64, 512};
    private static final int BYTES = 200;
    private static final double PAPER_MOST_US = 3.6;
    private static final double PAPER_LEAST_US = 1.64;

    private OverheadFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Packets of %d bytes to prefixes drawn uniformly from %,d; each is marked and uses the processor for c. "
                        + "Overhead: processor time of the node's threads less what as many loads take by themselves, before or "
                        + "after each block, for each packet; median of blocks. With dispatch: "
                        + "stream so many packets wait whenever the node's thread looks. With dispatch: packet so many come at "
                        + "once, when those before have left: reception and workers, their waking included.",
                BYTES, settings.table().routes());
        Rows table = new Rows("dispatch | c, µs | 1 packet waits | 8 | 64 | 512 wait: ns a packet");
        Rows csv = new Rows("dispatch,c_us,runnable,overhead_ns,blocks");
        for (boolean perPacket : new boolean[] {false, true}) {
            String dispatch = perPacket ? "packet" : "stream";
            Series plot = new Series();
            double most = 0;
            for (double us : LOADS_US) {
                List<String> cells = new ArrayList<>(List.of(dispatch, "%.1f".formatted(us)));
                for (int runnable : RUNNABLE) {
                    long costNs = (long) (us * 1000);
                    List<Double> blocks = perPacket
                            ? PacketRounds.blocks(settings, costNs, runnable, BYTES)
                            : blocks(settings, costNs, runnable);
                    double ns = Numbers.median(blocks);
                    cells.add("%.0f".formatted(ns));
                    csv.row("%s,%.1f,%d,%.1f,%d", dispatch, us, runnable, ns, blocks.size());
                    most = Math.max(most, runnable < 64 ? 0 : ns);
                    if (us > 0) {
                        plot.add(runnable + " waiting", Math.max(0.001, ns / 1000));
                    }
                }
                table.row(cells);
                if (us > 0) {
                    plot.add("paper, light load", PAPER_MOST_US).add("paper, heavy load", PAPER_LEAST_US);
                }
            }
            section.find(
                    "dispatch " + dispatch + ": overhead a packet, most over c, 64 and more waiting",
                    perPacket ? "3.6 → 1.64 µs; 0.3 to 0.6 µs" : "3.6 → 1.64 µs; ≤ 0.2 µs",
                    "%.2f µs",
                    most / 1000);
            section.plot(
                    "-" + dispatch,
                    Plot.logarithmic(
                            "Overhead a packet, dispatch: " + dispatch,
                            "load, µs a packet",
                            "overhead, µs",
                            Arrays.stream(LOADS_US).filter(us -> us > 0).boxed().toList(),
                            plot,
                            2));
        }
        section.table(table).csv("", csv);
    }

    private static List<Double> blocks(Settings settings, long costNs, int runnable) throws IOException {
        Burner.Load load = new Burner.Load(costNs);
        try (EmulatedNode node =
                new EmulatedNode(settings.table().table(), EmulatedPort.UNSEEN, List.of(() -> new Burner(load)))) {
            Flood flood = new Flood(
                    settings.uniform(Model.Law.CONSTANT, BYTES, 1e6, 1),
                    EmulatedNode.writer(0),
                    node.port(0).memory(),
                    load,
                    runnable,
                    settings.ns() / 4);
            node.port(0).feed(flood);
            return flood.await().stream().map(Flood.Sample::cpuPerPacket).toList();
        }
    }
}
