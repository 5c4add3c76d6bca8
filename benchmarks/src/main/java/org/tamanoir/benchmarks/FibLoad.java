package org.tamanoir.benchmarks;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.routing.RouteFile;
import org.tamanoir.routing.RouteFileException;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;

/** The table read from a dump in MRT that gzip has packed, and put in place of the one in force. */
final class FibLoad {
    private static final int LOADS = 4;

    private FibLoad() {}

    static void run(FibTable table, Section section) throws IOException {
        section.say(
                "A dump with one peer, packed by gzip, read and put in place of the table in force, as 'ctl routes load' does; "
                        + "processor time of the thread. The first load finds no code of the reader compiled.");
        Rows rows = new Rows("load | reading, s | making the look-ups, s");
        Path file = write(table);
        try {
            double first = 0;
            double best = Double.MAX_VALUE;
            for (int load = 0; load < LOADS; load++) {
                long start = FibTable.processorNs();
                RouteSet routes = read(table, file);
                long read = FibTable.processorNs();
                table.table.replace(routes);
                long made = FibTable.processorNs();
                rows.row("%d | %.2f | %.2f", load + 1, (read - start) / 1e9, (made - read) / 1e9);
                best = Math.min(best, (made - start) / 1e9);
                first = load == 0 ? best : first;
            }
            section.find(
                    "load of %,d routes in %,d bytes".formatted(table.table.size(), Files.size(file)),
                    "at most 3 s",
                    "%.2f s the first time, %.2f s the best%s",
                    first,
                    best,
                    FibTable.verdict(first <= 3));
        } finally {
            Files.delete(file);
            table.table.replace(table.routes());
        }
        section.table(rows);
    }

    static Path write(FibTable table) throws IOException {
        Path file = Files.createTempFile("tamanoir-fib", ".gz");
        try (OutputStream out = Routes.out(file)) {
            new MrtWriter(table.ipv4, table.ipv6).write(out);
        }
        return file;
    }

    private static RouteSet read(FibTable table, Path file) throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            return RouteFile.read(
                    in, file.toString(), Arrays.asList(table.hops).subList(1, table.hops.length), -1, line -> {
                        throw new IllegalArgumentException(line + ": no MRT");
                    });
        } catch (RouteFileException e) {
            throw new IOException(e);
        }
    }

    /** Loads a file into a table. */
    static void load(FibTable table, Path file, RoutingTable into) {
        try {
            into.replace(read(table, file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
