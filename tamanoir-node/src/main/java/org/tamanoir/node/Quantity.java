package org.tamanoir.node;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers with units: {@code 500ms}, {@code 10s}, {@code 64KiB}. Every method throws
 * {@link IllegalArgumentException} with the value, what is allowed and, where it helps, the remedy.
 */
final class Quantity {
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,18})\\s*([A-Za-z]*)");
    private static final Map<String, Long> MILLIS =
            Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "min", 60_000L, "h", 3_600_000L);
    private static final Map<String, Long> OCTETS = Map.of(
            "", 1L,
            "k", 1L << 10,
            "K", 1L << 10,
            "KiB", 1L << 10,
            "M", 1L << 20,
            "MiB", 1L << 20,
            "G", 1L << 30,
            "GiB", 1L << 30);

    private Quantity() {}

    /** A duration from {@code min} to {@code max}: a whole number with ms, s, m or h. */
    static Duration duration(String text, Duration min, Duration max) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        Long unit = matcher.matches() ? MILLIS.get(matcher.group(2)) : null;
        if (unit == null) {
            String remedy = text.matches("\\d+") ? "; add the unit, as in " + text + "s" : "";
            throw new IllegalArgumentException(
                    "'" + text + "' is no duration: a whole number with ms, s, m or h is wanted" + remedy);
        }
        long millis = multiply(text, matcher.group(1), unit);
        if (millis < min.toMillis() || millis > max.toMillis()) {
            throw new IllegalArgumentException(
                    text + " is out of bounds: " + toString(min) + " to " + toString(max) + " are allowed");
        }
        return Duration.ofMillis(millis);
    }

    /** A number of octets from {@code min} to {@code max}: k, KiB, M, MiB, G and GiB are powers of 1024. */
    static long octets(String text, long min, long max) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        Long unit = matcher.matches() ? OCTETS.get(matcher.group(2)) : null;
        if (unit == null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no size: a whole number of octets, or one with KiB, MiB or GiB is wanted");
        }
        long octets = multiply(text, matcher.group(1), unit);
        if (octets < min || octets > max) {
            throw new IllegalArgumentException(
                    text + " is out of bounds: " + toString(min) + " to " + toString(max) + " are allowed");
        }
        return octets;
    }

    /** A whole number from {@code min} to {@code max}, decimal or with 0x. */
    static int number(String text, int min, int max) {
        try {
            long number = text.startsWith("0x") || text.startsWith("0X")
                    ? Long.parseLong(text.substring(2), 16)
                    : Long.parseLong(text);
            if (number >= min && number <= max) {
                return (int) number;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no whole number: one from " + min + " to " + max + " is wanted", e);
        }
        throw new IllegalArgumentException(text + " is out of bounds: " + min + " to " + max + " are allowed");
    }

    /** The shortest text with one unit that {@link #duration} reads as this. */
    static String toString(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 3_600_000 == 0 && millis > 0) {
            return millis / 3_600_000 + "h";
        } else if (millis % 60_000 == 0 && millis > 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
    }

    /** The shortest text with one unit that {@link #octets} reads as this. */
    static String toString(long octets) {
        if (octets > 0 && octets % (1 << 30) == 0) {
            return (octets >> 30) + "GiB";
        } else if (octets > 0 && octets % (1 << 20) == 0) {
            return (octets >> 20) + "MiB";
        }
        return octets > 0 && octets % (1 << 10) == 0 ? (octets >> 10) + "KiB" : octets + " octets";
    }

    private static long multiply(String text, String number, long unit) {
        try {
            return Math.multiplyExact(Long.parseLong(number), unit);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(text + " is out of bounds: it does not fit 64 bits", e);
        }
    }
}
