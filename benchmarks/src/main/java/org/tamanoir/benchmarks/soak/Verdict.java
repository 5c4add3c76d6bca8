package org.tamanoir.benchmarks.soak;

import java.util.ArrayList;
import java.util.List;

/** The checks at the end, in order; each holds or does not. One thread. */
final class Verdict {
    private final List<String> lines = new ArrayList<>();
    private int failures;

    /** Adds a check. */
    Verdict check(boolean holds, String what, String seen) {
        lines.add((holds ? "ok      " : "FAILED  ") + what + ": " + seen);
        failures += holds ? 0 : 1;
        return this;
    }

    /** Adds a check that a figure is back: no more than before and an allowance. */
    Verdict back(String what, double before, double after, double allowance, double unit) {
        return check(
                after <= before + allowance,
                what,
                "%.0f after the warm-up, %.0f at the end, %.0f more allowed"
                        .formatted(before / unit, after / unit, allowance / unit));
    }

    /** Adds a line that is no check. */
    Verdict note(String line) {
        lines.add("        " + line);
        return this;
    }

    boolean holds() {
        return failures == 0;
    }

    List<String> lines() {
        return lines;
    }
}
