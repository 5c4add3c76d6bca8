package org.tamanoir.format;

/** The bounds on what is read. */
public final class FormatLimits {
    /** Bytes of a description. */
    public static final int DESCRIPTION_BYTES = 1 << 20;
    /** Structures of a description, the top one included. */
    public static final int STRUCTURES = 100;
    /** Fields of all structures of a description. */
    public static final int FIELDS = 65_536;
    /** Steps of a type, and parentheses around one another in it. */
    public static final int TYPE_STEPS = 32;
    /** Elements of an array of fixed dimensions. */
    public static final long FIXED_ELEMENTS = 1L << 31;
    /** Pointers that are followed one behind the other. */
    public static final int POINTER_DEPTH = 1_000;
    /** Bytes of an item of a file or a stream. */
    public static final int ITEM_BYTES = 1 << 26;

    private FormatLimits() {}

    /** Returns how many values a record of this body may unfold into, shared targets counted at each use. */
    public static long values(int bodyBytes) {
        return 4L * bodyBytes + 1_024;
    }
}
