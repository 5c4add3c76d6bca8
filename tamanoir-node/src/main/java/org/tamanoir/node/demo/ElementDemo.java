package org.tamanoir.node.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.load.Rates;

/** Shows a distributed element: one stream over three nodes of which one is killed, by each way to keep order. */
final class ElementDemo {
    private ElementDemo() {}

    /** What the demo has shown. */
    private record Report(List<ElementPhase.Result> phases, boolean right) {}

    /**
     * Runs all phases.
     *
     * @param main the program's main class
     * @param png where the histogram goes as an image; null = nowhere
     * @return whether all was right
     */
    static boolean run(String main, @Nullable Path png, Output output) throws IOException {
        ReorderHistogram histogram = new ReorderHistogram();
        List<ElementPhase.Result> results = new ArrayList<>();
        output.line("one stream of " + Rates.count(ElementPhase.PACKETS)
                + " datagrams over three nodes with Monitor, of " + "which unit 2 is killed half-way");
        for (ElementPhase phase : ElementPhase.values()) {
            ElementPhase.Result result = phase.run(main, histogram);
            results.add(result);
            output.line(line(result));
        }
        output.line("");
        output.line("steps between numbers of datagrams in order of arrival; 1 = in order, below 0 = too late");
        histogram.show(output);
        if (png != null) {
            histogram.write(png);
            output.line("");
            output.line("histogram: " + png);
        }
        boolean right = results.stream().allMatch(ElementPhase.Result::right);
        output.json(new Report(results, right));
        return right;
    }

    private static String line(ElementPhase.Result result) {
        return String.format(
                Locale.ROOT,
                "%-6s%s arrived, %s lost; unit 2 %s; %s steps back, the longest %d; bytes equal: %s%s",
                result.order() + ":",
                Rates.count(result.arrived()),
                Rates.count(result.lost()),
                result.missedAfterMs() < 0 ? "not missed" : "missed after " + result.missedAfterMs() + " ms",
                Rates.count(result.stepsBack()),
                result.longestStepBack(),
                result.wrong() == 0 ? "yes" : "NO",
                result.right() ? "" : "; NOT as it must be");
    }
}
