package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.service.Service;

/** How long packets wait: by the law of their arrivals in virtual time, and short ones beside long ones in real time. */
final class WaitFigures {
    private static final double[] BUSY = {0.3, 0.5, 0.7, 0.8, 0.9, 0.95};
    private static final int QUEUE_PACKETS = 100_000;
    private static final int VIRTUAL_PACKETS = 200_000;
    private static final int BYTES = 200;
    private static final long LOAD_NS = 1_000;
    private static final long SHORT_NS = 1_000;
    private static final double SHORT_PER_SECOND = 10_000;
    /** Of a processor. */
    private static final double LONG_SHARE = 0.4;

    private static final QosConfig IN_TURNS = new QosConfig(
            List.of(trafficClass("short", 0), trafficClass("long", 1)),
            "long",
            List.of(),
            new PreProcessing("pq", Map.of(), 1, Duration.ofMillis(1)),
            List.of());

    private WaitFigures() {}

    private static TrafficClass trafficClass(String name, int classOfService) {
        return new TrafficClass(name, Set.of(classOfService), 1, QUEUE_PACKETS, 1 << 24);
    }

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

    /** How short and long packets share the processor that the injecting thread leaves. */
    private enum Sharing {
        TOGETHER("one thread"),
        APART("a thread each"),
        IN_TURNS("a thread each, in turns");

        final String text;

        Sharing(String text) {
            this.text = text;
        }
    }

    static void beside(Settings settings, Section section) throws IOException {
        section.say(
                "Packets that cost 1 µs, %,.0f a second, beside others that cost 1 ms, 400 a second, or 10 ms, 40 a second: 40 %% "
                        + "of one processor; Poisson, in real time. One thread: one service does both. A thread each: two services, "
                        + "which the operating system schedules. In turns: they have turns on one processor, of 1 ms, by strict "
                        + "priority, short ones first, and long ones pass checkpoints.",
                SHORT_PER_SECOND);
        Rows table = new Rows("long ones | sharing | packets | wait p50 | p99 | max, µs");
        Rows csv = new Rows("long_ms,sharing,kind,p50_ns,p99_ns,max_ns");
        for (long longMs : new long[] {1, 10}) {
            for (Sharing sharing : Sharing.values()) {
                beside(settings, section, longMs, sharing, table, csv);
            }
        }
        section.table(table).csv("", csv);
    }

    private static void beside(Settings settings, Section section, long longMs, Sharing sharing, Rows table, Rows csv)
            throws IOException {
        RealRun real = new RealRun(new long[] {SHORT_NS, longMs * 1_000_000}, 0);
        boolean isParted = sharing != Sharing.TOGETHER;
        List<Supplier<Service>> services = new ArrayList<>(List.of(() -> new StatedWork(real)));
        if (isParted) {
            services.add(() -> new StatedWork(real));
        }
        try (EmulatedNode node = new EmulatedNode(settings.table().table(), real, services)) {
            if (sharing == Sharing.IN_TURNS) {
                node.turns(IN_TURNS);
            }
            double longPerSecond = LONG_SHARE * 1e3 / longMs;
            Arrivals both = new Merged(
                    settings.uniform(Model.Law.POISSON, BYTES, SHORT_PER_SECOND, 4),
                    settings.uniform(Model.Law.POISSON, BYTES, longPerSecond, 5));
            long packets = (long) ((SHORT_PER_SECOND + longPerSecond) * settings.seconds());
            Outcome outcome = real.run(new Schedule(both, packets), node, isParted);
            for (int i = 0; i < 2; i++) {
                String kind = i == 0 ? "short" : "long";
                table.row("%d ms | %s | %s | %s", longMs, sharing.text, kind, Outcome.us(outcome.waits()[i]));
                csv.row(
                        "%d,\"%s\",%s,%d,%d,%d",
                        longMs,
                        sharing.text,
                        kind,
                        outcome.waits()[i].getValueAtPercentile(50),
                        outcome.waits()[i].getValueAtPercentile(99),
                        outcome.waits()[i].getMaxValue());
            }
            section.find(
                    "short packets beside ones of %d ms, %s: wait p50, p99, max".formatted(longMs, sharing.text),
                    "p99 ≤ 1 quantum",
                    "%s µs",
                    Outcome.us(outcome.waits()[0]).replace(" | ", ", "));
        }
    }
}
