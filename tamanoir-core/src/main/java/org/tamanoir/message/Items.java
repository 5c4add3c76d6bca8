package org.tamanoir.message;

import java.nio.ByteBuffer;

/**
 * The framing of items in a payload, as in files; all numbers are big-endian, lengths are bytes:
 *
 * <pre>
 * comment: 1 | u24 length | text
 * format:  2 | u24 length of the identifier | u32 length of the description | identifier | description
 * data:    3 | u8 0 | u16 length, bits 32 to 47 | u32 length, bits 0 to 31 | record
 * </pre>
 *
 * <p>Thread contract: any thread. All but {@link #length} and {@link #records} want an item that is whole.
 */
public final class Items {
    static final int COMMENT = 1;
    public static final int FORMAT = 2;
    public static final int DATA = 3;
    /** Bytes before the record of a data item, and before the identifier of a format item. */
    public static final int HEAD = 8;

    private Items() {}

    /** Returns the bytes of the item that begins here, 0 if it is none that is whole. */
    public static int length(ByteBuffer memory, int at, int end) {
        if (end - at < 4) {
            return 0;
        }
        int word = memory.getInt(at);
        int low = word & 0xFFFFFF;
        long length;
        switch (word >>> 24) {
            case COMMENT -> length = 4L + low;
            case FORMAT -> length = end - at < HEAD ? 0 : HEAD + low + (memory.getInt(at + 4) & 0xFFFFFFFFL);
            case DATA ->
                length = end - at < HEAD ? 0 : HEAD + ((word & 0xFFFFL) << 32 | memory.getInt(at + 4) & 0xFFFFFFFFL);
            default -> {
                return 0;
            }
        }
        return length <= end - at ? (int) length : 0;
    }

    /** Returns the kind of the item that begins here. */
    public static int kind(ByteBuffer memory, int at) {
        return memory.get(at);
    }

    /** Returns the bytes of a format item's identifier. */
    public static int idBytes(ByteBuffer memory, int at) {
        return memory.getInt(at) & 0xFFFFFF;
    }

    /** Returns how many records a run of items has, -1 if the bytes are none. */
    public static int records(ByteBuffer memory, int from, int end) {
        int records = 0;
        int at = from;
        while (at < end) {
            int length = length(memory, at, end);
            if (length == 0) {
                return -1;
            }
            if (kind(memory, at) == DATA) {
                records++;
            }
            at += length;
        }
        return from == end ? -1 : records;
    }
}
