package org.tamanoir.format;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Numbers as simple elements hold them: what an element would change is refused. Any thread may call. */
final class ExactNumbers {
    /** Digits of a number; the longest that is written has 24 characters. */
    private static final String DIGITS = "[0-9]{1,400}";

    private static final Pattern WHOLE = Pattern.compile("[+-]?" + DIGITS);
    private static final Pattern NUMBER =
            Pattern.compile("[+-]?(" + DIGITS + "(\\.[0-9]{0,400})?|\\." + DIGITS + ")([eE][+-]?[0-9]{1,9})?");

    private ExactNumbers() {}

    /**
     * Returns the nearest float.
     *
     * @throws FormatException if it would be infinite, or 0 without being it, or a whole number is not exact
     */
    static double floating(Type type, Number number) {
        double nearest = type.bytes() == Float.BYTES ? number.floatValue() : number.doubleValue();
        boolean isBinary = number instanceof Double || number instanceof Float;
        if (Double.isInfinite(nearest) && !(isBinary && Double.isInfinite(number.doubleValue()))) {
            throw fault(shown(number) + " is too large for float of " + type.bytes() + " bytes");
        }
        if (nearest == 0 && (isBinary ? number.doubleValue() != 0 : new BigDecimal(number.toString()).signum() != 0)) {
            throw fault(shown(number) + " is too small for float of " + type.bytes() + " bytes, which would hold 0");
        }
        if (!isBinary
                && !(number instanceof BigDecimal)
                && new BigDecimal(nearest).compareTo(new BigDecimal(number.toString())) != 0) {
            throw fault("whole number " + shown(number) + " is not exact as float of " + type.bytes() + " bytes");
        }
        return nearest;
    }

    /**
     * Returns the low 8 bytes of a whole number.
     *
     * @throws FormatException if it does not fit
     */
    static long whole(Type type, BigInteger value) {
        boolean isSigned = type.kind() == Kind.INTEGER;
        int bits = 8 * type.bytes();
        if (isSigned ? value.bitLength() >= bits : value.signum() < 0 || value.bitLength() > bits) {
            throw fault(shown(value) + " does not fit " + type.kind() + " of " + type.bytes() + " bytes");
        }
        return value.longValue();
    }

    /** Returns the whole number or fraction that a text in ASCII's digits says: null if it says none. */
    static @Nullable Number parse(String text) {
        return WHOLE.matcher(text).matches()
                ? new BigInteger(text)
                : NUMBER.matcher(text).matches() ? new BigDecimal(text) : null;
    }

    private static String shown(Number number) {
        return Texts.shown(number.toString());
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }
}
