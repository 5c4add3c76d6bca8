package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.cluster.element.ring.MemoryRing;
import org.tamanoir.cluster.element.ring.RingPlan;
import org.tamanoir.cluster.element.ring.RingSettings;
import org.tamanoir.cluster.element.ring.TokenRing;

/** The token alone: from unit to unit, and once around. */
final class HopFigures {
    private static final byte[] KEY = new byte[16];
    private static final int BARS = 60;
    private static final double READY_S = 20;
    private static final double POLL_MS = 10;
    /** A ring of the paper's, in µs: all 6.7 to 7 µs a hop. */
    private static final Map<Integer, Integer> PAPER_TURN_US = Map.of(2, 14, 6, 40);

    private HopFigures() {}

    private interface Ring {
        /** Starts a ring; it is closed with the others of its measurement. */
        void start(int units, TokenTimes times, Opened opened) throws IOException;
    }

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Senders that have no packets and pass each token at once, %.1f s each after half as long. In memory one "
                        + "thread runs all senders of a JVM, so a hop is a queue between them and no other thread is woken; over "
                        + "UDP each unit has a socket on 127.0.0.1 and a thread, all in one process, so that each hop wakes one.",
                settings.seconds());
        Rows table = new Rows("ring | units | hop p50, µs | p99 | round trip p50, µs | p99 | paper, µs");
        Rows csv = new Rows("ring,units,hop p50 us,hop p99 us,turn p50 us,turn p99 us,turns");
        measure("in memory", "-memory", HopFigures::memory, "≤ 1 (asked: ≤ 3)", settings, section, table, csv);
        measure("UDP", "-udp", HopFigures::udp, "6.3 (Myrinet); ≤ 25 asked", settings, section, table, csv);
        section.table(table).csv("", csv);
    }

    private static void measure(
            String name,
            String file,
            Ring ring,
            String reference,
            Settings settings,
            Section section,
            Rows table,
            Rows csv)
            throws IOException {
        Map<Integer, Histogram> turns = new LinkedHashMap<>();
        for (int units = 2; units <= Runs.MOST_UNITS; units++) {
            TokenTimes times = new TokenTimes();
            try (Opened opened = new Opened()) {
                ring.start(units, times, opened);
                await(times, name);
                Threads.pause(settings.seconds() / 2);
                times.reset();
                Threads.pause(settings.seconds());
            }
            Histogram hops = times.hops();
            turns.put(units, times.turns());
            table.row(
                    "%s | %d | %.2f | %.2f | %.1f | %.1f | %s",
                    name,
                    units,
                    us(hops, 50),
                    us(hops, 99),
                    us(times.turns(), 50),
                    us(times.turns(), 99),
                    PAPER_TURN_US.containsKey(units) ? String.valueOf(PAPER_TURN_US.get(units)) : "–");
            csv.row(
                    "%s,%d,%.3f,%.3f,%.3f,%.3f,%d",
                    name,
                    units,
                    us(hops, 50),
                    us(hops, 99),
                    us(times.turns(), 50),
                    us(times.turns(), 99),
                    times.turns().getTotalCount());
            if (units == 3) {
                section.find(
                        name + ", three units: hop p50; p99",
                        reference + " µs",
                        "%.2f; %.2f µs",
                        us(hops, 50),
                        us(hops, 99));
            }
        }
        section.plot(file, plot("Round trips of the token, " + name, turns));
    }

    private static void memory(int units, TokenTimes times, Opened opened) {
        List<Integer> all = IntStream.range(0, units).boxed().toList();
        MemoryRing ring = opened.add(new MemoryRing(RingPlan.of(all, false)));
        all.forEach(unit -> ring.start(unit, new TokenPasser(ring.port(unit), times)));
    }

    private static void udp(int units, TokenTimes times, Opened opened) throws IOException {
        Map<Integer, InetSocketAddress> addresses = new HashMap<>();
        for (int unit = 0; unit < units; unit++) {
            addresses.put(unit, Load.loopback(Load.freePort()));
        }
        RingSettings settings = RingSettings.of(1, KEY, addresses, null);
        for (int unit = 0; unit < units; unit++) {
            TokenRing ring = opened.add(new TokenRing(settings, unit));
            ring.start(new TokenPasser(ring, times));
        }
    }

    private static void await(TokenTimes times, String name) throws IOException {
        if (!Threads.await(READY_S, POLL_MS, () -> times.turns().getTotalCount() > 0)) {
            throw new IOException("no token went round " + name + " in " + READY_S + " s");
        }
    }

    private static double us(Histogram times, double percentile) {
        return times.getValueAtPercentile(percentile) / 1e3;
    }

    /** Draws the share of round trips in each bar, in percent, up to where 95 % of all are. */
    private static byte[] plot(String title, Map<Integer, Histogram> turns) throws IOException {
        long mostNs = turns.values().stream()
                .mapToLong(times -> times.getValueAtPercentile(95))
                .max()
                .orElse(BARS);
        long barNs = Math.max(1, mostNs / BARS);
        List<Double> x =
                IntStream.range(0, BARS).mapToObj(i -> (i + 0.5) * barNs / 1e3).toList();
        Series series = new Series();
        turns.forEach((units, times) -> series.add(
                units + " units",
                IntStream.range(0, BARS)
                        .mapToObj(i -> 100.0
                                * times.getCountBetweenValues(i * barNs, (i + 1) * barNs - 1)
                                / Math.max(1, times.getTotalCount()))
                        .toList()));
        return Plot.lines(title, "µs", "%", x, series);
    }
}
