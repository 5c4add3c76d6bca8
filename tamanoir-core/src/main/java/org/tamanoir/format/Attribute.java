package org.tamanoir.format;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * An attribute of a data item in an indexed file.
 *
 * <pre>
 * list: order (0 little) | I | M | 0 | I times (name, s32) | M times (name, u32 kind, value)
 * value: s64 (2), double (8), name (5), u16 length, bytes, zeros up to 4 (3 string, with its 0; 4 opaque)
 * </pre>
 *
 * @param name the hash of the name
 * @param kind 1 for a number of 4 bytes, else as above
 * @param value a {@link Long}, {@link Double}, {@link String}, or {@code byte[]}
 */
public record Attribute(int name, int kind, Object value) {
    /** What an index block of 256 bytes has room for; so numbers of attributes and lengths fit their fields. */
    private static final int MAX_LIST_BYTES = 256;

    /** Returns the hash under which an attribute of this name goes. */
    public static int name(String text) {
        return (int) (Lookup3.hash(Texts.encode(text)) >>> 32);
    }

    /** Reads a list; none where there are no bytes. */
    static List<Attribute> readList(ByteBuffer memory, int at, int bytes) {
        List<Attribute> all = new ArrayList<>();
        if (bytes < 4) {
            return all;
        }
        Reader reader = new Reader(memory, at, at + bytes, memory.get(at) != 0);
        int numbers = memory.get(at + 1) & 0xFF;
        int others = memory.get(at + 2) & 0xFF;
        reader.at += 4;
        for (int i = 0; i < numbers; i++) {
            all.add(new Attribute(reader.word(), 1, (long) reader.word()));
        }
        for (int i = 0; i < others; i++) {
            int name = reader.word();
            int kind = reader.word();
            all.add(new Attribute(name, kind, reader.value(kind)));
        }
        return all;
    }

    /**
     * Returns a list, sorted by names as numbers with a sign; no bytes for no attributes.
     *
     * @throws FormatException if it does not fit an index block, or a value is not what its kind says
     */
    static byte[] writeList(List<Attribute> attributes, boolean big) {
        if (attributes.isEmpty()) {
            return new byte[0];
        }
        List<Attribute> sorted = new ArrayList<>(attributes);
        sorted.sort(Comparator.comparing((Attribute a) -> a.kind != 1).thenComparing(Attribute::name));
        long numbers = attributes.stream().filter(a -> a.kind == 1).count();
        ByteBuffer list =
                ByteBuffer.allocate(MAX_LIST_BYTES).order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        try {
            list.put((byte) (big ? 1 : 0)).put((byte) numbers).put((byte) (attributes.size() - numbers));
            list.put((byte) 0);
            for (Attribute attribute : sorted) {
                attribute.write(list);
            }
        } catch (BufferOverflowException e) {
            throw new FormatException(
                    FormatFault.VALUE,
                    attributes.size() + " attributes of more than " + MAX_LIST_BYTES + " bytes: fewer or shorter ones");
        } catch (ClassCastException e) {
            throw new FormatException(FormatFault.VALUE, "attribute's value is not of its kind: " + e.getMessage());
        }
        return Arrays.copyOf(list.array(), list.position());
    }

    private void write(ByteBuffer list) {
        list.putInt(name);
        if (kind != 1) {
            list.putInt(kind);
        }
        switch (kind) {
            case 1, 5 -> list.putInt(((Long) value).intValue());
            case 2 -> list.putLong((Long) value);
            case 8 -> list.putDouble((Double) value);
            case 3 -> sized(list, Texts.encode(value + "\0"));
            case 4 -> sized(list, (byte[]) value);
            default ->
                throw new FormatException(
                        FormatFault.VALUE, "attribute of kind " + kind + ": 1, 2, 3, 4, 5 and 8 are known");
        }
    }

    private static void sized(ByteBuffer list, byte[] bytes) {
        list.putShort((short) bytes.length).put(bytes).put(new byte[-(2 + bytes.length) & 3]);
    }

    private static final class Reader {
        private final ByteBuffer memory;
        private final int end;
        private final boolean big;
        private int at;

        Reader(ByteBuffer memory, int at, int end, boolean big) {
            this.memory = memory;
            this.at = at;
            this.end = end;
            this.big = big;
        }

        private int advance(int bytes) {
            int here = at;
            if (bytes > end - here) {
                throw new FormatException(
                        FormatFault.FRAMING, "attribute needs " + bytes + " bytes, its list has " + (end - here));
            }
            at += bytes;
            return here;
        }

        int word() {
            return (int) Memory.unsigned(memory, advance(4), 4, big);
        }

        private long doubleWord() {
            return Memory.unsigned(memory, advance(8), 8, big);
        }

        Object value(int kind) {
            return switch (kind) {
                case 2 -> doubleWord();
                case 8 -> Double.longBitsToDouble(doubleWord());
                case 5 -> (long) word();
                case 3, 4 -> {
                    int length = (int) Memory.unsigned(memory, advance(2), 2, big);
                    byte[] bytes = new byte[Math.min(length, end - at)];
                    memory.get(advance(length), bytes);
                    // The length and the bytes together end at a multiple of 4.
                    advance(Math.min(end - at, -(2 + length) & 3));
                    int text = length > 0 && bytes[length - 1] == 0 ? length - 1 : length;
                    yield kind == 4 ? bytes : Texts.decode(bytes, 0, text);
                }
                default ->
                    throw new FormatException(
                            FormatFault.FRAMING, "attribute of kind " + kind + ": 2, 3, 4, 5 and 8 are known");
            };
        }
    }
}
