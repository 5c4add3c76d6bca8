package org.tamanoir.anep;

import java.nio.ByteBuffer;

/**
 * Memory for packets that outgrow their place. The execution environment gives each thread one over its output
 * buffer; anywhere else {@link #HEAP} serves.
 */
public interface PacketSpace {
    /** A fresh heap buffer each time. */
    PacketSpace HEAP = new PacketSpace() {
        @Override
        public ByteBuffer reserve(int octets) {
            return ByteBuffer.allocate(octets);
        }

        @Override
        public void commit(int octets) {}
    };

    /**
     * Big-endian memory: at least {@code octets} from its position to its limit. What was reserved before and not
     * committed is handed out again. Packets use absolute indices: the limit stays behind those that lie in it.
     */
    ByteBuffer reserve(int octets);

    /** Keeps the first {@code octets} of what was reserved last. */
    void commit(int octets);

    /** Returns where {@linkplain Packet#copy copies} of packets grow that lie in this; they outlast it. */
    default PacketSpace ofCopies() {
        return HEAP;
    }
}
