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
    /** Structures and dimensions of arrays within one another: 1,000 pointers with a structure and arrays each. */
    public static final int NESTING = 4_000;
    /** Characters of a field's name that cost nothing; as many again count as a value of the record. */
    static final int FREE_NAME = 64;
    /** Bytes of all descriptions that a reader keeps; the heap holds some ten times as much. */
    static final int READER_DESCRIPTION_BYTES = 1 << 23;
    /** Bytes of an item of a file or a stream. */
    public static final int ITEM_BYTES = 1 << 26;

    private FormatLimits() {}

    /** Returns how many values a record of this body may unfold into, shared targets counted at each use. */
    public static long values(int bodyBytes) {
        return 4L * bodyBytes + 1_024;
    }

    /** Returns how many bytes of text a record of this body may unfold into, shared ones counted at each use. */
    public static long textBytes(int bodyBytes) {
        return Math.min(32L * bodyBytes, Math.max(bodyBytes, ITEM_BYTES));
    }
}
