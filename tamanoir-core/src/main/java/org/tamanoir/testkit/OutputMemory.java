package org.tamanoir.testkit;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketSpace;

/**
 * Memory for packets that grow, as a node has it: what was reserved and not committed is handed out again, and all
 * of it is used anew for the next packet. So that a service which holds on to it notices, it is overwritten then.
 *
 * <p>Thread contract: the service's thread.
 */
final class OutputMemory implements PacketSpace {
    private static final int BYTES = 4 * Anep.MAX_PACKET_OCTETS;
    private static final byte[] JUNK = new byte[BYTES];

    static {
        Arrays.fill(JUNK, (byte) 0xDD);
    }

    private ByteBuffer memory = ByteBuffer.allocateDirect(BYTES);
    private int committed;
    private int reservedEnd;

    /** Before the next packet. */
    void clear() {
        committed = 0;
        overwriteReserved();
        reservedEnd = 0;
    }

    private void overwriteReserved() {
        if (reservedEnd > committed) {
            memory.limit(memory.capacity()).put(committed, JUNK, 0, reservedEnd - committed);
        }
    }

    @Override
    public ByteBuffer reserve(int bytes) {
        if (bytes > BYTES) {
            throw new IllegalArgumentException(bytes + " bytes: a packet has at most " + Anep.MAX_PACKET_OCTETS);
        }
        if (committed + bytes > BYTES) {
            memory = ByteBuffer.allocateDirect(BYTES);
            committed = 0;
            reservedEnd = 0;
        }
        reservedEnd = Math.max(reservedEnd, committed + bytes);
        return memory.limit(memory.capacity()).position(committed);
    }

    @Override
    public void commit(int bytes) {
        committed += bytes;
    }
}
