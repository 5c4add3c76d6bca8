package org.tamanoir.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads and writes numbers in memory by an order of their own: the order that the buffer has set counts for nothing. */
final class Memory {
    private static final VarHandle SHORT =
            MethodHandles.byteBufferViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Memory() {}

    static short littleShort(ByteBuffer memory, int at) {
        return (short) SHORT.get(memory, at);
    }

    static int littleInt(ByteBuffer memory, int at) {
        return (int) INT.get(memory, at);
    }

    static long littleLong(ByteBuffer memory, int at) {
        return (long) LONG.get(memory, at);
    }

    static int bigShort(ByteBuffer memory, int at) {
        return Short.reverseBytes((short) SHORT.get(memory, at)) & 0xFFFF;
    }

    static int bigInt(ByteBuffer memory, int at) {
        return Integer.reverseBytes((int) INT.get(memory, at));
    }

    static long bigLong(ByteBuffer memory, int at) {
        return Long.reverseBytes((long) LONG.get(memory, at));
    }

    static void putLittleShort(ByteBuffer memory, int at, short value) {
        SHORT.set(memory, at, value);
    }

    static void putLittleInt(ByteBuffer memory, int at, int value) {
        INT.set(memory, at, value);
    }

    static void putLittleLong(ByteBuffer memory, int at, long value) {
        LONG.set(memory, at, value);
    }

    static void putBigInt(ByteBuffer memory, int at, int value) {
        INT.set(memory, at, Integer.reverseBytes(value));
    }

    static void putBigLong(ByteBuffer memory, int at, long value) {
        LONG.set(memory, at, Long.reverseBytes(value));
    }

    /** Returns 1, 2, 4 or 8 bytes as an unsigned number. */
    static long unsigned(ByteBuffer memory, int at, int bytes, boolean big) {
        return switch (bytes) {
            case 1 -> memory.get(at) & 0xFF;
            case 2 -> {
                short value = littleShort(memory, at);
                yield (big ? Short.reverseBytes(value) : value) & 0xFFFF;
            }
            case 4 -> {
                int value = littleInt(memory, at);
                yield (big ? Integer.reverseBytes(value) : value) & 0xFFFFFFFFL;
            }
            default -> {
                long value = littleLong(memory, at);
                yield big ? Long.reverseBytes(value) : value;
            }
        };
    }

    /** Writes the low 1, 2, 4 or 8 bytes of a number. */
    static void put(ByteBuffer memory, int at, int bytes, boolean big, long value) {
        switch (bytes) {
            case 1 -> memory.put(at, (byte) value);
            case 2 -> putLittleShort(memory, at, big ? Short.reverseBytes((short) value) : (short) value);
            case 4 -> putLittleInt(memory, at, big ? Integer.reverseBytes((int) value) : (int) value);
            default -> putLittleLong(memory, at, big ? Long.reverseBytes(value) : value);
        }
    }

    /** Writes zeros. */
    static void zero(ByteBuffer memory, int from, int to) {
        int at = from;
        for (; at + 8 <= to; at += 8) {
            LONG.set(memory, at, 0L);
        }
        for (; at < to; at++) {
            memory.put(at, (byte) 0);
        }
    }
}
