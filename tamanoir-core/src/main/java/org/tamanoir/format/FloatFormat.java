package org.tamanoir.format;

/** The forms of floating-point numbers; the place of a constant is its number in descriptions. */
public enum FloatFormat {
    /** The writer's order. */
    BY_ORDER,
    /** Big-endian. */
    BIG,
    /** Little-endian. */
    LITTLE,
    /** Little-endian with the halves of a double exchanged. */
    MIXED;

    static FloatFormat of(int number) {
        if (number >= values().length) {
            throw new FormatException(FormatFault.DESCRIPTION, "float format " + number + ": 0 to 3 are known");
        }
        return values()[number];
    }

    /** Returns whether the bytes of a number go from the most significant on, with this byte order of the writer. */
    boolean big(boolean writerBig) {
        return this == BIG || this == BY_ORDER && writerBig;
    }
}
