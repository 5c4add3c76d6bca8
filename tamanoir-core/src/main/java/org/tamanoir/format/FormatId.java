package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of a format: 12 bytes that follow from the description (version 2), or 8 or 10 that a server issued
 * (versions 0 and 1).
 *
 * <pre>
 * version 0:  8 bytes, the last four 0
 * version 1: 10 bytes: 1, salt, port, IPv4 address, number
 * version 2: 12 bytes: 2, count of words (24 bits), hash1, hash2
 * </pre>
 *
 * <p>Thread contract: immutable.
 */
public final class FormatId {
    /** The largest identifier. */
    public static final int MAX_BYTES = 12;

    /** The first eight bytes. */
    private final long head;
    /** The last two or four, to the right; 0 where there are none. */
    private final int tail;

    private final int length;

    private FormatId(long head, int tail, int length) {
        this.head = head;
        this.tail = tail;
        this.length = length;
    }

    /** Computes the identifier, of version 2, of a description. */
    public static FormatId of(byte[] description) {
        long hash = Lookup3.hash(description);
        int words = description.length >> 2;
        return new FormatId((2L << 24 | words & 0xFFFFFF) << 32 | hash >>> 32, (int) hash, MAX_BYTES);
    }

    /**
     * Reads an identifier.
     *
     * @param memory its position and order are not used
     * @param available bytes from {@code at} on
     * @throws FormatException if it is none or not whole
     */
    public static FormatId read(ByteBuffer memory, int at, int available) {
        int length = length(memory, at, available);
        int tail = 0;
        for (int i = 8; i < length; i++) {
            tail = tail << 8 | memory.get(at + i) & 0xFF;
        }
        return new FormatId(Memory.bigLong(memory, at), tail, length);
    }

    /** Reads an identifier from hexadecimal digits. */
    public static FormatId parse(String hex) {
        byte[] bytes;
        try {
            bytes = HexFormat.of().parseHex(hex);
        } catch (IllegalArgumentException e) {
            throw new FormatException(
                    FormatFault.IDENTIFIER, "identifier '" + Texts.shown(hex) + "' is not hexadecimal");
        }
        FormatId id = read(ByteBuffer.wrap(bytes), 0, bytes.length);
        if (id.length != bytes.length) {
            throw new FormatException(
                    FormatFault.IDENTIFIER,
                    "identifier '" + Texts.shown(hex) + "' has " + bytes.length + " bytes, not " + id.length);
        }
        return id;
    }

    /**
     * Returns the bytes of the identifier that begins here.
     *
     * @throws FormatException if it is none or not whole
     */
    static int length(ByteBuffer memory, int at, int available) {
        int length = 8;
        if (available >= length && Memory.bigInt(memory, at + 4) != 0) {
            int version = memory.get(at);
            length = switch (version) {
                case 1 -> 10;
                case 2, 3 -> MAX_BYTES;
                default ->
                    throw new FormatException(
                            FormatFault.IDENTIFIER, "identifier of version " + version + ": 0 to 3 are known");
            };
        }
        if (available < length) {
            throw new FormatException(
                    FormatFault.LENGTH, "identifier of " + length + " bytes, " + available + " are there");
        }
        return length;
    }

    /** Returns whether these bytes are this identifier; allocates nothing. */
    boolean isAt(ByteBuffer memory, int at, int available) {
        return available >= length && Memory.bigLong(memory, at) == head && tailAt(memory, at) == tail;
    }

    private int tailAt(ByteBuffer memory, int at) {
        return switch (length) {
            case 8 -> 0;
            case 10 -> Memory.bigShort(memory, at + 8);
            default -> Memory.bigInt(memory, at + 8);
        };
    }

    /** Returns a hash of the identifier at this place, as {@link #hashCode} of one that was read. */
    static int hashAt(ByteBuffer memory, int at) {
        return mix(Memory.bigLong(memory, at));
    }

    private static int mix(long head) {
        return (int) (head * 0x9E3779B97F4A7C15L >>> 32);
    }

    /** Writes the identifier, {@link #length} bytes. */
    void write(ByteBuffer memory, int at) {
        Memory.putBigLong(memory, at, head);
        for (int i = length - 1, rest = tail; i >= 8; i--, rest >>>= 8) {
            memory.put(at + i, (byte) rest);
        }
    }

    /** Returns whether two computed identifiers name one description: version 3 is taken like 2. */
    boolean agrees(FormatId other) {
        return tail == other.tail && (head ^ other.head) << 8 == 0;
    }

    /** Returns 8, 10 or 12 bytes. */
    public int length() {
        return length;
    }

    /** Returns whether the identifier follows from the description, so that it can be checked. */
    public boolean isComputed() {
        return length == MAX_BYTES;
    }

    /** Returns the bytes. */
    public byte[] toBytes() {
        byte[] bytes = new byte[length];
        write(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FormatId id && id.head == head && id.tail == tail && id.length == length;
    }

    @Override
    public int hashCode() {
        return mix(head);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(toBytes());
    }
}
