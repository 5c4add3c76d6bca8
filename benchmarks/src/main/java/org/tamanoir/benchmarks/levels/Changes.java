package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.SegmentLog.Event;
import org.tamanoir.benchmarks.levels.SegmentLog.Place;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.nodeos.Level;

/** How long after a call of {@code Offload.change} packets meet the new policy, and whether any is lost. */
final class Changes {
    private static final int BYTES = 200;
    private static final int PACKETS = 60_000;
    private static final int PACKETS_PER_SECOND = 20_000;
    private static final double PAUSE_S = 0.02;
    private static final long FINISH_TIMEOUT_S = 20;
    private static final int MAX_CLASS = 250;

    private Changes() {}

    /**
     * A change.
     *
     * @param value of the class of service that packets get from then on
     * @param beganNs when the call began
     * @param endedNs when it returned
     */
    record Change(int value, long beganNs, long endedNs) {}

    /**
     * A packet on its way through the router.
     *
     * @param ns when it came
     * @param value of the class of service with which it left
     */
    record Passed(long ns, int value) {}

    static void run(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, 2000);
        section.say(
                "%,d packets of %d bytes, %,d a second, which a level marks, while the mark is changed again and again by "
                        + "the port that services use. What a packet shows that left, and the time at which it came, tell how "
                        + "long after the beginning of a call the last packet was handled by the old policy.",
                packets, BYTES, PACKETS_PER_SECOND);
        Rows csv = new Rows("level,change,call us,effect us");
        for (Level level : settings.below()) {
            List<Change> changes = new ArrayList<>();
            Outcome outcome = underLoad(settings, level, packets, changes);
            double[] effects = effects(changes, passed(settings.lab(), packets));
            double[] calls = changes.stream()
                    .mapToDouble(change -> (change.endedNs - change.beganNs) / 1e3)
                    .toArray();
            for (int i = 0; i < effects.length; i++) {
                csv.row("%s,%d,%.1f,%.1f", level.label(), i + 1, calls[i], effects[i]);
            }
            Arrays.sort(effects);
            Arrays.sort(calls);
            section.find(
                    level.label() + ", last packet of the old policy after the call began, µs: median, largest of "
                            + effects.length,
                    "≤ 1,000 asked",
                    middleAndLargest(effects));
            section.find(level.label() + ", duration of the call, µs: median, largest", "–", middleAndLargest(calls));
            section.find(
                    level.label() + ", of " + outcome.sent() + " packets meanwhile",
                    "nothing lost asked",
                    outcome.faults());
        }
        section.csv("", csv);
    }

    private static Outcome underLoad(Settings settings, Level level, int packets, List<Change> changes)
            throws IOException {
        Lab lab = settings.lab();
        Child changer = lab.processes.load(lab.network.router, "level-changer level=%s", level.label());
        try (changer) {
            lab.wakeUp();
            CompletableFuture<Outcome> running = new CompletableFuture<>();
            Threads.start("load", () -> {
                try {
                    running.complete(lab.run(Flow.udp(BYTES, packets, PACKETS_PER_SECOND)));
                } catch (IOException | RuntimeException e) {
                    running.completeExceptionally(e);
                }
            });
            while (!running.isDone()) {
                int value = 2 + changes.size() % MAX_CLASS;
                long[] called = changer.ask("mark " + value);
                changes.add(new Change(value, called[0], called[1]));
                Threads.pause(PAUSE_S);
            }
            Outcome outcome = Namespace.result(running, FINISH_TIMEOUT_S, "the load");
            if (!changer.finish(FINISH_TIMEOUT_S)) {
                throw new IOException("the policy was not taken away in " + FINISH_TIMEOUT_S + " s");
            }
            return outcome;
        }
    }

    private static List<Passed> passed(Lab lab, int packets) throws IOException {
        int[] values = new int[packets];
        for (Event event : lab.log.read(Place.OUT)) {
            if (event.number() < packets) {
                values[(int) event.number()] = event.classOfService();
            }
        }
        List<Passed> passed = new ArrayList<>();
        for (Event event : lab.log.read(Place.IN)) {
            if (event.number() < packets) {
                passed.add(new Passed(event.ns(), values[(int) event.number()]));
            }
        }
        return passed;
    }

    /**
     * For each change the time from its beginning until the last packet came that had another mark than its own, or the
     * next one's; 0 where none did. Changes before the first packet and after the last one count for nothing.
     *
     * @param passed in the order in which they came
     */
    static double[] effects(List<Change> changes, List<Passed> passed) {
        List<Double> effects = new ArrayList<>();
        for (int i = 0; i < changes.size(); i++) {
            Change change = changes.get(i);
            long endNs = i + 1 < changes.size() ? changes.get(i + 1).beganNs : Long.MAX_VALUE;
            long lastNs = change.beganNs;
            int later = 0;
            for (Passed packet : passed) {
                if (packet.ns >= change.beganNs && packet.ns < endNs) {
                    later++;
                    if (packet.value != change.value) {
                        lastNs = packet.ns;
                    }
                }
            }
            if (later > 0 && passed.get(0).ns < change.beganNs) {
                effects.add((lastNs - change.beganNs) / 1e3);
            }
        }
        return effects.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static String middleAndLargest(double[] sorted) {
        return sorted.length == 0
                ? "–"
                : Summary.us(sorted[sorted.length / 2]) + ", " + Summary.us(sorted[sorted.length - 1]);
    }
}
