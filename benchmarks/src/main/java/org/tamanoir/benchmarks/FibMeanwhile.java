package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.routing.Fib;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/** Look-ups of one thread, for a second of its own processor time, while another changes routes. */
final class FibMeanwhile {
    private static final int BATCH = 64;
    private static final int ROUNDS = 5;
    private static final long WINDOW_NS = 1_000_000_000L;

    private final FibTable table;
    private final int[] keys4;
    private final long[] keys6;
    private final Path file;
    private final int[] other = new int[1 << 25];

    private FibMeanwhile(FibTable table, Path file) {
        this.table = table;
        this.file = file;
        keys4 = table.keys4(true);
        keys6 = table.keys6(true);
    }

    /** What another thread does meanwhile. */
    private enum Kind {
        NOTHING("nothing", 0),
        FEED("5 changes a second", 200_000_000L),
        FAST("changes without a pause", 0),
        LOAD("loads of an MRT dump", 0),
        /** What another program costs that has nothing to do with routes. */
        READ("random reads of 128 MiB", 0);

        final String text;
        final long pauseNs;

        Kind(String text, long pauseNs) {
            this.text = text;
            this.pauseNs = pauseNs;
        }
    }

    static void run(FibTable table, Section section) throws IOException {
        section.say(
                "Another thread does nothing, changes random prefixes of the table, loads the whole table, or reads memory, in turns of %d "
                        + "rounds; this one looks up announced addresses in batches of %d, as many of IPv4 as of IPv6, and gets the "
                        + "table anew for each. Look-ups for a second of its own processor time, medians of windows of %.0f s.",
                ROUNDS, BATCH, WINDOW_NS / 1e9);
        Path file = FibLoad.write(table);
        Rows rows = new Rows("meanwhile | million look-ups a second | of those with nothing | changes a second");
        Series plot = new Series();
        List<String> names = new ArrayList<>();
        try {
            FibMeanwhile lab = new FibMeanwhile(table, file);
            double[][] rates = new double[Kind.values().length][ROUNDS];
            double[] changes = new double[Kind.values().length];
            lab.window(Kind.NOTHING, changes);
            for (int round = 0; round < ROUNDS; round++) {
                for (Kind kind : Kind.values()) {
                    rates[kind.ordinal()][round] = lab.window(kind, changes);
                }
            }
            double alone = Numbers.median(rates[0]);
            for (Kind kind : Kind.values()) {
                double rate = Numbers.median(rates[kind.ordinal()]);
                rows.row("%s | %.1f | %.3f | %,.1f", kind.text, rate, rate / alone, changes[kind.ordinal()]);
                plot.add("look-ups", rate);
                names.add(kind.text);
                if (kind == Kind.READ) {
                    section.find("look-ups during " + kind.text, "–", "%.1f %% fewer", 100 - 100 * rate / alone);
                } else if (kind != Kind.NOTHING) {
                    section.find(
                            "look-ups during " + kind.text,
                            "at most 10 % fewer",
                            "%.1f %% fewer%s",
                            100 - 100 * rate / alone,
                            FibTable.verdict(rate >= 0.9 * alone));
                }
            }
        } finally {
            Files.delete(file);
            table.table.replace(table.routes());
        }
        section.table(rows).plot("", Plot.bars("Look-ups meanwhile", "million a second", names, plot));
    }

    private void read() {
        int at = 0;
        for (int i = 0; i < 1 << 16; i++) {
            at = (int) (other[at] + i * 0x9E37_79B9L) & other.length - 1;
        }
        other[0] = at & 1;
    }

    /** Returns million look-ups a second. */
    private double window(Kind kind, double[] changes) {
        AtomicBoolean isOver = new AtomicBoolean();
        long[] count = new long[1];
        Thread changer = new Thread(() -> {
            while (kind != Kind.NOTHING && !isOver.get()) {
                if (kind == Kind.LOAD) {
                    FibLoad.load(table, file, table.table);
                } else if (kind == Kind.READ) {
                    read();
                } else {
                    Prefix prefix = table.anyPrefix();
                    table.table.remove(prefix);
                    table.table.add(new Route(prefix, table.anyHop()));
                }
                count[0] += 2;
                LockSupport.parkNanos(2 * kind.pauseNs);
            }
        });
        changer.start();
        long start = FibTable.processorNs();
        long wall = System.nanoTime();
        long lookups = 0;
        char[] hops = new char[BATCH];
        int[] addresses = new int[BATCH];
        long[] highs = new long[BATCH];
        for (int at = 0; System.nanoTime() - wall < WINDOW_NS; at = (at + BATCH) % FibTable.KEYS) {
            Fib fib = table.table.fib();
            System.arraycopy(keys4, at, addresses, 0, BATCH);
            System.arraycopy(keys6, at, highs, 0, BATCH);
            fib.lookup4(addresses, hops, BATCH);
            fib.lookup6(highs, highs, hops, BATCH);
            lookups += 2 * BATCH;
        }
        double rate = lookups * 1e3 / (FibTable.processorNs() - start);
        double seconds = (System.nanoTime() - wall) / 1e9;
        isOver.set(true);
        try {
            changer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        changes[kind.ordinal()] = kind == Kind.LOAD || kind == Kind.READ ? 0 : count[0] / seconds;
        return rate;
    }
}
