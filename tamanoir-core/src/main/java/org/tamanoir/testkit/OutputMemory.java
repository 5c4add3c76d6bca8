package org.tamanoir.testkit;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketSpace;

/**
 * Memory for packets that grow, as a node has it: what was reserved and not committed is handed out again, and all
 * of it is used anew for the next packet. So that a service which holds on to it notices, it is overwritten then.
 *
 * <p>Thread contract: the service's thread.
 */
final class OutputMemory implements PacketSpace {
    private static final int OCTETS = 4 * Anep.MAX_PACKET_OCTETS;
    private static final byte JUNK = (byte) 0xDD;

    private ByteBuffer memory = ByteBuffer.allocateDirect(OCTETS);
    private int committed;
    private int reservedEnd;

    /** Before the next packet. */
    void clear() {
        committed = 0;
        overwriteReserved();
        reservedEnd = 0;
    }

    /** When the node needs memory itself: what is reserved and not committed is gone. */
    void overwriteReserved() {
        ByteBuffer all = memory.duplicate().clear();
        for (int i = committed; i < reservedEnd; i++) {
            all.put(i, JUNK);
        }
    }

    @Override
    public ByteBuffer reserve(int octets) {
        if (committed + octets > memory.capacity()) {
            memory = ByteBuffer.allocateDirect(Math.max(OCTETS, octets));
            committed = 0;
            reservedEnd = 0;
        }
        reservedEnd = Math.max(reservedEnd, committed + octets);
        return memory.limit(memory.capacity()).position(committed);
    }

    @Override
    public void commit(int octets) {
        committed += octets;
    }
}
