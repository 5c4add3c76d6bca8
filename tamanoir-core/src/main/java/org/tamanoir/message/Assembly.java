package org.tamanoir.message;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.service.Allowance;

/**
 * A message of several packets: what has come of it in order, in one piece of memory.
 *
 * <p>Thread contract: one thread.
 */
final class Assembly {
    /** A message may claim any length: memory is taken for so many times what has come. */
    private static final int AHEAD = 4;

    final FlowKey flow = new FlowKey();
    /** Of all its packets that have come. */
    Allowance allowance;

    final HeaderCopy headers = new HeaderCopy();
    private final Blocks blocks;
    private final int limitBytes;
    Packet header;
    Format format;
    long first;
    /** Sequence number of the packet that continues it. */
    long next;

    long sinceNs;

    @Nullable
    ByteBuffer memory;

    int filled;
    /** -1 while too little has come to tell. */
    long total;

    Assembly(Blocks blocks, int limitBytes, Packet beginning, Allowance allowance, Format format, long nowNs) {
        this.blocks = blocks;
        this.allowance = allowance.keep();
        this.limitBytes = limitBytes;
        this.format = format;
        flow.set(beginning);
        header = headers.of(beginning);
        first = beginning.sequence();
        next = first;
        sinceNs = nowNs;
        total = format.encodedLength(ByteBuffer.allocate(0), 0, 0);
    }

    /** Returns whether this packet of its stream came already. */
    boolean has(long sequence) {
        return sequence - first >= 0 && sequence - next < 0;
    }

    /** Copies what continues the message; returns why it cannot go on, null if it can. */
    @Nullable
    MessageReason append(ByteBuffer from, int at, int bytes) {
        if (filled == 0 && total < 0) {
            total = format.encodedLength(from, at, bytes);
        }
        if (total >= 0 && bytes > total - filled) {
            return MessageReason.OVERLAP;
        }
        ByteBuffer room = room(bytes);
        if (room == null) {
            return MessageReason.REASSEMBLY_FULL;
        }
        room.put(filled, from, at, bytes);
        filled += bytes;
        next++;
        if (total < 0) {
            total = format.encodedLength(room, 0, filled);
            if (total >= 0 && total < filled) {
                return MessageReason.OVERLAP;
            }
        }
        return Math.max(total, filled) > limitBytes ? MessageReason.TOO_LONG : null;
    }

    /** Adds what may leave on account of the packet that was appended last. */
    void allow(Allowance more) {
        allowance = allowance.join(more, next - first);
    }

    private @Nullable ByteBuffer room(int bytes) {
        int needed = filled + bytes;
        ByteBuffer before = memory;
        if (before != null && before.capacity() >= needed) {
            return before;
        }
        long ahead = Math.max(Blocks.LEAST, (long) AHEAD * needed);
        ByteBuffer room = blocks.take((int) Math.max(needed, Math.min(ahead, total < 0 ? needed : total)));
        if (room != null) {
            if (before != null) {
                room.put(0, before, 0, filled);
                blocks.give(before);
            }
            memory = room;
        }
        return room;
    }

    boolean isWhole() {
        return filled == total;
    }

    /** Gives the memory back. */
    void free() {
        if (memory != null) {
            blocks.give(memory);
            memory = null;
        }
    }
}
