package org.tamanoir.format;

import java.nio.ByteBuffer;

/**
 * Writes an encoded record: fields by their places, strings and blocks behind the base as they come. What is not
 * written is 0. Into memory that is lent, or into its own, which grows and is kept for the next record.
 *
 * <pre>
 * writer.begin(format);
 * writer.putLong(delay, 0, 25);
 * writer.putText(writer.slot(origin, 0), atlanta);
 * int length = writer.finish();
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
public final class RecordWriter {
    private static final int ALIGNMENT = 8;

    private final int limitBytes;
    private ByteBuffer own = ByteBuffer.allocate(1024);
    private ByteBuffer memory = own;
    private Format format;
    private boolean big;
    private int pointerBytes;
    private int start;
    private int base;
    /** Bytes from the base on that are written. */
    private int end;

    /** Makes a writer of records of up to {@link FormatLimits#ITEM_BYTES}. */
    public RecordWriter(Format format) {
        this(format, FormatLimits.ITEM_BYTES);
    }

    /** Makes a writer of records of up to so many bytes with the header. */
    public RecordWriter(Format format, int limitBytes) {
        this.limitBytes = limitBytes;
        this.format = format;
    }

    /** Begins a record at the start of the writer's own memory. */
    public RecordWriter begin(Format of) {
        return begin(of, own, 0);
    }

    /**
     * Begins a record in lent memory.
     *
     * @param into its limit lies behind the room for the record
     * @throws FormatException if there is no room
     */
    public RecordWriter begin(Format of, ByteBuffer into, int at) {
        format = of;
        memory = into;
        start = at;
        base = at + of.headerBytes();
        end = 0;
        big = of.layout().big();
        pointerBytes = of.layout().pointerBytes();
        int length = of.top().recordLength();
        room(of.isVariable() ? length + ALIGNMENT - 1L & -ALIGNMENT : length);
        Memory.zero(memory, at, base);
        of.id().write(memory, at);
        return this;
    }

    /** Adds zeros up to this many bytes of body. */
    private void room(long bytes) {
        long needed = base + bytes;
        if (needed - start > limitBytes || memory != own && needed > memory.limit()) {
            throw new FormatException(
                    FormatFault.VALUE,
                    "record of " + (needed - start) + " bytes: room for "
                            + Math.min(limitBytes, memory == own ? limitBytes : memory.limit() - start));
        }
        if (needed > memory.limit()) {
            ByteBuffer larger = ByteBuffer.allocate((int) Math.min(limitBytes, Math.max(needed, 2L * memory.limit())));
            larger.put(0, memory, 0, base + end);
            own = larger;
            memory = larger;
        }
        Memory.zero(memory, base + end, (int) needed);
        end = (int) bytes;
    }

    /** Returns the format of the record that is written. */
    public Format format() {
        return format;
    }

    /** Returns the memory that the record lies in; what outgrows the writer's own moves. */
    public ByteBuffer memory() {
        return memory;
    }

    /** Returns the index in {@link #memory} of the top structure. */
    public int base() {
        return base;
    }

    /** Returns the place of a field that is a string or a pointer. */
    public int slot(Field field, int structureAt) {
        return structureAt + field.offset();
    }

    /** Writes a whole number. */
    public void putLong(Field field, int structureAt, long value) {
        putLong(field.type(), structureAt + field.offset(), value);
    }

    /** Writes a number. */
    public void putDouble(Field field, int structureAt, double value) {
        putDouble(field.type(), structureAt + field.offset(), value);
    }

    /** Writes a whole number of this simple type at a place. */
    public void putLong(Type type, int at, long value) {
        scalar(type, at).putLong(memory, base + at, value);
    }

    /** Writes a number of this simple type at a place. */
    public void putDouble(Type type, int at, double value) {
        scalar(type, at).putDouble(memory, base + at, value);
    }

    private Scalar scalar(Type type, int at) {
        Scalar scalar = type.scalar();
        if (scalar == null) {
            throw new IllegalArgumentException("no simple value but " + type.kind() + " at " + at);
        }
        require(at, scalar.bytes());
        return scalar;
    }

    /** Writes bytes at a place: of chars, or of a number without a portable meaning. */
    public void putBytes(int at, byte[] bytes) {
        require(at, bytes.length);
        memory.put(base + at, bytes);
    }

    private void require(int at, int bytes) {
        if (at < 0 || at > end - bytes) {
            throw new IndexOutOfBoundsException(bytes + " bytes at " + at + ": " + end + " are begun");
        }
    }

    /**
     * Appends a string and puts its place into the slot.
     *
     * @throws FormatException if there is a 0 in it, or no room
     */
    public void putText(int slot, byte[] text) {
        for (byte one : text) {
            if (one == 0) {
                throw new FormatException(
                        FormatFault.VALUE, "text of " + text.length + " bytes has a 0 in it, which ends it");
            }
        }
        int at = append(slot, text.length + 1L);
        memory.put(base + at, text);
    }

    /**
     * Appends a string from memory and puts its place into the slot.
     *
     * @throws FormatException if there is a 0 in it, or no room
     */
    public void putText(int slot, ByteBuffer from, int textAt, int length) {
        for (int i = 0; i < length; i++) {
            if (from.get(textAt + i) == 0) {
                throw new FormatException(
                        FormatFault.VALUE, "text of " + length + " bytes has a 0 in it, which ends it");
            }
        }
        int at = append(slot, length + 1L);
        memory.put(base + at, from, textAt, length);
    }

    /** Writes bytes from memory at a place: of chars. */
    public void putBytes(int at, ByteBuffer from, int bytesAt, int length) {
        require(at, length);
        memory.put(base + at, from, bytesAt, length);
    }

    /** Appends a copy of a record's string, that lies there and ends with a 0, and puts its place into the slot. */
    public void putText(int slot, RecordView from, int textAt) {
        int length = from.textLength(textAt);
        int at = append(slot, length + 1L);
        memory.put(base + at, from.memory(), from.base() + textAt, length);
    }

    /**
     * Appends a block of zeros at a multiple of 8 for what a pointer leads to, and puts its place into the slot.
     *
     * @return the place
     * @throws FormatException if there is no room
     */
    public int putBlock(int slot, long bytes) {
        room(end + ALIGNMENT - 1L & -ALIGNMENT);
        return append(slot, bytes);
    }

    private int append(int slot, long bytes) {
        int at = end;
        putReference(slot, at);
        room(at + bytes);
        return at;
    }

    /** Lets a slot lead to a place of the record. */
    public void putReference(int slot, int place) {
        require(slot, pointerBytes);
        Memory.put(memory, base + slot, pointerBytes, big, place);
    }

    /** Ends the record, and returns its bytes with the header. */
    public int finish() {
        if (format.lengthAt() >= 0) {
            int bytes = format.layout().version() == 2 ? 8 : 4;
            Memory.put(memory, start + format.lengthAt(), bytes, big, end);
        }
        return base - start + end;
    }

    /** Returns how many elements a dimension has by what is written. */
    long count(Dimension dimension, int structureAt) {
        Field control = dimension.control();
        if (control == null) {
            return dimension.count();
        }
        long count = Memory.unsigned(memory, base + structureAt + control.offset(), control.size(), big);
        return count < 0 ? FormatLimits.FIXED_ELEMENTS : Math.min(count, FormatLimits.FIXED_ELEMENTS);
    }
}
