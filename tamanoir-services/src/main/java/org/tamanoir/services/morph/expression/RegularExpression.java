package org.tamanoir.services.morph.expression;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.regex.Matcher;

/** Compiles regular expressions of RE2, whose time is linear in the text, within a bound on their size. */
final class RegularExpression {
    /** Of the compiled program. */
    private static final int INSTRUCTIONS = 1_000;

    /** Instructions that a pattern might unfold into while it is compiled, all its counts multiplied. */
    private static final long UNFOLDED = 500_000;

    private static final java.util.regex.Pattern COUNT = java.util.regex.Pattern.compile("\\{(\\d+)(?:,(\\d*))?}");

    private RegularExpression() {}

    /** @throws IllegalArgumentException what is wrong with it */
    static Pattern compile(String pattern) {
        long unfolded = Math.max(1, pattern.length());
        Matcher count = COUNT.matcher(pattern);
        while (count.find() && unfolded <= UNFOLDED) {
            unfolded *= Math.max(1, Math.max(count(count.group(1)), count(count.group(2))));
        }
        if (unfolded > UNFOLDED) {
            throw new IllegalArgumentException("regular expression with counts that multiply to more than " + UNFOLDED
                    + " instructions: use smaller counts of repetition");
        }
        try {
            Pattern compiled = Pattern.compile(pattern);
            if (compiled.programSize() > INSTRUCTIONS) {
                throw new IllegalArgumentException("regular expression of " + compiled.programSize()
                        + " instructions, at most " + INSTRUCTIONS + ": use smaller counts of repetition");
            }
            return compiled;
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "no regular expression of RE2: " + e.getDescription() + " '" + e.getPattern() + "'", e);
        }
    }

    private static long count(@org.jspecify.annotations.Nullable String digits) {
        return digits == null || digits.isEmpty()
                ? 1
                : Long.parseLong(digits.substring(0, Math.min(6, digits.length())));
    }
}
