package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** Figure 3: six chains of two handlers, as they are written and as the node orders them. */
final class OrderFigures {
    private static final int RECORDS = 512;

    /** A chain; its handlers are a, then b. */
    private record Order(String name, String formats, String first, String second) {}

    private static final List<Order> ORDERS = List.of(
            new Order(
                    "strong reduction, reformat",
                    "foreign_strong.ffs",
                    "{select: " + Flights.STRONG_FIELDS,
                    "{translate: foreign_strong"),
            new Order(
                    "weak reduction, reformat",
                    "foreign_weak.ffs",
                    "{select: " + Flights.WEAK_FIELDS,
                    "{translate: foreign_weak"),
            new Order(
                    "reformat, strong reduction",
                    "foreign.ffs",
                    "{translate: foreign",
                    "{select: " + Flights.STRONG_FIELDS),
            new Order(
                    "reformat, weak reduction",
                    "foreign.ffs",
                    "{translate: foreign",
                    "{select: " + Flights.WEAK_FIELDS),
            new Order("reformat, discard 90 %", "foreign.ffs", "{translate: foreign", "{filter: 'id % 10 == 0'"),
            new Order("reformat, discard 10 %", "foreign.ffs", "{translate: foreign", "{filter: 'id % 10 != 0'"));

    private OrderFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        List<ByteBuffer> records = List.of(PlanRun.direct(new Flights(1).records(Flights.FLIGHT, RECORDS)));
        section.say(
                "%d flights of %,d to %,d bytes in turns through two handlers in one context; processor time of the thread, "
                        + "median of rounds of %,d flights. As written (reorder: false), and as the node orders them. The strong "
                        + "reduction leaves three numbers of a flight, the weak one all but two strings.",
                RECORDS,
                records.stream().mapToInt(ByteBuffer::capacity).min().orElse(0),
                records.stream().mapToInt(ByteBuffer::capacity).max().orElse(0),
                settings.records());
        Path folder = Files.createTempDirectory("tamanoir-morph-");
        Flights.write(folder);
        Rows table =
                new Rows("written | as written, ns/flight | ordered by the node, ns/flight | bytes out of bytes in");
        Rows csv = new Rows("written,as written ns,ordered ns,share of bytes");
        Series plot = new Series();
        List<String> names = new ArrayList<>();
        double[] least = new double[2];
        for (Order order : ORDERS) {
            long[] bytes = new long[1];
            double off = ns(settings, folder, order, false, records, bytes);
            double on = ns(settings, folder, order, true, records, bytes);
            double in =
                    records.stream().mapToInt(ByteBuffer::capacity).average().orElse(1);
            double share = bytes[0] / in;
            table.row("%s | %.0f | %.0f | %.2f", order.name, off, on, share);
            csv.row("\"%s\",%.1f,%.1f,%.3f", order.name, off, on, share);
            plot.add("as written", off).add("ordered by the node", on);
            names.add(String.valueOf(names.size() + 1));
            if (order.name.endsWith("90 %")) {
                least[0] = off;
                least[1] = on;
            }
        }
        section.find(
                "reformat, then discard 90 %: as written to ordered by the node",
                "filters first by itself", "%.0f to %.0f ns, %.1f times", least[0], least[1], least[0] / least[1]);
        section.table(table).csv("", csv).plot("", Plot.bars("Six orders, as in the table", "ns/flight", names, plot));
    }

    private static double ns(
            Settings settings, Path folder, Order order, boolean reorder, List<ByteBuffer> records, long[] bytes)
            throws IOException {
        Path plan = Files.writeString(
                folder.resolve("order.yaml"),
                "formats: [flight.ffs, %s]\nreorder: %b\nhandlers:\n  a: %s, then: b}\n  b: %s, then: out}\npaths: [{enter: a}]\n"
                        .formatted(order.formats, reorder, order.first, order.second));
        long[] left = new long[2];
        ByteBuffer[] all = records.toArray(ByteBuffer[]::new);
        try (PlanRun run = new PlanRun(plan, record -> left[0] += record.length())) {
            double ns = Costs.ns(settings, index -> {
                left[1]++;
                run.handle(Flights.FLIGHT, all[index % all.length]);
            });
            bytes[0] = left[0] / left[1];
            Map<String, Object> view = run.view();
            if (run.left == 0) {
                throw new IOException(order.name + ": nothing leaves: " + view);
            }
            return ns;
        }
    }
}
