package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads what lies at the end of a path, in any record of one format, where it lies. Pointers on the way, and at its
 * end, are followed. A null pointer on the way reads as 0, as an empty text and as an array without elements; {@link
 * #isNull} tells. Nothing is allocated, but by {@link #getText}.
 *
 * <p>Each method takes the place of the structure that the path begins at, or begins at the top one. Elements of an
 * array have places too: {@code Accessor names = format.accessor("names"); int at = names.elementAt(record, 0, 3);
 * names.element().textEquals(record, at, text)}.
 *
 * <p>All methods throw {@link FormatException} where the record refers to bytes outside it, and {@link
 * IllegalArgumentException} for a record of another format.
 *
 * <p>Thread contract: immutable.
 */
public final class Accessor {
    private static final long NULL = -1;

    private final Format format;
    private final String path;
    /** Bytes of what the path begins at. */
    private final int fromBytes;

    private final Hop[] hops;
    private final int structureAdd;
    private final int add;
    private final Type type;
    private final @Nullable Scalar scalar;
    private final @Nullable Accessor element;

    /**
     * A step that needs the record.
     *
     * @param structureAdd bytes from where the last step led to the structure that has the field; -1: the same as before
     * @param add bytes from where the last step led to where this one begins
     * @param type the pointer that is followed, or the array from which an element is taken
     */
    record Hop(int structureAdd, int add, Type type, int index) {}

    Accessor(Format format, String path, int fromBytes, Hop[] hops, int structureAdd, int add, Type type) {
        this.format = format;
        this.path = path;
        this.fromBytes = fromBytes;
        this.hops = hops;
        this.structureAdd = structureAdd;
        this.add = add;
        this.type = type;
        scalar = type.isLeaf() ? type.scalar() : null;
        element = type.isArray() ? Path.element(format, path, type.target()) : null;
    }

    /** Returns what lies at the end: an array or a leaf. */
    public Type type() {
        return type;
    }

    /** Returns the kind of the value, or of an array's elements. */
    public Kind kind() {
        return type.kind();
    }

    /** Returns whether the value is an array. */
    public boolean isArray() {
        return type.isArray();
    }

    /** Returns the path as it was given. */
    public String path() {
        return path;
    }

    /** Returns how an element of the array is read, from its place on. */
    public Accessor element() {
        if (element == null) {
            throw new IllegalStateException(path + " is no array");
        }
        return element;
    }

    /** Returns whether a null pointer is on the way, or the string is null, or the array has no elements. */
    public boolean isNull(RecordView record, int from) {
        if (type.isArray()) {
            return count(record, from) == 0;
        }
        return kind() == Kind.STRING ? textAt(record, from) < 0 : locate(record, from) < 0;
    }

    /** Returns the whole number; see {@link #getDouble} for floats. Of 8 unsigned bytes all 64 bits. */
    public long getLong(RecordView record) {
        return getLong(record, 0);
    }

    /** Returns the whole number, as {@link #getLong(RecordView)}. */
    public long getLong(RecordView record, int from) {
        Scalar number = number();
        int at = simple(record, from);
        return at < 0 ? 0 : number.getLong(record.memory(), at);
    }

    /** Returns the number. */
    public double getDouble(RecordView record) {
        return getDouble(record, 0);
    }

    /** Returns the number. */
    public double getDouble(RecordView record, int from) {
        Scalar number = number();
        int at = simple(record, from);
        return at < 0 ? 0 : number.getDouble(record.memory(), at);
    }

    /** Returns whether the number is not 0. */
    public boolean getBoolean(RecordView record) {
        return getLong(record, 0) != 0;
    }

    /**
     * Changes the number in the record: the low bytes of it.
     *
     * @return false where a null pointer is on the way; the record is then unchanged
     */
    public boolean setLong(RecordView record, int from, long value) {
        Scalar number = number();
        int at = simple(record, from);
        if (at >= 0) {
            number.putLong(record.memory(), at, value);
        }
        return at >= 0;
    }

    /** Changes the number in the record, as {@link #setLong}. */
    public boolean setDouble(RecordView record, int from, double value) {
        Scalar number = number();
        int at = simple(record, from);
        if (at >= 0) {
            number.putDouble(record.memory(), at, value);
        }
        return at >= 0;
    }

    private Scalar number() {
        if (scalar == null) {
            throw new IllegalStateException(
                    path + " is no number but " + (type.isArray() ? "an array of " : "") + kind());
        }
        return scalar;
    }

    /** Returns the index in the memory of a simple value; -1 for null. */
    private int simple(RecordView record, int from) {
        if (hops.length == 0) {
            check(record, from);
            return record.base() + from + add;
        }
        long place = locate(record, from);
        return place < 0 ? -1 : record.base() + (int) place;
    }

    /** Returns the place of the string's first byte, -1 for null; it may not be ended. */
    public int textAt(RecordView record, int from) {
        if (type.isArray() || kind() != Kind.STRING) {
            throw new IllegalStateException(
                    path + " is no string but " + (type.isArray() ? "an array of " : "") + kind());
        }
        long place = locate(record, from);
        return place < 0 ? -1 : record.follow((int) place);
    }

    /** Returns the string as UTF-8 says it, null for null; allocates. */
    public @Nullable String getText(RecordView record, int from) {
        int at = textAt(record, from);
        if (at < 0) {
            return null;
        }
        byte[] bytes = new byte[record.textLength(at)];
        record.memory().get(record.base() + at, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Returns whether the string has these bytes. */
    public boolean textEquals(RecordView record, int from, byte[] text) {
        return compareText(record, from, text) == 0;
    }

    /** Compares the string with these bytes, unsigned: negative where the string comes first. */
    public int compareText(RecordView record, int from, byte[] text) {
        int at = textAt(record, from);
        int length = at < 0 ? 0 : record.textLength(at);
        ByteBuffer memory = record.memory();
        int first = record.base() + at;
        for (int i = 0, common = Math.min(length, text.length); i < common; i++) {
            int order = (memory.get(first + i) & 0xFF) - (text[i] & 0xFF);
            if (order != 0) {
                return order;
            }
        }
        return length - text.length;
    }

    /** Returns whether the string begins with these bytes. */
    public boolean textStartsWith(RecordView record, int from, byte[] text) {
        int at = textAt(record, from);
        int length = at < 0 ? 0 : record.textLength(at);
        return length >= text.length && hasText(record, at, text);
    }

    /** Returns whether the string ends with these bytes. */
    public boolean textEndsWith(RecordView record, int from, byte[] text) {
        int at = textAt(record, from);
        int length = at < 0 ? 0 : record.textLength(at);
        return length >= text.length && hasText(record, at + length - text.length, text);
    }

    /** Returns whether these bytes are somewhere in the string. */
    public boolean textContains(RecordView record, int from, byte[] text) {
        int at = textAt(record, from);
        int length = at < 0 ? 0 : record.textLength(at);
        for (int i = 0; i <= length - text.length; i++) {
            if (hasText(record, at + i, text)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasText(RecordView record, int at, byte[] text) {
        ByteBuffer memory = record.memory();
        int first = record.base() + at;
        for (int i = 0; i < text.length; i++) {
            if (memory.get(first + i) != text[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many elements the array has, in all dimensions. */
    public int count(RecordView record, int from) {
        requireArray();
        long place = locate(record, from);
        if (place < 0) {
            return 0;
        }
        return (int) Math.min(Integer.MAX_VALUE, record.elements(type, (int) (place >>> 32)));
    }

    /** Returns how many elements a dimension of the array has. */
    public int count(RecordView record, int from, int dimension) {
        requireArray();
        long place = locate(record, from);
        Dimension one = type.dimensions().get(dimension);
        return place < 0 ? 0 : (int) Math.min(Integer.MAX_VALUE, record.count(one, (int) (place >>> 32)));
    }

    /**
     * Returns the place of an element, to be read by {@link #element}.
     *
     * @param index in the order of rows, whatever the writer's order was
     * @throws FormatException if the array has fewer elements
     */
    public int elementAt(RecordView record, int from, int index) {
        requireArray();
        long place = locate(record, from);
        return Path.elementAt(record, path, type, place < 0 ? -1 : (int) (place >>> 32), (int) place, index);
    }

    private void requireArray() {
        if (!type.isArray()) {
            throw new IllegalStateException(path + " is no array but " + kind());
        }
    }

    /** Returns the place of the structure, from which its own fields' accessors begin; -1 for null. */
    public int structureAt(RecordView record, int from) {
        if (type.isArray() || kind() != Kind.STRUCTURE) {
            throw new IllegalStateException(path + " is no structure but " + kind());
        }
        long place = locate(record, from);
        return place < 0 ? -1 : (int) place;
    }

    private void check(RecordView record, int from) {
        if (!record.isOf(format)) {
            throw new IllegalArgumentException(path + " is of format " + format + ", the record of " + record.format());
        }
        if (from < 0 || from > record.bodyLength() - fromBytes) {
            throw new IndexOutOfBoundsException(
                    path + " from " + from + ": the record has " + record.bodyLength() + " bytes");
        }
    }

    /** Returns the place of the value in the low half, that of the structure with its field in the high; or NULL. */
    private long locate(RecordView record, int from) {
        check(record, from);
        int at = from;
        int structure = from;
        for (Hop hop : hops) {
            structure = hop.structureAdd < 0 ? structure : at + hop.structureAdd;
            at += hop.add;
            Type step = hop.type;
            if (step.isPointer()) {
                at = record.follow(at, step.target(), structure);
                if (at < 0) {
                    return NULL;
                }
            } else {
                at = Path.elementAt(record, path, step, structure, at, hop.index);
            }
        }
        structure = structureAdd < 0 ? structure : at + structureAdd;
        return (long) structure << 32 | at + add;
    }

    @Override
    public String toString() {
        return path + " of " + Objects.toString(format.name());
    }
}
