package org.tamanoir.node.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Numbers in a row as users write them: one, or the first and the last with a hyphen between them. */
record Range(long first, long last) {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,18})(?:\\s*-\\s*(\\d{1,18}))?");

    static Range parse(String text, long max) {
        Matcher matcher = TEXT.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no number and no range: one from 0 to " + max + ", or two as in 4-7, is wanted");
        }
        long first = Long.parseLong(matcher.group(1));
        @Nullable String second = matcher.group(2);
        long last = second == null ? first : Long.parseLong(second);
        if (first > max || last > max) {
            throw new IllegalArgumentException(text + " is out of bounds: 0 to " + max + " are allowed");
        }
        if (first > last) {
            throw new IllegalArgumentException(text + " is an empty range: write " + last + "-" + first);
        }
        return new Range(first, last);
    }

    @Override
    public String toString() {
        return first == last ? Long.toString(first) : first + "-" + last;
    }
}
