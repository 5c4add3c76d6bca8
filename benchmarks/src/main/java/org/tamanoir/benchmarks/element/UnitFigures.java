package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.cluster.element.Reordering;

/** Real units: order, and what each part of the element costs, at a steady rate. */
final class UnitFigures {
    private static final int ROUNDS = 3;
    /** With a ring more has to be compiled: after 10 s the compiler still takes as much as all else. */
    private static final double WARM_UP_S = 20;
    /** Until the compiler is done with what the stream has brought. */
    private static final double SETTLE_S = 5;

    private static final double IDLE_S = 5;
    private static final int ATTEMPTS = 3;
    private static final double RING_S = 20;
    private static final double POLL_MS = 100;
    private static final double US = 1e3;

    /**
     * One run.
     *
     * @param costsUs processor time for a packet: of the aggregator, all units, the distributor
     * @param idlePercent processor time of all units while nothing comes, of one processor's
     * @param roundTripUs of the token, smoothed, at the end of the stream
     * @param isWhole whether the ring had all units all the time; without a ring it is
     */
    private record Run(
            NumberedStream.Result stream, double[] costsUs, double idlePercent, double roundTripUs, boolean isWhole) {
        double unitsUs() {
            return costsUs[1];
        }
    }

    private UnitFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Distributor, three nodes with Monitor, aggregator, each a process on this host; %,d datagrams of %,d bytes a "
                        + "second for %.1f s, after %.1f s of warm-up; %d rounds in turns, medians. Sender and receiver run in "
                        + "this process, and all share the processors, whose scheduling is the pauses of the units. Idle: %.1f s, "
                        + "from %.1f s after the stream on. With a ring that lost a unit on the way the element is started again, "
                        + "%d times at most.",
                settings.rate(),
                NumberedStream.PAYLOAD_BYTES,
                settings.seconds(),
                WARM_UP_S,
                ROUNDS,
                IDLE_S,
                SETTLE_S,
                ATTEMPTS - 1);
        Map<Way, List<Run>> runs = new EnumMap<>(Way.class);
        for (int round = 0; round < ROUNDS; round++) {
            for (Way way : Way.values()) {
                try {
                    runs.computeIfAbsent(way, unused -> new ArrayList<>()).add(measure(settings, way));
                } catch (IOException e) {
                    section.say("Not measured: %s.", String.valueOf(e.getMessage()));
                }
            }
        }
        Rows table = new Rows("way | min{j} of each round | H⁻ | N⁻ | reordered, % | jitter, µs | lost, % | "
                + "distributor, µs a packet | units | aggregator | round trip, µs | ring whole");
        Rows csv =
                new Rows("way,min,H-,N-,reordered ratio,jitter us,loss percent,distributor us,units us,aggregator us,"
                        + "idle percent,round trip us,ring whole");
        runs.values().removeIf(List::isEmpty);
        if (runs.isEmpty()) {
            throw new IOException("no element could be measured; try again on a host that is less busy");
        }
        runs.forEach((way, all) -> {
            table.row(
                    "%s | %s | %,.0f | %,.0f | %.2f | %.0f | %.2f | %.2f | %.2f | %.2f | %s | %s",
                    way.label(),
                    String.join(
                            ", ",
                            all.stream()
                                    .map(run -> String.valueOf(
                                            Math.min(0, run.stream.order().min())))
                                    .toList()),
                    median(all, run -> run.stream.order().hMinus()),
                    median(all, run -> run.stream.order().nMinus()),
                    median(all, run -> 100 * run.stream.order().ratio()),
                    median(all, run -> run.stream.jitterUs()),
                    median(all, run -> run.stream.lossPercent()),
                    median(all, run -> run.costsUs[2]),
                    median(all, Run::unitsUs),
                    median(all, run -> run.costsUs[0]),
                    way.hasRing() ? String.format(Locale.ROOT, "%.0f", median(all, run -> run.roundTripUs)) : "–",
                    way.hasRing() ? all.stream().filter(run -> run.isWhole).count() + " of " + all.size() : "–");
            all.forEach(run -> csv.row(csv(way, run)));
        });
        section.find(
                "EXACT: steps back in any round",
                "0 asked",
                "%.0f",
                of(runs, Way.EXACT).stream()
                        .mapToDouble(run -> run.stream.order().nMinus())
                        .sum());
        double none = median(of(runs, Way.NONE), Run::unitsUs);
        section.find(
                "processor time of the units for a packet: NONE; FCT; FCT with rounds of 8",
                "rounds of 8: at most 10 % more asked",
                "%.2f; %.2f; %.2f µs",
                none,
                median(of(runs, Way.FCT), Run::unitsUs),
                median(of(runs, Way.FCT_8), Run::unitsUs));
        section.find(
                "H⁻, FCT/NONE: one packet a round and unit; eight",
                "0.02 to 3.8 (n = 3)",
                "%.3f; %.3f",
                median(of(runs, Way.FCT), run -> run.stream.order().hMinus())
                        / median(of(runs, Way.NONE), run -> run.stream.order().hMinus()),
                median(of(runs, Way.FCT_8), run -> run.stream.order().hMinus())
                        / median(of(runs, Way.NONE), run -> run.stream.order().hMinus()));
        section.find(
                "idle units, processor time of all three with the ring; without, % of a processor",
                "≤ 1 asked, of the ring",
                "%.2f; %.2f",
                median(of(runs, Way.FCT), Run::idlePercent),
                median(of(runs, Way.NONE), Run::idlePercent));
        section.table(table).csv("", csv);
    }

    private static List<Run> of(Map<Way, List<Run>> runs, Way way) {
        return runs.getOrDefault(way, List.of());
    }

    /** Measures with a new element until its ring has held, a few times at most: other work may break it. */
    private static Run measure(Settings settings, Way way) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                Run run = attempt(settings, way);
                if (run.isWhole || attempt == ATTEMPTS) {
                    return run;
                }
            } catch (IOException e) {
                if (attempt == ATTEMPTS) {
                    throw new IOException(way.label() + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private static Run attempt(Settings settings, Way way) throws IOException {
        try (Processes processes = new Processes();
                NumberedStream stream = new NumberedStream();
                Element element = new Element(processes, settings.node(), way, stream.sinkPort())) {
            if (way.hasRing() && !Threads.await(RING_S, POLL_MS, () -> element.epoch() >= 0)) {
                throw new IOException("no ring of all units in " + RING_S + " s");
            }
            stream.warmUp(element.port(), settings.rate(), WARM_UP_S);
            int epoch = way.hasRing() ? element.epoch() : 0;
            long[] before = element.cpuNs();
            NumberedStream.Result result =
                    stream.run(element.port(), settings.rate(), (int) (settings.rate() * settings.seconds()));
            long[] after = element.cpuNs();
            double roundTripUs = way.hasRing() ? element.roundTripUs() : 0;
            boolean isWhole = epoch >= 0 && (!way.hasRing() || element.epoch() == epoch);
            Threads.pause(SETTLE_S);
            long[] quiet = element.cpuNs();
            Threads.pause(IDLE_S);
            long[] idle = element.cpuNs();
            element.requireAlive();
            double units = 0;
            double idleUnits = 0;
            for (int unit = 1; unit <= Element.UNITS; unit++) {
                units += after[unit] - before[unit];
                idleUnits += idle[unit] - quiet[unit];
            }
            int last = after.length - 1;
            double perPacket = US * Math.max(1, result.arrived());
            double[] costs = {
                (after[0] - before[0]) / perPacket, units / perPacket, (after[last] - before[last]) / perPacket
            };
            return new Run(result, costs, 100 * idleUnits / (IDLE_S * 1e9), roundTripUs, isWhole);
        }
    }

    private static String csv(Way way, Run run) {
        Reordering order = run.stream.order();
        return String.format(
                Locale.ROOT,
                "\"%s\",%d,%d,%d,%.5f,%.1f,%.3f,%.3f,%.3f,%.3f,%.3f,%.1f,%b",
                way.label(),
                order.min(),
                order.hMinus(),
                order.nMinus(),
                order.ratio(),
                run.stream.jitterUs(),
                run.stream.lossPercent(),
                run.costsUs[2],
                run.costsUs[1],
                run.costsUs[0],
                run.idlePercent,
                run.roundTripUs,
                run.isWhole);
    }

    private static double median(List<Run> runs, ToDoubleFunction<Run> value) {
        return runs.isEmpty()
                ? Double.NaN
                : Numbers.median(runs.stream().mapToDouble(value).toArray());
    }
}
