package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.service.Service;
import org.tamanoir.services.Monitor;

/** What one and two processors carry, and what 2 Gb/s take of one. */
final class ThroughputFigures {
    private static final int SMALL = 64;
    private static final int LARGE = 1024;
    private static final double TWO_GBPS = 2e9 / (LARGE * 8);
    private static final int ROUNDS = 3;
    private static final int RUNNABLE = 1024;
    private static final int MODERATION_US = 50;

    private ThroughputFigures() {}

    /**
     * What workers carried together.
     *
     * @param perSecond by the clock
     * @param perCpuSecond of one worker, by its processor time
     */
    private record Rate(double perSecond, double perCpuSecond) {}

    static void small(Settings settings, Section section) throws IOException {
        section.say(
                "Packets of %d bytes through parse, look-up in %,d routes, Monitor's mark, and collecting of departures; "
                        + "each worker is a service with a port of its own, and prepares its own arrivals between blocks of 1 MiB, "
                        + "which is not measured. By the clock: packets over the time of blocks, whoever else had the processor "
                        + "meanwhile; by processor time: of one worker. Median of %d rounds.",
                SMALL, settings.table().routes(), ROUNDS);
        Rows table = new Rows("destinations | workers | M/s by the clock | M/s of one by processor time");
        Rows csv = new Rows("destinations,workers,per_second,per_cpu_second");
        Series plot = new Series();
        for (Destinations.Kind kind : Destinations.Kind.values()) {
            double[] clock = new double[2];
            double[] cpu = new double[2];
            List<Rate> one = new ArrayList<>();
            List<Rate> two = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                one.add(rate(settings, 1, SMALL, kind));
                two.add(rate(settings, 2, SMALL, kind));
            }
            List<List<Rate>> both = List.of(one, two);
            for (int i = 0; i < 2; i++) {
                clock[i] =
                        Numbers.median(both.get(i).stream().map(Rate::perSecond).toList());
                cpu[i] = Numbers.median(
                        both.get(i).stream().map(Rate::perCpuSecond).toList());
                table.row("%s | %d | %.2f | %.2f", kind, i + 1, clock[i] / 1e6, cpu[i] / 1e6);
                csv.row("%s,%d,%.0f,%.0f", kind, i + 1, clock[i], cpu[i]);
                plot.add(kind + ", by the clock", clock[i] / 1e6);
                plot.add(kind + ", by processor time", (i + 1) * cpu[i] / 1e6);
            }
            section.find(
                    kind + ": one processor",
                    "≥ 8 M/s",
                    "%.2f M/s by the clock, %.2f by processor time",
                    clock[0] / 1e6,
                    cpu[0] / 1e6);
            section.find(
                    kind + ": two processors",
                    "14.88 M/s (10 Gb/s)",
                    "%.2f M/s by the clock, %.2f by processor time",
                    clock[1] / 1e6,
                    2 * cpu[1] / 1e6);
            section.find(
                    kind + ": two to one",
                    "linear; ≥ 1.8",
                    "%.2f by the clock, %.2f by processor time",
                    clock[1] / clock[0],
                    2 * cpu[1] / cpu[0]);
        }
        section.table(table)
                .csv("", csv)
                .plot("", Plot.bars("Packets of 64 bytes", "million a second", List.of("1 processor", "2"), plot));
    }

    private static Rate rate(Settings settings, int workers, int bytes, Destinations.Kind kind) throws IOException {
        List<Supplier<Service>> services = Collections.nCopies(workers, Monitor::new);
        try (EmulatedNode node = new EmulatedNode(settings.table().table(), EmulatedPort.UNSEEN, services)) {
            List<Flood> floods = new ArrayList<>();
            for (int i = 0; i < workers; i++) {
                Destinations to = Destinations.of(kind, settings.table(), settings.seed());
                floods.add(new Flood(
                        new Model(Model.Law.CONSTANT, bytes, 1, to, settings.seed() + i),
                        EmulatedNode.writer(i),
                        node.port(i).memory(),
                        null,
                        RUNNABLE,
                        settings.ns()));
            }
            for (int i = 0; i < workers; i++) {
                node.port(i).feed(floods.get(i));
            }
            double clock = 0;
            double cpu = 0;
            for (Flood flood : floods) {
                List<Flood.Sample> blocks = flood.await();
                clock += Numbers.median(blocks.stream()
                        .map(each -> each.packets() * 1e9 / each.wallNs())
                        .toList());
                cpu += Numbers.median(blocks.stream()
                                .map(each -> 1e9 / each.cpuPerPacket())
                                .toList())
                        / workers;
            }
            return new Rate(clock, cpu);
        }
    }

    static void large(Settings settings, Section section) throws IOException {
        section.say(
                "Packets of %,d bytes at 2 Gb/s, %,.0f a second, to prefixes drawn uniformly from %,d. The path alone: as above, "
                        + "with 1, 8 or 64 packets waiting when the node looks. In real time: a thread injects them, and wakes the node's "
                        + "at most every %d µs, as an interface moderates its interrupts; waking and waiting are in the time.",
                LARGE, TWO_GBPS, settings.table().routes(), MODERATION_US);
        Rate path = rate(settings, 1, LARGE, Destinations.Kind.UNIFORM);
        section.find(
                "2 Gb/s, 1,024 bytes: the path alone",
                "2 Gb/s on two; ≤ 15 % of one processor",
                "%.1f %% of one processor (%.0f ns a packet)",
                100 * TWO_GBPS / path.perCpuSecond,
                1e9 / path.perCpuSecond);
        RealRun real = new RealRun(new long[] {0}, MODERATION_US * 1000L);
        try (EmulatedNode node = new EmulatedNode(settings.table().table(), real, List.of(Monitor::new))) {
            Schedule schedule = new Schedule(
                    settings.uniform(Model.Law.CONSTANT, LARGE, TWO_GBPS, 2), (long) (TWO_GBPS * settings.seconds()));
            Outcome outcome = real.run(schedule, node, true);
            section.find(
                    "2 Gb/s, 1,024 bytes: in real time, woken at most every 50 µs",
                    "≤ 15 % of one processor",
                    "%.1f %% of one processor were none lost, %.1f packets a batch, %,d lost of %,d",
                    100
                            * outcome.busy()
                            * outcome.came()
                            / Math.max(1, outcome.counts().in()),
                    outcome.packetsPerBatch(),
                    outcome.lost(),
                    outcome.came());
            section.say("In real time: %s.", outcome.counts().text());
        }
    }

    static void injection(Settings settings, Section section) throws IOException {
        double perSecond = 1e6;
        section.say(
                "%,.0f packets of %d bytes a second in real time: how late the injecting thread is.", perSecond, SMALL);
        RealRun real = new RealRun(new long[] {0}, MODERATION_US * 1000L);
        try (EmulatedNode node = new EmulatedNode(settings.table().table(), real, List.of(Monitor::new))) {
            Schedule schedule = new Schedule(
                    settings.uniform(Model.Law.CONSTANT, SMALL, perSecond, 3), (long) (perSecond * settings.seconds()));
            Outcome outcome = real.run(schedule, node, true);
            section.find(
                    "injection error at 1 M/s: p50, p99, max",
                    "p99 ≤ 1 µs on an idle core",
                    "%s µs",
                    Outcome.us(real.errors()).replace(" | ", ", "));
            section.find(
                    "arrivals more than 1 µs late; that found the node busy; lost",
                    "–",
                    "%.2f %%; %.1f %%; %.2f %%",
                    100.0 * real.late() / outcome.came(),
                    100.0 * real.foundWaiting() / outcome.came(),
                    100.0 * outcome.lost() / outcome.came());
        }
    }
}
