package org.tamanoir.message;

import java.nio.ByteBuffer;

/** The framing of items in a payload: {@code kind | length ...}, as in files; all numbers are big-endian. */
final class Items {
    static final int COMMENT = 1;
    static final int FORMAT = 2;
    static final int DATA = 3;
    /** Bytes before the record of a data item, and before the identifier of a format item. */
    static final int HEAD = 8;

    private Items() {}

    /** Returns the bytes of the item that begins here, 0 if it is none that is whole. */
    static int length(ByteBuffer memory, int at, int end) {
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

    static int kind(ByteBuffer memory, int at) {
        return memory.get(at);
    }

    /** Returns the bytes of a format item's identifier. */
    static int idBytes(ByteBuffer memory, int at) {
        return memory.getInt(at) & 0xFFFFFF;
    }

    /** Returns how many records a run of items has, -1 if the bytes are none. */
    static int records(ByteBuffer memory, int from, int end) {
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
