package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A block of an indexed file: where its items are.
 *
 * <pre>
 * kind 4 | u24 length | u32 next block | u32 first data item | s32 last data item | entries | 255
 * format: u24 ID length, 0 | u64 place | ID | zeros up to 4
 * data:   u24 L, 1         | u64 place | L bytes: u32 ID length, ID, attribute list | zeros up to 4
 * </pre>
 *
 * @param next place of the next block; of the last one the file's length
 * @param first number of the first data item that is covered
 * @param last number of the last one; before the first if there is none
 */
public record IndexBlock(long next, long first, int last, List<Entry> entries) {
    static final int HEAD = 16;
    static final int FORMAT = 0;
    static final int DATA = 1;
    static final int END = 255;

    /** Tells of an item. */
    public record Entry(ItemKind kind, long position, FormatId id, List<Attribute> attributes) {}

    /** Reads a block that is whole. */
    static IndexBlock read(ByteBuffer memory, int at, int bytes) {
        List<Entry> entries = new ArrayList<>();
        int end = at + bytes;
        int here = at + HEAD;
        while (true) {
            int word = here + 4 <= end ? Memory.bigInt(memory, here) : -1;
            if (here + 4 > end) {
                throw new FormatException(FormatFault.FRAMING, "index block of " + bytes + " bytes has no end entry");
            }
            int kind = word & 0xFF;
            if (kind == END) {
                break;
            }
            int length = word >>> 8;
            if (kind > DATA || length > end - here - 12 || kind == DATA && length < 4) {
                throw new FormatException(
                        FormatFault.FRAMING,
                        "index entry of kind " + kind + " and " + length + " bytes, " + (end - here) + " are there");
            }
            int idBytes = kind == FORMAT ? length : Memory.bigInt(memory, here + 12);
            int idAt = here + (kind == FORMAT ? 12 : 16);
            int left = here + 12 + length - idAt;
            if (idBytes < 0 || idBytes > left) {
                throw new FormatException(
                        FormatFault.FRAMING, "identifier of " + idBytes + " bytes in an index entry, room for " + left);
            }
            FormatId id = FormatId.read(memory, idAt, idBytes);
            entries.add(new Entry(
                    kind == FORMAT ? ItemKind.FORMAT : ItemKind.DATA,
                    Memory.bigLong(memory, here + 4),
                    id,
                    Attribute.readList(memory, idAt + idBytes, left - idBytes)));
            here += 12 + (length + 3 & ~3);
        }
        return new IndexBlock(
                Memory.bigInt(memory, at + 4) & 0xFFFFFFFFL,
                Memory.bigInt(memory, at + 8) & 0xFFFFFFFFL,
                Memory.bigInt(memory, at + 12),
                entries);
    }
}
