package org.tamanoir.benchmarks;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.routing.MrtUpdates;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFileException;

/** Changes from a file of BGP updates (MRT), one behind the other into the full table. */
final class FibUpdates implements MrtUpdates.Changes {
    private final FibTable table;
    private double[] us = new double[1 << 16];
    private int count;

    private FibUpdates(FibTable table) {
        this.table = table;
    }

    static void run(FibTable table, Section section) throws IOException {
        if (table.updates != null) {
            new FibUpdates(table).replay(table.updates, section);
            return;
        }
        Path file = Files.createTempFile("tamanoir-fib", ".gz");
        try {
            try (OutputStream out = Routes.out(file)) {
                new UpdateWriter(table.ipv4, table.ipv6, 1).write(out, table.changes);
            }
            new FibUpdates(table).replay(file, section);
        } finally {
            Files.delete(file);
        }
    }

    private void replay(Path file, Section section) throws IOException {
        section.say("Each prefix that is announced or withdrawn is one change, made as soon as it is read.");
        long start = FibTable.processorNs();
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            MrtUpdates.read(in, file.toString(), Arrays.asList(table.hops).subList(1, table.hops.length), this);
        } catch (RouteFileException e) {
            throw new IOException(e);
        }
        double seconds = (FibTable.processorNs() - start) / 1e9;
        table.table.replace(table.routes());
        if (count == 0) {
            throw new IOException(file + ": no changes in it; 'routes --updates' writes some");
        }
        double[] sorted = Arrays.copyOf(us, count);
        Arrays.sort(sorted);
        section.find("changes a second, reading them included", "–", "%,.0f", count / seconds)
                .find("a change, p50", "–", "%.1f µs", FibChanges.at(sorted, 50))
                .find("a change, p99", "–", "%.1f µs", FibChanges.at(sorted, 99));
        Rows rows = new Rows("changes | s | p50, µs | p99 | p99.9 | most");
        rows.row(
                "%,d | %.2f | %.1f | %.1f | %.0f | %,.0f",
                count,
                seconds,
                FibChanges.at(sorted, 50),
                FibChanges.at(sorted, 99),
                FibChanges.at(sorted, 99.9),
                sorted[count - 1]);
        section.table(rows);
    }

    @Override
    public void announced(Prefix prefix, NextHop nextHop) {
        long start = FibTable.processorNs();
        table.table.add(new Route(prefix, nextHop));
        took(start);
    }

    @Override
    public void withdrawn(Prefix prefix) {
        long start = FibTable.processorNs();
        table.table.remove(prefix);
        took(start);
    }

    private void took(long startNs) {
        double taken = (FibTable.processorNs() - startNs) / 1e3;
        if (count == us.length) {
            us = Arrays.copyOf(us, 2 * count);
        }
        us[count++] = taken;
    }
}
