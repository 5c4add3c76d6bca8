package org.tamanoir.format.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;

/**
 * Reads numbers in decimal digits as XML Schema writes them, and JSON among it: digits are ASCII's, hexadecimal digits and
 * suffixes that Java knows are refused. Whole numbers are exact. A fraction becomes the float next to it; what would be
 * infinite, or 0 without being it, is refused. Any thread may call.
 */
public final class Decimals {
    /** Characters of a number; the longest that is written has 24. */
    private static final int MAX_CHARACTERS = 1_000;

    private static final int SHOWN = 60;
    private static final int FLOAT_BYTES = 4;
    /** Digits are bounded, since reading them is quadratic. */
    private static final Pattern PLAIN = Pattern.compile("-?(0|[1-9]\\d{0,39})");

    private static final Pattern HEXADECIMAL = Pattern.compile("0[xX][0-9a-fA-F]{1,32}");
    private static final Pattern WHOLE = Pattern.compile("[+-]?\\d+");
    private static final Pattern NUMBER = Pattern.compile("[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?");
    private static final Pattern ZERO = Pattern.compile("[+-]?[0.]*([eE].*)?");

    private Decimals() {}

    /** Returns whether a text is a whole number in digits. */
    public static boolean isWhole(String text) {
        return text.length() <= MAX_CHARACTERS && WHOLE.matcher(text).matches();
    }

    /** Returns whether a text is a number in digits, with a fraction or an exponent or none. */
    public static boolean isNumber(String text) {
        return text.length() <= MAX_CHARACTERS && NUMBER.matcher(text).matches();
    }

    /**
     * Returns a whole number.
     *
     * @throws FormatException if it is none
     */
    public static BigInteger whole(String text) {
        if (!isWhole(text)) {
            throw fault("needs a whole number in digits, not " + shown(text));
        }
        return new BigInteger(text);
    }

    /**
     * Returns a whole number within bounds, written without a plus sign, and without zeros in front, which some read as
     * octal digits.
     *
     * @throws NumberFormatException in one line, if it is none
     */
    public static long whole(String text, long min, long max) {
        return within(text, PLAIN.matcher(text).matches() ? new BigInteger(text) : null, min, max);
    }

    /** Returns a whole number, which may also stand in hexadecimal digits behind 0x, as {@link #whole(String, long, long)}. */
    public static long number(String text, long min, long max) {
        return HEXADECIMAL.matcher(text).matches()
                ? within(text, new BigInteger(text.substring(2), 16), min, max)
                : whole(text, min, max);
    }

    private static long within(String text, @Nullable BigInteger number, long min, long max) {
        if (number == null) {
            throw new NumberFormatException(
                    shown(text) + " is no whole number: one from " + min + " to " + max + " is wanted");
        }
        if (number.compareTo(BigInteger.valueOf(min)) < 0 || number.compareTo(BigInteger.valueOf(max)) > 0) {
            throw new NumberFormatException(text + " is out of bounds: " + min + " to " + max + " are allowed");
        }
        return number.longValue();
    }

    /**
     * Returns the nearest float.
     *
     * @param text {@code NaN}, {@code INF} and {@code Infinity}, too, with a sign or without
     * @param bytes of the float that takes it
     * @throws FormatException if it is no number, too large, so small that it would be 0, or whole and not exact
     */
    public static double floating(String text, int bytes) {
        if (!isNumber(text)) {
            return switch (text) {
                case "NaN" -> Double.NaN;
                case "INF", "+INF", "Infinity" -> Double.POSITIVE_INFINITY;
                case "-INF", "-Infinity" -> Double.NEGATIVE_INFINITY;
                default -> throw fault("needs a number in digits, NaN, INF or -INF, not " + shown(text));
            };
        }
        double nearest = bytes == FLOAT_BYTES ? Float.parseFloat(text) : Double.parseDouble(text);
        if (Double.isInfinite(nearest)) {
            throw fault(shown(text) + " is too large for float of " + bytes + " bytes");
        }
        if (nearest == 0 && !ZERO.matcher(text).matches()) {
            throw fault(shown(text) + " is too small for float of " + bytes + " bytes, which would hold 0");
        }
        if (WHOLE.matcher(text).matches() && new BigDecimal(nearest).compareTo(new BigDecimal(text)) != 0) {
            throw fault("whole number " + shown(text) + " is not exact as float of " + bytes + " bytes, which holds "
                    + new BigDecimal(nearest).toBigInteger() + ": write a fraction where the nearest will do");
        }
        return nearest;
    }

    private static String shown(String text) {
        String start = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
        return "'" + start.replaceAll("\\p{Cntrl}", "?") + "'";
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }
}
