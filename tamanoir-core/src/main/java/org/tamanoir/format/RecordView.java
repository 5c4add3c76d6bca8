package org.tamanoir.format;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A view of one encoded record where it lies: a flyweight that is pointed at record after record and copies nothing.
 * Places in the record are bytes from the start of its base; 0 is the top structure. Fields are read by {@link
 * Accessor}s, whole records by a {@link RecordWalker}.
 *
 * <p>Thread contract: one thread; valid as long as the memory is not changed by others.
 */
public final class RecordView {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private @Nullable Format format;
    private ByteBuffer memory = NOTHING;
    private int start;
    private int base;
    private int body;
    private boolean big;
    private int pointerBytes;

    /**
     * Points the view at the record that starts at {@code at}.
     *
     * @param memory in any order; its position is not used or changed, its limit lies behind the record
     * @param available bytes from {@code at} on: those of the record, or more
     * @throws FormatException if the record names another format, or its parts do not fit in what is available
     */
    public RecordView wrap(Format of, ByteBuffer memory, int at, int available) {
        if (!of.isAt(memory, at, available)) {
            throw new FormatException(
                    FormatFault.IDENTIFIER,
                    "record of format " + FormatId.read(memory, at, available) + ", not of " + of.id());
        }
        int header = of.headerBytes();
        int least = of.top().recordLength();
        boolean bigEndian = of.layout().big();
        if (available - (long) header < least) {
            throw new FormatException(
                    FormatFault.LENGTH,
                    "record of format " + of.name() + " has " + available + " bytes, at least "
                            + ((long) header + least) + " are needed");
        }
        long length = least;
        if (of.lengthAt() >= 0) {
            length = Memory.unsigned(memory, at + of.lengthAt(), of.layout().version() == 2 ? 8 : 4, bigEndian);
            if (length < least || length > available - header) {
                throw new FormatException(
                        FormatFault.LENGTH,
                        "body of " + Long.toUnsignedString(length) + " bytes, from " + least + " to "
                                + (available - header) + " are possible");
            }
        }
        format = of;
        this.memory = memory;
        start = at;
        base = at + header;
        body = (int) length;
        big = bigEndian;
        pointerBytes = of.layout().pointerBytes();
        return this;
    }

    /** Returns the format. */
    public Format format() {
        if (format == null) {
            throw new IllegalStateException("the view is of no record: call wrap() first");
        }
        return format;
    }

    /** Returns the memory that the record lies in. */
    public ByteBuffer memory() {
        return memory;
    }

    /** Returns the index in {@link #memory} of the record's first byte, of its identifier. */
    public int start() {
        return start;
    }

    /** Returns the bytes of the whole record with its header. */
    public int length() {
        return base - start + body;
    }

    /** Returns the index in {@link #memory} of the top structure. */
    public int base() {
        return base;
    }

    /** Returns the bytes from {@link #base} to the end of the record. */
    public int bodyLength() {
        return body;
    }

    /** Returns whether this is the format of the record. */
    boolean isOf(Format other) {
        return format == other;
    }

    /**
     * Returns the place that the slot here leads to, -1 for null.
     *
     * @throws FormatException if it lies outside the record
     */
    int follow(int slot) {
        long target = Memory.unsigned(memory, base + slot, pointerBytes, big);
        if (target == 0) {
            return -1;
        }
        if (target < 0 || target >= body) {
            throw new FormatException(
                    FormatFault.OFFSET,
                    "slot at " + slot + " refers to " + Long.toUnsignedString(target) + ", the record has " + body
                            + " bytes");
        }
        return (int) target;
    }

    /**
     * Returns the place that the slot here leads to, where all that is there lies in the record; -1 for null, and for
     * an array without elements.
     *
     * @param type of what is there
     * @param structure place of the structure that has the field, in which counts stand
     */
    int follow(int slot, Type type, int structure) {
        int target = follow(slot);
        if (target < 0) {
            return target;
        }
        long elements = type.isArray() ? elements(type, structure) : 1;
        if (elements == 0) {
            return -1;
        }
        int each = type.isArray() ? type.target().bytes() : type.bytes();
        if (elements * each > body - target) {
            throw new FormatException(
                    type.isArray() ? FormatFault.COUNT : FormatFault.OFFSET,
                    elements + " times " + each + " bytes at " + target + ", the record has " + body);
        }
        // Elements without bytes take no room: what they may unfold into is bounded all the same.
        if (elements > FormatLimits.values(body)) {
            throw new FormatException(FormatFault.COUNT, elements + " elements, the record has " + body + " bytes");
        }
        return target;
    }

    /** Returns how many elements an array has, in all its dimensions; more than 2^31 count as 2^31. */
    long elements(Type array, int structure) {
        long all = 1;
        for (int i = 0; i < array.dimensions().size(); i++) {
            long count = count(array.dimensions().get(i), structure);
            if (count == 0) {
                return 0;
            }
            all = Math.min(FormatLimits.FIXED_ELEMENTS, all * count);
        }
        return all;
    }

    /** Returns how many elements a dimension has; more than 2^31 count as 2^31. */
    long count(Dimension dimension, int structure) {
        Field control = dimension.control();
        if (control == null) {
            return dimension.count();
        }
        long count = Memory.unsigned(memory, base + structure + control.offset(), control.size(), big);
        return count < 0 ? FormatLimits.FIXED_ELEMENTS : Math.min(count, FormatLimits.FIXED_ELEMENTS);
    }

    /**
     * Returns the bytes of the string at this place, without its 0.
     *
     * @throws FormatException if no 0 follows in the record
     */
    public int textLength(int at) {
        if (at < 0 || at >= body) {
            throw new IndexOutOfBoundsException("string at " + at + ", the record has " + body + " bytes");
        }
        int end = base + body;
        int from = base + at;
        int i = from;
        for (; i + 8 <= end; i += 8) {
            long bytes = Memory.littleLong(memory, i);
            // Sets the high bit of each byte that is 0; those above the lowest may be wrong, which is not looked at.
            long zeros = bytes - 0x0101010101010101L & ~bytes & 0x8080808080808080L;
            if (zeros != 0) {
                return i - from + (Long.numberOfTrailingZeros(zeros) >>> 3);
            }
        }
        for (; i < end; i++) {
            if (memory.get(i) == 0) {
                return i - from;
            }
        }
        throw new FormatException(
                FormatFault.STRING, "string at " + at + " is not ended within the " + body + " bytes of the record");
    }
}
