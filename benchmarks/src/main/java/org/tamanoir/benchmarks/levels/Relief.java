package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.nodeos.Level;

/** Processor time of the node's process for a packet, all in the JVM, and the first 500 alone. */
final class Relief {
    private static final int BYTES = 200;
    private static final int PACKETS = 200_000;
    private static final int PACKETS_PER_SECOND = 30_000;
    private static final int FIRST = 500;
    /** Long enough that what the warm-up left to the compiler is done. */
    private static final long IDLE_NS = 2_000_000_000;

    private static final double LEAST_US = 0.01;

    private static final double ASKED = 20;

    private Relief() {}

    static void run(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, 2000);
        section.say(
                "%,d packets of %d bytes, %,d a second, through Monitor, all in the JVM and with \"offload: first %d\": "
                        + "processor time of the node's process from the first packet to the last, by its CPU clock, which "
                        + "includes compiler and collector. Each node has seen %,d packets before, so its code is warm; with "
                        + "the offload the first %4$d are among those.",
                packets, BYTES, PACKETS_PER_SECOND, FIRST, settings.scaled(20_000, 200));
        List<String> names = new ArrayList<>();
        List<Double> bars = new ArrayList<>();
        Rows csv = new Rows("level,packets,node cpu ns,lost,late");
        double jvm = 0;
        double jvmBeyondIdle = 0;
        List<Level> levels = new ArrayList<>(List.of(Level.JVM));
        levels.addAll(settings.splitting());
        for (Level level : levels) {
            Work work = level == Level.JVM ? Work.allAt(level) : new Work(level, "first " + FIRST);
            try (RouterNode node = settings.nodes().start(settings.lab(), work)) {
                SizeFigures.warmUp(settings, false);
                long idleNs = node.cpuNs();
                LockSupport.parkNanos(IDLE_NS);
                idleNs = node.cpuNs() - idleNs;
                long beforeNs = node.cpuNs();
                Outcome outcome = settings.lab().run(Flow.udp(BYTES, packets, PACKETS_PER_SECOND));
                long cpuNs = node.cpuNs() - beforeNs;
                double us = cpuNs / 1e3 / outcome.sent();
                // Not below what the clock of another run would tell apart.
                double beyondIdle =
                        Math.max(LEAST_US, us - (double) idleNs * outcome.ns() / IDLE_NS / 1e3 / outcome.sent());
                String name = level == Level.JVM ? "all in the JVM" : "first 500 up, " + level.label();
                names.add(name);
                bars.add(us);
                csv.row("%s,%d,%d,%d,%d", level.label(), outcome.sent(), cpuNs, outcome.lost(), outcome.late());
                section.find(
                        name + ": processor time of the node for a packet",
                        "–",
                        "%.3f µs; ".formatted(us) + outcome.faults());
                section.find(
                        name + ": processor time of the idle node", "–", "%.1f ms a second", idleNs * 1e3 / IDLE_NS);
                if (level == Level.JVM) {
                    jvm = us;
                    jvmBeyondIdle = beyondIdle;
                } else {
                    section.find(
                            "times less with " + level.label(), "≥ " + Math.round(ASKED) + " asked", "%.0f", jvm / us);
                    section.find(
                            "times less with " + level.label() + ", without what an idle node takes",
                            "≥ " + Math.round(ASKED) + " asked",
                            "%.0f",
                            jvmBeyondIdle / beyondIdle);
                }
            }
        }
        section.plot(
                "",
                Plot.bars(section.title(), "µs a packet", names, new Series().add("processor time of the node", bars)));
        section.csv("", csv);
    }
}
