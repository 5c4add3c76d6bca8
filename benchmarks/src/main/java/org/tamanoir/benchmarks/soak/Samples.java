package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Series;

/** The samples of a run: one a second or more, every second one left out when there are too many. One thread. */
final class Samples {
    private static final int MAX_SAMPLES = 1 << 13;
    private static final double MEGA = 1e6;

    private final List<Sample> all = new ArrayList<>();

    void add(Sample sample) {
        all.add(sample);
        if (all.size() == MAX_SAMPLES) {
            for (int i = 0; i < all.size(); i++) {
                all.remove(i);
            }
        }
    }

    double most(ToDoubleFunction<Sample> figure) {
        return all.stream().mapToDouble(figure).max().orElse(0);
    }

    /** Writes plots and data. */
    void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        List<String> lines = new ArrayList<>(List.of(Sample.HEAD));
        all.forEach(sample -> lines.add(sample.csv()));
        Files.write(folder.resolve("soak.csv"), lines);
        if (all.size() < 2) {
            return;
        }
        Map<String, ToDoubleFunction<Sample>> memory = new LinkedHashMap<>();
        memory.put("resident", sample -> sample.residentBytes() / MEGA);
        memory.put("heap", sample -> sample.heapBytes() / MEGA);
        memory.put("direct", sample -> sample.directBytes() / MEGA);
        plot(folder, "memory", "Memory of the node", "MB", memory);
        Map<String, ToDoubleFunction<Sample>> counts = new LinkedHashMap<>();
        counts.put("descriptors", Sample::descriptors);
        counts.put("threads", Sample::threads);
        counts.put("streams", Sample::streams);
        plot(folder, "threads", "Threads, descriptors, streams", "", counts);
        plot(folder, "held", "Packets held", "packets", Map.of("held", Sample::held));
        rate(folder);
    }

    private void plot(
            Path folder, String name, String title, String axis, Map<String, ToDoubleFunction<Sample>> figures)
            throws IOException {
        Series series = new Series();
        figures.forEach((label, figure) -> all.forEach(sample -> series.add(label, figure.applyAsDouble(sample))));
        Files.write(folder.resolve(name + ".png"), Plot.lines(title, "seconds", axis, seconds(0), series));
    }

    private List<Double> seconds(int from) {
        return all.stream().skip(from).map(Sample::second).toList();
    }

    private void rate(Path folder) throws IOException {
        Series rates = new Series();
        for (int i = 1; i < all.size(); i++) {
            Sample from = all.get(i - 1);
            Sample to = all.get(i);
            double seconds = Math.max(0.001, to.second() - from.second());
            rates.add("verified", Math.max(0, to.verifiedBytes() - from.verifiedBytes()) / seconds / MEGA);
        }
        byte[] plot = Plot.lines("Bytes verified at the far ends", "seconds", "MB/s", seconds(1), rates);
        Files.write(folder.resolve("rate.png"), plot);
    }
}
