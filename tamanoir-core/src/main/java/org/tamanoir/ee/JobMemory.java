package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.tamanoir.transport.Buffer;

/**
 * Where packets lie that leave in another order than they came in: pieces of 64 KiB, each filled from its begin to its
 * end and free again when all of its packets have gone.
 *
 * <p>Thread contract: {@link #put} one thread at a time; {@link #release} any thread.
 */
final class JobMemory {
    /** Holds any datagram. */
    private static final int PIECE_BYTES = 1 << 16;

    private final Buffer buffer;
    private final ByteBuffer bytes;
    private final int pieces;
    /** Packets in each piece, and one more in that which is being filled. */
    private final AtomicIntegerArray live;

    private int piece;
    private int filled;

    /** @param buffer of a power of two bytes, at least four pieces; it stays the caller's */
    JobMemory(Buffer buffer) {
        this.buffer = buffer;
        this.bytes = buffer.nio();
        this.pieces = buffer.capacity() / PIECE_BYTES;
        this.live = new AtomicIntegerArray(pieces);
        live.set(0, 1);
    }

    Buffer buffer() {
        return buffer;
    }

    /** Copies a packet in; returns where it lies, or -1 when there is no room. */
    int put(ByteBuffer from, int offset, int length) {
        if (filled + length > PIECE_BYTES && !nextPiece()) {
            return -1;
        }
        int at = piece * PIECE_BYTES + filled;
        bytes.put(at, from, offset, length);
        filled += length;
        live.incrementAndGet(piece);
        return at;
    }

    private boolean nextPiece() {
        for (int i = 1; i <= pieces; i++) {
            int candidate = (piece + i) % pieces;
            if (live.get(candidate) == (candidate == piece ? 1 : 0)) {
                live.decrementAndGet(piece);
                live.incrementAndGet(candidate);
                piece = candidate;
                filled = 0;
                return true;
            }
        }
        return false;
    }

    /** Takes note that the packet that lies here has gone. */
    void release(int at) {
        live.decrementAndGet(at / PIECE_BYTES);
    }
}
