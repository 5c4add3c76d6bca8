package org.tamanoir.qdisc;

import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The options of a built-in discipline, read and checked. */
final class Options {
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,18})(ns|us|ms|s)");

    private final String discipline;
    private final Map<String, String> values;

    /**
     * @param discipline its name, for errors
     * @param known names of all its options
     * @throws IllegalArgumentException in one line, if there is another
     */
    Options(String discipline, Map<String, String> values, String... known) {
        this.discipline = discipline;
        this.values = values;
        SortedSet<String> unknown = new TreeSet<>(values.keySet());
        for (String name : known) {
            unknown.remove(name);
        }
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("option '" + unknown.first() + "': discipline " + discipline
                    + (known.length == 0 ? " has none" : " knows " + String.join(", ", known)));
        }
    }

    /** A whole number. */
    long number(String name, long otherwise, long min, long max) {
        String text = values.get(name);
        if (text == null) {
            return otherwise;
        }
        if (NUMBER.matcher(text).matches()) {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return value;
            }
        }
        throw refused(name, text, "a whole number from " + min + " to " + max);
    }

    /** A time in nanoseconds, written as a whole number and one of the units ns, us, ms, s. */
    long durationNs(String name, long otherwiseNs, long minNs, long maxNs) {
        String text = values.get(name);
        if (text == null) {
            return otherwiseNs;
        }
        Matcher duration = DURATION.matcher(text);
        if (duration.matches()) {
            long valueNs = nanoseconds(Long.parseLong(duration.group(1)), duration.group(2));
            if (valueNs >= minNs && valueNs <= maxNs) {
                return valueNs;
            }
        }
        throw refused(name, text, "a time from " + shown(minNs) + " to " + shown(maxNs) + ", such as 5ms");
    }

    private static long nanoseconds(long value, @Nullable String unit) {
        long unitNs = "s".equals(unit) ? 1_000_000_000 : "ms".equals(unit) ? 1_000_000 : "us".equals(unit) ? 1_000 : 1;
        return value > Long.MAX_VALUE / unitNs ? Long.MAX_VALUE : value * unitNs;
    }

    private static String shown(long ns) {
        return ns % 1_000_000_000 == 0
                ? ns / 1_000_000_000 + "s"
                : ns % 1_000_000 == 0 ? ns / 1_000_000 + "ms" : ns % 1_000 == 0 ? ns / 1_000 + "us" : ns + "ns";
    }

    private IllegalArgumentException refused(String name, String text, String must) {
        return new IllegalArgumentException(
                "option " + name + " of discipline " + discipline + " is '" + text + "': must be " + must);
    }
}
