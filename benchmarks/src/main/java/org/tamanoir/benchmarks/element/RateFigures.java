package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.cluster.element.ElementModel.Mode;
import org.tamanoir.cluster.element.ElementModel.Run;

/** Figures 7 and 8: loss and jitter against the rate of the stream. */
final class RateFigures {
    /** From which on loss is of note, in percent. */
    private static final double LOSS_OF_NOTE = 1;

    private RateFigures() {}

    /** Figure 7: without synchronisation, one unit and more. */
    static void figure7(Settings settings, Section section) throws IOException {
        Runs runs = settings.runs();
        section.find(
                "one unit: least rate with a loss of more than 1 %",
                "above 600 Mb/s",
                "%,d Mb/s",
                Runs.RATES.stream()
                        .filter(rate -> runs.of(Mode.NONE, 1, rate).lossPercent() > LOSS_OF_NOTE)
                        .findFirst()
                        .orElse(0));
        figure(runs, section, Mode.NONE, 1);
    }

    /** Figure 8: with the Fast Circulating Token. */
    static void figure8(Settings settings, Section section) throws IOException {
        Runs runs = settings.runs();
        figure(runs, section, Mode.FCT, 2);
        int last = Runs.RATES.get(Runs.RATES.size() - 1);
        section.find(
                "1,000 Mb/s, from two units to six: jitter NONE; FCT",
                "grows; grows less (at all rates)",
                "%.1f to %.1f µs; %.1f to %.1f µs",
                runs.of(Mode.NONE, 2, last).jitterUs(),
                runs.of(Mode.NONE, 6, last).jitterUs(),
                runs.of(Mode.FCT, 2, last).jitterUs(),
                runs.of(Mode.FCT, 6, last).jitterUs());
    }

    private static void figure(Runs runs, Section section, Mode mode, int fewest) throws IOException {
        int last = Runs.RATES.get(Runs.RATES.size() - 1);
        double loss = 0;
        Rows csv = new Rows("n,mbit,loss percent,jitter us");
        for (int units = fewest; units <= Runs.MOST_UNITS; units++) {
            for (int rate : Runs.RATES) {
                Run run = runs.of(mode, units, rate);
                csv.row("%d,%d,%.3f,%.2f", units, rate, run.lossPercent(), run.jitterUs());
                loss = Math.max(loss, units == 1 ? 0 : run.lossPercent());
            }
        }
        section.find("two units and more: most loss at any rate", "none of note up to 1 Gb/s", "%.2f %%", loss);
        section.find(
                "two units: jitter at 100 Mb/s; at 1,000 Mb/s",
                "≈ 300 µs; below 100 µs",
                "%.1f µs; %.1f µs",
                runs.of(mode, 2, Runs.RATES.get(0)).jitterUs(),
                runs.of(mode, 2, last).jitterUs());
        section.plot("-loss", plot(runs, mode, fewest, "Loss, " + mode, "%", Run::lossPercent));
        section.plot("-jitter", plot(runs, mode, fewest, "Jitter, " + mode, "µs", Run::jitterUs));
        section.csv("", csv);
    }

    private static byte[] plot(Runs runs, Mode mode, int fewest, String title, String axis, ToDoubleFunction<Run> value)
            throws IOException {
        Series series = new Series();
        for (int units = fewest; units <= Runs.MOST_UNITS; units++) {
            int n = units;
            List<Double> values = Runs.RATES.stream()
                    .map(rate -> value.applyAsDouble(runs.of(mode, n, rate)))
                    .toList();
            series.add(n == 1 ? "1 unit" : n + " units", values);
        }
        return Plot.lines(title, "Mb/s", axis, Runs.RATES, series);
    }
}
