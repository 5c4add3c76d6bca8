package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.service.Service;

/** How long packets wait: by the law of their arrivals in virtual time, and short ones beside long ones in real time. */
final class WaitFigures {
    private static final double[] BUSY = {0.3, 0.5, 0.7, 0.8, 0.9, 0.95};
    private static final int VIRTUAL_PACKETS = 200_000;
    private static final int BYTES = 200;
    private static final long LOAD_NS = 1_000;
    private static final long[] SHORT_AND_LONG_NS = {1_000, 1_000_000};
    private static final double SHORT_PER_SECOND = 10_000;
    private static final double LONG_PER_SECOND = 400;

    private WaitFigures() {}

    static void virtual(Settings settings, Section section) throws IOException {
        VirtualRun.Stated stated = new VirtualRun.Stated(Replay.BATCH_NS, Replay.PACKET_NS, new long[] {LOAD_NS});
        section.say(
                "%,d packets of %d bytes in virtual time, 1 µs of load each, and %d ns a packet and %d ns a batch stated for the "
                        + "node. Nothing here is measured: the same seed gives the same figures on every machine.",
                VIRTUAL_PACKETS, BYTES, stated.packetNs(), stated.batchNs());
        Rows table = new Rows("law | load | busy | packets a batch | wait p50 | p99 | max, µs | lost");
        Rows csv = new Rows("law,load,busy,batch,p50_ns,p99_ns,max_ns,lost");
        Series plot = new Series();
        for (Model.Law law : Model.Law.values()) {
            for (double busy : BUSY) {
                double perSecond = busy * 1e9 / (LOAD_NS + stated.packetNs());
                Schedule schedule =
                        new Schedule(settings.uniform(law, BYTES, perSecond, law.ordinal()), VIRTUAL_PACKETS);
                Outcome outcome = Replay.virtual(settings.table().table(), schedule, stated);
                table.row(
                        "%s | %.2f | %.3f | %.2f | %s | %d",
                        law,
                        busy,
                        outcome.busy(),
                        outcome.packetsPerBatch(),
                        Outcome.us(outcome.waits()[0]),
                        outcome.lost());
                csv.row(
                        "%s,%.2f,%.4f,%.2f,%d,%d,%d,%d",
                        law,
                        busy,
                        outcome.busy(),
                        outcome.packetsPerBatch(),
                        outcome.waits()[0].getValueAtPercentile(50),
                        outcome.waits()[0].getValueAtPercentile(99),
                        outcome.waits()[0].getMaxValue(),
                        outcome.lost());
                plot.add(law.name(), Math.max(0.01, outcome.waits()[0].getValueAtPercentile(99) / 1e3));
            }
        }
        List<Double> x = new ArrayList<>();
        for (double busy : BUSY) {
            x.add(busy * 100);
        }
        section.table(table)
                .csv("", csv)
                .plot("", Plot.logarithmic("Waits in virtual time", "load, %", "wait, p99, µs", x, plot, 0));
    }

    static void beside(Settings settings, Section section) throws IOException {
        section.say(
                "Packets that cost 1 µs, %,.0f a second, beside others that cost 1 ms, %,.0f a second: 40 %% of one processor; "
                        + "Poisson, in real time. Together: one service, so one thread, does both. Apart: a service and a thread for "
                        + "each, which the system schedules.",
                SHORT_PER_SECOND, LONG_PER_SECOND);
        Rows table = new Rows("dispatch | packets | wait p50 | p99 | max, µs");
        Rows csv = new Rows("dispatch,kind,p50_ns,p99_ns,max_ns");
        for (boolean isParted : new boolean[] {false, true}) {
            RealRun real = new RealRun(SHORT_AND_LONG_NS, 0);
            List<Supplier<Service>> services = new ArrayList<>(List.of(() -> new StatedWork(real)));
            if (isParted) {
                services.add(() -> new StatedWork(real));
            }
            try (EmulatedNode node = new EmulatedNode(settings.table().table(), real, services)) {
                Arrivals both = new Merged(
                        settings.uniform(Model.Law.POISSON, BYTES, SHORT_PER_SECOND, 4),
                        settings.uniform(Model.Law.POISSON, BYTES, LONG_PER_SECOND, 5));
                long packets = (long) ((SHORT_PER_SECOND + LONG_PER_SECOND) * settings.seconds());
                Outcome outcome = real.run(new Schedule(both, packets), node, isParted);
                String name = isParted ? "stream, apart" : "stream, together";
                for (int i = 0; i < 2; i++) {
                    String kind = i == 0 ? "short" : "long";
                    table.row("%s | %s | %s", name, kind, Outcome.us(outcome.waits()[i]));
                    csv.row(
                            "\"%s\",%s,%d,%d,%d",
                            name,
                            kind,
                            outcome.waits()[i].getValueAtPercentile(50),
                            outcome.waits()[i].getValueAtPercentile(99),
                            outcome.waits()[i].getMaxValue());
                }
                section.find(
                        "short packets beside long ones, " + name + ": wait p50, p99, max",
                        "p99 ≤ 1 quantum",
                        "%s µs",
                        Outcome.us(outcome.waits()[0]).replace(" | ", ", "));
            }
        }
        section.table(table).csv("", csv);
    }
}
