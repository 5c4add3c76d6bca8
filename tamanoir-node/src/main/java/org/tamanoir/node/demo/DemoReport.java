package org.tamanoir.node.demo;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.load.Rates;

/**
 * What the demo has shown.
 *
 * @param equal of all phases, and no packet of a node is unaccounted for
 */
record DemoReport(
        String file,
        long bytes,
        String sha256,
        List<DemoPhase.Result> phases,
        Map<String, Object> firstNode,
        Map<String, Object> secondNode,
        boolean equal) {
    private static final int LABEL_WIDTH = 24;
    private static final int COLUMN_WIDTH = 18;

    /** A column for each phase. */
    static void table(List<DemoPhase.Result> phases, Output output) {
        row(output, phases, "", DemoPhase.Result::name);
        row(output, phases, "packets", phase -> Rates.count(phase.packets()));
        row(output, phases, "bytes", phase -> Rates.count(phase.bytes()));
        row(output, phases, "seconds", phase -> decimals(phase.seconds()));
        row(output, phases, "MB/s", phase -> decimals(phase.megabytesPerSecond()));
        row(output, phases, "first node in/out", phase -> inOut(phase.firstNodeIn(), phase.firstNodeOut()));
        row(output, phases, "second node in/out", phase -> inOut(phase.secondNodeIn(), phase.secondNodeOut()));
        row(output, phases, "dropped", phase -> Rates.count(phase.dropped()));
        row(output, phases, "lost", phase -> Rates.count(phase.lost()));
        row(output, phases, "compression on the link", phase -> decimals(phase.linkRatio()));
        row(output, phases, "bytes equal", phase -> equal(phase));
    }

    private static void row(
            Output output, List<DemoPhase.Result> phases, String label, Function<DemoPhase.Result, String> cell) {
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-" + LABEL_WIDTH + "s", label));
        for (DemoPhase.Result phase : phases) {
            line.append(String.format(Locale.ROOT, "%" + COLUMN_WIDTH + "s", cell.apply(phase)));
        }
        output.line(line.toString());
    }

    static String equal(DemoPhase.Result phase) {
        return !phase.bytesEqual() ? "NO" : phase.lost() > 0 ? "yes, but for lost" : "yes";
    }

    private static String inOut(long in, long out) {
        return Rates.count(in) + "/" + Rates.count(out);
    }

    private static String decimals(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
