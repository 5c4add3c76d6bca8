package org.tamanoir.node.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tamanoir.format.text.Decimals;

/**
 * Numbers with units as people type them. Sizes of memory are binary ({@code 64k} = {@code 64KiB} = 65,536 bytes);
 * numbers of packets, and rates in packets or bits a second, are decimal ({@code 64k} = 64,000); times have a unit
 * ({@code 500ms}, {@code 10s}). Every method throws {@link IllegalArgumentException} with the value, what is allowed
 * and, where it helps, the remedy.
 */
public final class Quantity {
    /** Bytes that one thing may take of the memory that Java has: the rest needs some, too. */
    static final long HALF_OF_HEAP = Runtime.getRuntime().maxMemory() / 2;

    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,18})\\s*([A-Za-z]*)");

    private static final Map<String, Duration> UNITS = Map.of(
            "ns", Duration.ofNanos(1),
            "us", Duration.ofNanos(1_000),
            "ms", Duration.ofMillis(1),
            "s", Duration.ofSeconds(1),
            "m", Duration.ofMinutes(1),
            "min", Duration.ofMinutes(1),
            "h", Duration.ofHours(1));
    private static final Set<String> SHORT_UNITS = Set.of("ns", "us", "ms", "s");
    private static final Set<String> LONG_UNITS = Set.of("ms", "s", "m", "min", "h");
    /** So many hours are beyond any bound, and no overflow. */
    private static final long MOST_UNITS = 1L << 50;

    private static final Map<String, Long> BYTES = Map.of(
            "", 1L,
            "k", 1L << 10,
            "K", 1L << 10,
            "KiB", 1L << 10,
            "M", 1L << 20,
            "MiB", 1L << 20,
            "G", 1L << 30,
            "GiB", 1L << 30);

    private static final Pattern DECIMAL = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)([kMG]?)");
    private static final Map<String, Double> THOUSANDS = Map.of("", 1.0, "k", 1e3, "M", 1e6, "G", 1e9);

    private static final Pattern BYTE_RATE = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)\\s*(?:([kMG]?)(bit|B)/s)?");
    private static final BigDecimal BITS = BigDecimal.valueOf(8);
    private static final Map<String, Long> DECIMAL_PREFIXES =
            Map.of("", 1L, "k", 1_000L, "M", 1_000_000L, "G", 1_000_000_000L);

    private Quantity() {}

    /**
     * A rate in bytes a second from {@code min} to {@code max}: {@code 10Mbit/s}, {@code 1.25MB/s}, or a number of
     * bytes a second without a unit; k, M and G are powers of 1000. What is no whole number of bytes is rounded.
     */
    public static long byteRate(String text, long min, long max) {
        Matcher matcher = BYTE_RATE.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' is no rate: one as in 10Mbit/s or 1.25MB/s, or a number of bytes a second, is wanted");
        }
        BigDecimal rate = new BigDecimal(matcher.group(1));
        if (matcher.group(3) != null) {
            rate = rate.multiply(BigDecimal.valueOf(DECIMAL_PREFIXES.getOrDefault(matcher.group(2), 1L)));
            rate = matcher.group(3).equals("bit") ? rate.divide(BITS) : rate;
        }
        BigDecimal bytes = rate.setScale(0, RoundingMode.HALF_UP);
        if (bytes.compareTo(BigDecimal.valueOf(min)) < 0 || bytes.compareTo(BigDecimal.valueOf(max)) > 0) {
            throw new IllegalArgumentException(
                    text + " is out of bounds: " + rateText(min) + " to " + rateText(max) + " are allowed");
        }
        return bytes.longValueExact();
    }

    /** The shortest text that {@link #byteRate} reads as this. */
    public static String rateText(long bytes) {
        for (String prefix : new String[] {"G", "M", "k"}) {
            long unit = DECIMAL_PREFIXES.getOrDefault(prefix, 1L) / 8;
            if (bytes > 0 && bytes % unit == 0) {
                return bytes / unit + prefix + "bit/s";
            }
        }
        return bytes + "B/s";
    }

    /** A duration from {@code min} to {@code max}: a whole number with ns, us, ms or s. */
    static Duration shortDuration(String text, Duration min, Duration max) {
        return duration(text, SHORT_UNITS, "us, ms or s", "ms", min, max, Quantity::shortText);
    }

    private static Duration duration(
            String text,
            Set<String> units,
            String wanted,
            String usual,
            Duration min,
            Duration max,
            Function<Duration, String> shown) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        Duration unit = matcher.matches() && units.contains(matcher.group(2)) ? UNITS.get(matcher.group(2)) : null;
        if (unit == null) {
            String remedy = text.matches("\\d+") ? "; add the unit, as in " + text + usual : "";
            throw new IllegalArgumentException(
                    "'" + text + "' is no duration: a whole number with " + wanted + " is wanted" + remedy);
        }
        Duration duration = unit.multipliedBy(Math.min(Long.parseLong(matcher.group(1)), MOST_UNITS));
        if (duration.compareTo(min) < 0 || duration.compareTo(max) > 0) {
            throw new IllegalArgumentException(
                    text + " is out of bounds: " + shown.apply(min) + " to " + shown.apply(max) + " are allowed");
        }
        return duration;
    }

    /** The shortest text with one unit that {@link #shortDuration} reads as this. */
    static String shortText(Duration duration) {
        long nanos = duration.toNanos();
        for (String unit : new String[] {"s", "ms", "us"}) {
            long length = UNITS.getOrDefault(unit, Duration.ZERO).toNanos();
            if (nanos % length == 0) {
                return nanos / length + unit;
            }
        }
        return nanos + "ns";
    }

    /** The shortest text that {@link #bytes} reads as this. */
    static String bytesText(long bytes) {
        return bytes > 0 && bytes % (1 << 10) == 0 ? toString(bytes) : Long.toString(bytes);
    }

    /** A rate greater than 0: {@code 100}, {@code 2.5k}, {@code 1G}; k, M and G are powers of 1000. */
    static double rate(String text) {
        Matcher matcher = DECIMAL.matcher(text);
        Double unit = matcher.matches() ? THOUSANDS.get(matcher.group(2)) : null;
        double rate = unit == null ? 0 : Double.parseDouble(matcher.group(1)) * unit;
        if (rate <= 0) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no number greater than 0: digits are wanted, and k, M or G for powers of 1000");
        }
        return rate;
    }

    /** A number of processors, 0.01 to 1024: {@code 0.5} is half of one. */
    static double processors(String text) {
        Matcher matcher = DECIMAL.matcher(text);
        double number = matcher.matches() && matcher.group(2).isEmpty() ? Double.parseDouble(text) : 0;
        if (number < 0.01 || number > 1024) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no number of processors: 0.01 to 1024 are allowed, as in 0.5");
        }
        return number;
    }

    /** A share of a whole: {@code 0}, {@code 0.25}, {@code 1.0}. */
    static double share(String text) {
        Matcher matcher = DECIMAL.matcher(text);
        double share = matcher.matches() && matcher.group(2).isEmpty() ? Double.parseDouble(text) : -1;
        if (share < 0 || share > 1) {
            throw new IllegalArgumentException("'" + text + "' is no share: 0 to 1 is allowed, as in 0.25");
        }
        return share;
    }

    /** A whole number of 1 or more with the same prefixes. */
    static long count(String text) {
        double number = rate(text);
        if (number < 1 || number != Math.rint(number)) {
            throw new IllegalArgumentException("'" + text + "' is no whole number of 1 or more");
        }
        return (long) number;
    }

    /** A duration from {@code min} to {@code max}: a whole number with ms, s, m or h. */
    public static Duration duration(String text, Duration min, Duration max) {
        return duration(text, LONG_UNITS, "ms, s, m or h", "s", min, max, Quantity::toString);
    }

    /** A number of bytes from {@code min} to {@code max}: k, KiB, M, MiB, G and GiB are powers of 1024. */
    public static long bytes(String text, long min, long max) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        Long unit = matcher.matches() ? BYTES.get(matcher.group(2)) : null;
        if (unit == null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no size: a whole number of bytes, or one with KiB, MiB or GiB is wanted");
        }
        long bytes = multiply(text, matcher.group(1), unit);
        if (bytes < min || bytes > max) {
            throw new IllegalArgumentException(
                    text + " is out of bounds: " + toString(min) + " to " + toString(max) + " are allowed");
        }
        return bytes;
    }

    /** Reads a number of bytes like {@link #bytes}, of which half of the heap has as many. */
    static long memoryBytes(String text, long min, long max) {
        long bytes = bytes(text, min, max);
        if (bytes > HALF_OF_HEAP) {
            throw new IllegalArgumentException(text + " is more than half of the heap, " + (HALF_OF_HEAP >> 20)
                    + " MiB: take less, or give Java more with -Xmx");
        }
        return bytes;
    }

    /** A whole number from {@code min} to {@code max}, decimal or with 0x. */
    public static int number(String text, int min, int max) {
        return (int) number(text, (long) min, max);
    }

    /** A whole number from {@code min} to {@code max}, decimal or with 0x; one that does not fit 64 bits is out of bounds. */
    static long number(String text, long min, long max) {
        return Decimals.number(text, min, max);
    }

    /** The shortest text with one unit that {@link #duration} reads as this. */
    public static String toString(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 3_600_000 == 0 && millis > 0) {
            return millis / 3_600_000 + "h";
        } else if (millis % 60_000 == 0 && millis > 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
    }

    /** The shortest text with one unit that {@link #bytes} reads as this. */
    public static String toString(long bytes) {
        if (bytes > 0 && bytes % (1 << 30) == 0) {
            return (bytes >> 30) + "GiB";
        } else if (bytes > 0 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + "MiB";
        }
        return bytes > 0 && bytes % (1 << 10) == 0 ? (bytes >> 10) + "KiB" : bytes + " bytes";
    }

    private static long multiply(String text, String number, long unit) {
        try {
            return Math.multiplyExact(Long.parseLong(number), unit);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(text + " is out of bounds: it does not fit 64 bits", e);
        }
    }
}
