package org.tamanoir.services.morph;

import org.tamanoir.format.FormatException;
import org.tamanoir.services.morph.expression.EvaluationException;

/** Names for what handlers throw. */
final class Failures {
    private static final int MAX_TEXT = 300;

    private Failures() {}

    /** Returns a reason that is the same for the same cause. */
    static String reason(Throwable e) {
        if (e instanceof EmitLimitException) {
            return EmitLimitException.REASON;
        }
        if (e instanceof EvaluationException failed) {
            return failed.reason();
        }
        if (e instanceof FormatException damaged) {
            return "RECORD_" + damaged.fault();
        }
        return e.getClass().getSimpleName();
    }

    /** Returns one line, without asking an object of unknown code more than its message. */
    static String text(Throwable e) {
        String text;
        try {
            text = String.valueOf(e.getMessage());
        } catch (RuntimeException failing) {
            text = "no message";
        }
        String line = e.getClass().getSimpleName() + ": " + text.replaceAll("\\s+", " ");
        return line.length() <= MAX_TEXT ? line : line.substring(0, MAX_TEXT);
    }
}
