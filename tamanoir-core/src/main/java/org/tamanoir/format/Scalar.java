package org.tamanoir.format;

import java.nio.ByteBuffer;

/**
 * Reads and writes one simple element. All that tells one kind from another is a final field, so that a reader of
 * records is one class and not many.
 *
 * @param bytes 1, 2, 4 or 8; others are handed on as they are and read as 0
 * @param big the most significant byte comes first
 * @param mixed the halves of a double are exchanged
 */
record Scalar(Kind kind, int bytes, boolean big, boolean mixed) {
    static Scalar of(Kind kind, int bytes, Layout layout) {
        boolean floating = kind == Kind.FLOAT;
        return new Scalar(
                kind,
                bytes,
                floating ? layout.floats().big(layout.big()) : layout.big(),
                floating && bytes == 8 && layout.floats() == FloatFormat.MIXED);
    }

    /** Returns whether the number has no portable meaning. */
    boolean isOpaque() {
        return bytes > 8;
    }

    private long bits(ByteBuffer memory, int at) {
        if (bytes > 8) {
            return 0;
        }
        long bits = Memory.unsigned(memory, at, bytes, big);
        return mixed ? Long.rotateLeft(bits, 32) : bits;
    }

    /** Returns a whole number, sign-extended if it is signed; of a float its whole part. */
    long getLong(ByteBuffer memory, int at) {
        long bits = bits(memory, at);
        return switch (kind) {
            case INTEGER -> signed(bits);
            case FLOAT -> (long) floating(bits);
            default -> bits;
        };
    }

    /** Returns the number as a double. */
    double getDouble(ByteBuffer memory, int at) {
        long bits = bits(memory, at);
        return switch (kind) {
            case INTEGER -> signed(bits);
            case FLOAT -> floating(bits);
            default -> unsignedToDouble(bits);
        };
    }

    private long signed(long bits) {
        int unused = Long.SIZE - 8 * bytes;
        return bits << unused >> unused;
    }

    private double floating(long bits) {
        return bytes == 4 ? Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
    }

    /** Returns the nearest double; halved with the last bit kept sticky, so that it is rounded once. */
    private static double unsignedToDouble(long bits) {
        return bits >= 0 ? bits : (double) (bits >>> 1 | bits & 1) * 2;
    }

    /** Writes the low bytes of a whole number; to a float the nearest. */
    void putLong(ByteBuffer memory, int at, long value) {
        if (kind == Kind.FLOAT) {
            putDouble(memory, at, value);
        } else {
            Memory.put(memory, at, bytes, big, value);
        }
    }

    /** Writes the nearest of its kind; too large a float becomes infinite. */
    void putDouble(ByteBuffer memory, int at, double value) {
        if (kind != Kind.FLOAT) {
            Memory.put(memory, at, bytes, big, (long) value);
        } else if (bytes == 4) {
            Memory.put(memory, at, bytes, big, Float.floatToRawIntBits((float) value));
        } else if (bytes == 8) {
            long bits = Double.doubleToRawLongBits(value);
            Memory.put(memory, at, bytes, big, mixed ? Long.rotateLeft(bits, 32) : bits);
        } else {
            Memory.zero(memory, at, at + bytes);
        }
    }
}
