package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.tamanoir.benchmarks.CpuTime;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;

/** What expressions, handlers, and other formats cost for a message, by JMH. */
final class HandlerFigures {
    private static final String CLASSES = "\\.(Expression|Handler|Format|FormatPeers|Message)Benchmark\\.";

    private HandlerFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Benchmarks of JMH, one fork, 3 s to warm up, %d iterations of 1 s: wall time and processor time of the thread, "
                        + "and what is allocated.",
                2 * settings.rounds() - 1);
        Map<String, double[]> all = measure(settings);
        Rows table = new Rows("benchmark | ns | processor time, ns | allocated, bytes");
        Rows csv = new Rows("benchmark,ns,cpu ns,bytes");
        all.forEach((name, row) -> {
            table.row("%s | %,.1f | %,.1f | %,.0f", name, row[0], row[1], row[2]);
            csv.row("%s,%.2f,%.2f,%.1f", name, row[0], row[1], row[2]);
        });
        section.table(table).csv("", csv);
    }

    /** Returns score, processor time and bytes allocated by name. */
    private static Map<String, double[]> measure(Settings settings) throws IOException {
        Map<String, double[]> all = new LinkedHashMap<>();
        try {
            for (RunResult result : new Runner(new OptionsBuilder()
                            .include(CLASSES)
                            .forks(1)
                            .warmupIterations(3)
                            .warmupTime(TimeValue.seconds(1))
                            .measurementIterations(2 * settings.rounds() - 1)
                            .measurementTime(TimeValue.seconds(1))
                            .addProfiler(GCProfiler.class)
                            .addProfiler(CpuTime.class)
                            .verbosity(VerboseMode.SILENT)
                            .build())
                    .run()) {
                String name = result.getParams().getBenchmark().replaceAll(".*\\.(\\w+\\.\\w+)$", "$1");
                all.put(name, new double[] {
                    result.getPrimaryResult().getScore(), secondary(result, "cpu"), secondary(result, "alloc.rate.norm")
                });
            }
        } catch (RunnerException e) {
            throw new IOException("JMH: " + e.getMessage(), e);
        }
        return all;
    }

    private static double secondary(RunResult result, String end) {
        for (String name : result.getSecondaryResults().keySet()) {
            if (name.endsWith(end)) {
                return result.getSecondaryResults().get(name).getScore();
            }
        }
        return Double.NaN;
    }
}
