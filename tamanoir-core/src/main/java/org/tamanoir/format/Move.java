package org.tamanoir.format;

import java.nio.ByteBuffer;

/**
 * Converts simple elements that lie one behind the other, in words of 8 bytes where they need but another order.
 *
 * @param from place of the first in the source's structure
 * @param to place of the first in the target's structure
 */
record Move(How how, Scalar source, Scalar target, int from, int to, int count) {
    private static final long EVEN_BYTES = 0x00FF00FF00FF00FFL;

    enum How {
        COPY,
        SWAP,
        WHOLE,
        FLOATING
    }

    static Move of(Scalar source, Scalar target, int from, int to, int count) {
        boolean floating = source.kind() == Kind.FLOAT || target.kind() == Kind.FLOAT;
        boolean alike = source.bytes() == target.bytes()
                && source.mixed() == target.mixed()
                && (source.kind() == Kind.FLOAT) == (target.kind() == Kind.FLOAT);
        boolean inOrder = source.big() == target.big() || source.bytes() == 1 || source.isOpaque();
        How how = alike ? inOrder ? How.COPY : How.SWAP : floating ? How.FLOATING : How.WHOLE;
        return new Move(how, source, target, from, to, count);
    }

    /** Returns whether the other goes on where this ends, and does the same. */
    boolean isContinuedBy(Move other) {
        return (how == How.COPY || how == How.SWAP)
                && how == other.how
                && source.bytes() == other.source.bytes()
                && from + count * source.bytes() == other.from
                && to + count * target.bytes() == other.to;
    }

    Move and(Move other) {
        return new Move(how, source, target, from, to, count + other.count);
    }

    /** Converts the elements of one structure. */
    void run(ByteBuffer memory, int sourceBase, ByteBuffer into, int targetBase) {
        run(memory, sourceBase + from, into, targetBase + to, count);
    }

    /** Converts so many elements. */
    void run(ByteBuffer memory, int first, ByteBuffer into, int firstInto, int elements) {
        switch (how) {
            case COPY -> copy(memory, first, into, firstInto, elements * source.bytes());
            case SWAP -> swap(memory, first, into, firstInto, elements * source.bytes());
            case WHOLE -> {
                for (int i = 0; i < elements; i++) {
                    target.putLong(
                            into, firstInto + i * target.bytes(), source.getLong(memory, first + i * source.bytes()));
                }
            }
            case FLOATING -> {
                for (int i = 0; i < elements; i++) {
                    target.putDouble(
                            into, firstInto + i * target.bytes(), source.getDouble(memory, first + i * source.bytes()));
                }
            }
        }
    }

    private static void copy(ByteBuffer memory, int first, ByteBuffer into, int firstInto, int bytes) {
        switch (bytes) {
            case 4 -> Memory.putLittleInt(into, firstInto, Memory.littleInt(memory, first));
            case 8 -> Memory.putLittleLong(into, firstInto, Memory.littleLong(memory, first));
            default -> into.put(firstInto, memory, first, bytes);
        }
    }

    private void swap(ByteBuffer memory, int first, ByteBuffer into, int firstInto, int bytes) {
        int words = bytes & -8;
        switch (source.bytes()) {
            case 2 -> {
                for (int i = 0; i < words; i += 8) {
                    long word = Memory.littleLong(memory, first + i);
                    Memory.putLittleLong(into, firstInto + i, (word & EVEN_BYTES) << 8 | word >>> 8 & EVEN_BYTES);
                }
            }
            case 4 -> {
                for (int i = 0; i < words; i += 8) {
                    long word = Long.reverseBytes(Memory.littleLong(memory, first + i));
                    Memory.putLittleLong(into, firstInto + i, Long.rotateLeft(word, 32));
                }
            }
            default -> {
                for (int i = 0; i < words; i += 8) {
                    Memory.putLittleLong(into, firstInto + i, Long.reverseBytes(Memory.littleLong(memory, first + i)));
                }
            }
        }
        for (int i = words; i < bytes; i += source.bytes()) {
            Memory.put(
                    into,
                    firstInto + i,
                    source.bytes(),
                    true,
                    Memory.unsigned(memory, first + i, source.bytes(), false));
        }
    }
}
