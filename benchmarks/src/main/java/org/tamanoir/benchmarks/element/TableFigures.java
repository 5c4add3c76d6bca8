package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.cluster.element.ElementModel.Mode;
import org.tamanoir.cluster.element.Reordering;

/** Tables 2 to 4: how far packets are out of order without tokens, with them, and in exact order. */
final class TableFigures {
    /** A row of the paper and our runs with as many units at the same rate. */
    private record Row(PaperRow paper, Reordering none, Reordering fct, Reordering exact, double lossPercent) {
        double hRatio() {
            return ratio(fct.hMinus(), none.hMinus());
        }

        double nRatio() {
            return ratio(fct.nMinus(), none.nMinus());
        }
    }

    private TableFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        Runs runs = settings.runs();
        section.say(
                "min{j}, H⁻ and N⁻: the longest step back, the sum of all, and how many there are. In virtual time, %,d "
                        + "packets of 1,472 bytes in each run, seed %d; the same pauses and times in all modes. How many "
                        + "packets a run of the paper had is not printed, so sums compare as ratios FCT/NONE.",
                runs.packets(), runs.seed());
        List<Row> rows = rows(runs);
        Rows table = new Rows("n | Mb/s | paper NONE | paper FCT | paper H⁻ ratio, N⁻ ratio | NONE | FCT | EXACT | "
                + "H⁻ ratio, N⁻ ratio");
        Rows csv = new Rows("n,mbit,paper none min,paper none H-,paper none N-,paper fct min,paper fct H-,paper fct N-,"
                + "none min,none H-,none N-,fct min,fct H-,fct N-,exact N-,fct loss percent");
        for (Row row : rows) {
            PaperRow paper = row.paper;
            table.row(
                    "%d | %,d | %s | %s | %s, %s | %s | %s | %s | %s, %s",
                    paper.n(),
                    paper.mbit(),
                    text(paper.none()),
                    text(paper.fct()),
                    number(paper.hRatio()),
                    number(paper.nRatio()),
                    text(measures(row.none)),
                    text(measures(row.fct)),
                    text(measures(row.exact)),
                    number(row.hRatio()),
                    number(row.nRatio()));
            csv.row(
                    "%d,%d,%s,%s,%s,%s,%d,%.2f",
                    paper.n(),
                    paper.mbit(),
                    comma(paper.none()),
                    comma(paper.fct()),
                    comma(measures(row.none)),
                    comma(measures(row.fct)),
                    row.exact.nMinus(),
                    row.lossPercent);
        }
        for (int units = 2; units <= Runs.MOST_UNITS; units++) {
            int n = units;
            find(section, n, rows.stream().filter(row -> row.paper.n() == n).toList());
        }
        section.find(
                "EXACT: steps back, over all runs",
                "0 asked",
                "%d",
                rows.stream().mapToLong(row -> row.exact.nMinus()).sum());
        section.table(table).csv("", csv);
        plot(section, rows);
    }

    private static List<Row> rows(Runs runs) throws IOException {
        List<Row> rows = new ArrayList<>();
        for (PaperRow paper : PaperRow.all()) {
            rows.add(new Row(
                    paper,
                    runs.of(Mode.NONE, paper.n(), paper.mbit()).order(),
                    runs.of(Mode.FCT, paper.n(), paper.mbit()).order(),
                    runs.of(Mode.EXACT, paper.n(), paper.mbit()).order(),
                    runs.of(Mode.FCT, paper.n(), paper.mbit()).lossPercent()));
        }
        return rows;
    }

    private static void find(Section section, int units, List<Row> rows) {
        section.find(
                "n = " + units + ", FCT: longest step back over all rates",
                least(rows, row -> row.paper.fct().get(0)) + "; " + (1 - 2 * units) + " asked",
                "%d",
                least(rows, row -> row.fct.min()));
        section.find(
                "n = " + units + ", NONE: the same; at the best rate",
                least(rows, row -> row.paper.none().get(0)) + "; "
                        + most(rows, row -> row.paper.none().get(0)),
                "%d; %d",
                least(rows, row -> row.none.min()),
                most(rows, row -> row.none.min()));
        section.find(
                "n = " + units + ", FCT/NONE of H⁻, of N⁻: median over rates",
                number(median(rows, row -> row.paper.hRatio())) + ", "
                        + number(median(rows, row -> row.paper.nRatio())),
                "%s, %s",
                number(median(rows, Row::hRatio)),
                number(median(rows, Row::nRatio)));
    }

    private static void plot(Section section, List<Row> rows) throws IOException {
        Series series = new Series();
        List<String> groups = new ArrayList<>();
        for (int units = 2; units <= Runs.MOST_UNITS; units++) {
            int n = units;
            List<Row> of = rows.stream().filter(row -> row.paper.n() == n).toList();
            groups.add(n + " units");
            series.add("NONE", -least(of, row -> row.none.min()));
            series.add("FCT", -least(of, row -> row.fct.min()));
            series.add("paper, NONE", -least(of, row -> row.paper.none().get(0)));
            series.add("paper, FCT", -least(of, row -> row.paper.fct().get(0)));
        }
        section.plot("", Plot.bars("Longest step back over all rates", "packets", groups, series));
    }

    private static long least(List<Row> rows, ToLongFunction<Row> value) {
        return rows.stream().mapToLong(value).min().orElse(0);
    }

    private static long most(List<Row> rows, ToLongFunction<Row> value) {
        return rows.stream().mapToLong(value).max().orElse(0);
    }

    private static double median(List<Row> rows, ToDoubleFunction<Row> value) {
        return Numbers.median(rows.stream().mapToDouble(value).toArray());
    }

    private static List<Long> measures(Reordering order) {
        return List.of(Math.min(0, order.min()), order.hMinus(), order.nMinus());
    }

    private static double ratio(long one, long other) {
        return other == 0 ? 0 : (double) one / other;
    }

    /** Returns a ratio with two digits that count. */
    private static String number(double ratio) {
        return String.format(Locale.ROOT, ratio < 0.1 ? "%.3f" : ratio < 10 ? "%.2f" : "%.0f", ratio);
    }

    private static String text(List<Long> measures) {
        return String.format(Locale.ROOT, "%d, %,d, %,d", measures.toArray());
    }

    private static String comma(List<Long> measures) {
        return String.format(Locale.ROOT, "%d,%d,%d", measures.toArray());
    }
}
