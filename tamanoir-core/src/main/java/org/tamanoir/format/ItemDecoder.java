package org.tamanoir.format;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into items, however it is fed: in one piece or byte by byte. What it keeps grows with what has
 * come, not with what was announced.
 *
 * <pre>
 * 1 comment: kind | u24 length                      | text, ended by 0
 * 2 format:  kind | u24 length of the identifier    | u32 length of the description | identifier | description
 * 3 data:    kind | 0 | u16 length, bits 32 to 47   | u32 length, bits 0 to 31      | record
 * 4 index:   kind | u24 length with these 4 bytes   | block
 * </pre>
 *
 * All numbers are big-endian.
 *
 * <p>Thread contract: one thread.
 */
final class ItemDecoder {
    static final int MAGIC = 0x4356FFA9;

    private byte[] bytes = new byte[1024];
    private ByteBuffer memory = ByteBuffer.wrap(bytes);
    private int from;
    private int to;
    private boolean magicAwaited;
    private int itemAt;
    private int itemBytes;

    /** Makes a decoder of a file, which begins with a magic number, or of a stream of items. */
    ItemDecoder(boolean magic) {
        magicAwaited = magic;
    }

    /** Takes all bytes to the limit; what {@link #next} showed is gone. */
    void feed(ByteBuffer more) {
        int added = more.remaining();
        if (from == to) {
            from = 0;
            to = 0;
        }
        if (to + added > bytes.length) {
            byte[] room = to - from + added > bytes.length / 2 ? new byte[2 * (to - from + added)] : bytes;
            System.arraycopy(bytes, from, room, 0, to - from);
            bytes = room;
            memory = ByteBuffer.wrap(bytes);
            to -= from;
            from = 0;
        }
        more.get(bytes, to, added);
        to += added;
    }

    /**
     * Goes on to the next item.
     *
     * @return its kind; null when it is not whole yet
     * @throws FormatException if the stream is damaged; it cannot be read on
     */
    @Nullable
    ItemKind next() {
        if (magicAwaited) {
            if (to - from < 4) {
                return null;
            }
            if (memory.getInt(from) != MAGIC) {
                throw fault("file begins with " + Integer.toHexString(memory.getInt(from)) + ", not with "
                        + Integer.toHexString(MAGIC));
            }
            magicAwaited = false;
            from += 4;
        }
        if (to - from < 4) {
            return null;
        }
        int word = memory.getInt(from);
        int number = word >>> 24;
        if (number < 1 || number > ItemKind.values().length) {
            throw fault("item of kind " + number + ": 1 to " + ItemKind.values().length + " are known");
        }
        ItemKind kind = ItemKind.values()[number - 1];
        int head = kind.headBytes();
        if (to - from < head) {
            return null;
        }
        long length = length(kind, word);
        if (length > FormatLimits.ITEM_BYTES) {
            throw fault(kind + " item of " + length + " bytes: at most " + FormatLimits.ITEM_BYTES);
        }
        if (to - from - head < length) {
            return null;
        }
        itemAt = from;
        itemBytes = head + (int) length;
        from += itemBytes;
        return kind;
    }

    /** Returns the bytes behind the head. */
    private long length(ItemKind kind, int word) {
        int low = word & 0xFFFFFF;
        switch (kind) {
            case COMMENT:
                return low;
            case INDEX:
                if (low < IndexBlock.HEAD) {
                    throw fault("index block of " + low + " bytes: at least " + IndexBlock.HEAD);
                }
                return low - 4;
            case FORMAT:
                long description = memory.getInt(from + 4) & 0xFFFFFFFFL;
                if (low > FormatId.MAX_BYTES || description > FormatLimits.DESCRIPTION_BYTES) {
                    throw fault("format item with an identifier of " + low + " and a description of " + description
                            + " bytes: at most " + FormatId.MAX_BYTES + " and " + FormatLimits.DESCRIPTION_BYTES);
                }
                return low + description;
            default:
                return (word & 0xFFFFL) << 32 | memory.getInt(from + 4) & 0xFFFFFFFFL;
        }
    }

    /** Returns the memory that the item lies in, with its head. */
    ByteBuffer memory() {
        return memory;
    }

    int itemAt() {
        return itemAt;
    }

    int itemBytes() {
        return itemBytes;
    }

    /**
     * Ends the stream.
     *
     * @throws FormatException if it ends within an item
     */
    void end() {
        if (magicAwaited) {
            throw fault("file of " + (to - from) + " bytes has no magic number");
        }
        if (from < to) {
            throw fault("stream ends within an item, " + (to - from) + " bytes behind its start");
        }
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.FRAMING, message);
    }
}
