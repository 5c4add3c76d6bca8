package org.tamanoir.services.extra.aggregate;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;

/**
 * What the payload begins with between {@link Aggregate} and {@link Split}, big-endian:
 *
 * <pre>
 *    0               1               2               3
 *   +---------------+---------------+---------------+---------------+
 *   |     0xFE      |0xA1: aggreg. 1|     packets, 0 to 65,535      |
 *   +---------------+---------------+---------------+---------------+
 *   0 packets:  the payload as it was: a packet that was too large to be with others
 *   else:       so many whole packets, one behind the other; ANEP's header says how long each is
 * </pre>
 */
final class AggregateHeader {
    static final int BYTES = 4;
    static final int MAX_PACKETS = 0xFFFF;
    private static final short MAGIC = (short) 0xFEA1;

    private AggregateHeader() {}

    static void write(ByteBuffer target, int packets) {
        target.putShort(MAGIC).putShort((short) packets);
    }

    /** Returns how many packets there are; negative if there is no such header. */
    static int packets(Packet packet) {
        return packet.payloadLength() >= BYTES
                        && packet.payloadOctet(0) == (MAGIC >>> 8 & 0xFF)
                        && packet.payloadOctet(1) == (MAGIC & 0xFF)
                ? packet.payloadOctet(2) << 8 | packet.payloadOctet(3)
                : -1;
    }
}
