package org.tamanoir.services.morph.expression;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Bytes where they lie, of a string or an array of chars: in the record, in the expression, or in memory that it keeps
 * for texts that it makes.
 *
 * <p>Thread contract: one thread; valid until the expression is evaluated again or the record changes.
 */
public final class TextView {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private ByteBuffer memory = NOTHING;
    private int at;
    private int length;

    /** Makes a view of no bytes. */
    public TextView() {}

    TextView set(ByteBuffer memory, int at, int length) {
        this.memory = memory;
        this.at = at;
        this.length = length;
        return this;
    }

    TextView setEmpty() {
        return set(NOTHING, 0, 0);
    }

    /** Returns the memory; its position and limit say nothing. */
    public ByteBuffer memory() {
        return memory;
    }

    /** Returns the index in {@link #memory} of the first byte. */
    public int at() {
        return at;
    }

    /** Returns how many bytes there are. */
    public int length() {
        return length;
    }

    /** Returns a copy of the bytes. */
    public byte[] toBytes() {
        byte[] bytes = new byte[length];
        memory.get(at, bytes);
        return bytes;
    }

    /** Returns the bytes as UTF-8 says; what is none reads as U+FFFD. */
    @Override
    public String toString() {
        return new String(toBytes(), StandardCharsets.UTF_8);
    }

    byte get(int index) {
        return memory.get(at + index);
    }

    /** Compares the bytes, unsigned, which is the order of code points. */
    int compare(TextView other) {
        int common = Math.min(length, other.length);
        for (int i = 0; i < common; i++) {
            int order = (get(i) & 0xFF) - (other.get(i) & 0xFF);
            if (order != 0) {
                return order;
            }
        }
        return length - other.length;
    }

    boolean has(TextView part, int from) {
        if (from < 0 || part.length > length - from) {
            return false;
        }
        for (int i = 0; i < part.length; i++) {
            if (get(from + i) != part.get(i)) {
                return false;
            }
        }
        return true;
    }

    boolean equalTo(TextView other) {
        return length == other.length && has(other, 0);
    }

    boolean contains(TextView part) {
        for (int i = 0; i <= length - part.length; i++) {
            if (has(part, i)) {
                return true;
            }
        }
        return false;
    }

    /** Returns how many code points the text has: bytes that continue none. */
    int codePoints() {
        int points = 0;
        for (int i = 0; i < length; i++) {
            points += (get(i) & 0xC0) == 0x80 ? 0 : 1;
        }
        return points;
    }
}
