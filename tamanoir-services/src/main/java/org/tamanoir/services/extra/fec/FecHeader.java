package org.tamanoir.services.extra.fec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tamanoir.anep.Packet;

/**
 * What stands in front of the payload between {@link Fec} and {@link Defec}, big-endian:
 *
 * <pre>
 *    0               1               2               3
 *   +---------------+---------------+---------------+---------------+
 *   |     0xFE      |  0xC1: FEC 1  |     kind      |     index     |
 *   +---------------+---------------+---------------+---------------+
 *   |                             block                             |
 *   +---------------------------------------------------------------+
 *   |                            session                            |
 *   |                     random, one for a flow                    |
 *   +---------------------------------------------------------------+
 *   data, kind 1; index 0-63:             the payload as it was
 *   repair, kind 2, or 3 if reports are wanted; index 0-31:
 *   |    k, 1-64    |    m, 1-32    |               0               |
 *   |                the repair's octets, all that follow           |
 *   report, kind 4, from Defec to Fec; index and block 0:
 *   |                 packets that should have come                 |
 *   |                 (8 octets, since the session began)           |
 *   |                 packets that have come (8 octets)             |
 * </pre>
 *
 * <p>What repairs are sums of is, for each data packet:
 *
 * <pre>
 *   CRC-32C of what follows (4) · payload length (2) · sequence number (8) · origin time (8) · payload
 * </pre>
 *
 * <p>with zeros behind it up to the longest one of the block; so lengths come back too, and what comes back wrong is
 * noticed. The rest of a lost packet's header is that of the repair: a block's packets are of one flow.
 */
final class FecHeader {
    static final int DATA = 1;
    static final int REPAIR = 2;
    static final int REPAIR_WITH_REPORTS = 3;
    static final int REPORT = 4;

    static final int BYTES = 16;
    /** Header of a repair. */
    static final int REPAIR_BYTES = BYTES + 4;
    /** A whole report. */
    static final int REPORT_BYTES = BYTES + 16;
    /** What a repair's octets have in front of the payload. */
    static final int OWN_BYTES = 22;

    /** Bytes of the CRC at the beginning of these. */
    static final int CRC_BYTES = 4;

    private static final int SEQUENCE_AT = CRC_BYTES + 2;
    private static final int ORIGIN_AT = SEQUENCE_AT + 8;
    private static final VarHandle SHORT = view(short[].class);
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);

    private static final short MAGIC = (short) 0xFEC1;

    private FecHeader() {}

    private static VarHandle view(Class<?> type) {
        return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.BIG_ENDIAN);
    }

    static void write(ByteBuffer target, int kind, int index, int block, long session) {
        target.putShort(MAGIC).put((byte) kind).put((byte) index).putInt(block).putLong(session);
    }

    /** Returns the kind of the packet's payload; 0 if it has no such header. */
    static int kind(Packet packet) {
        return packet.payloadLength() >= BYTES
                        && packet.payloadOctet(0) == (MAGIC >>> 8 & 0xFF)
                        && packet.payloadOctet(1) == (MAGIC & 0xFF)
                ? packet.payloadOctet(2)
                : 0;
    }

    /** Writes what is the packet's own, with 0 as its CRC, and the payload behind it. Returns the bytes. */
    static int writeOwn(byte[] target, int at, ByteBuffer payload, long sequence, long originNs) {
        int payloadBytes = payload.remaining();
        INT.set(target, at, 0);
        SHORT.set(target, at + CRC_BYTES, (short) payloadBytes);
        LONG.set(target, at + SEQUENCE_AT, sequence);
        LONG.set(target, at + ORIGIN_AT, originNs);
        payload.get(payload.position(), target, at + OWN_BYTES, payloadBytes);
        return OWN_BYTES + payloadBytes;
    }

    /** Returns the payload's length, of what repairs sum up. */
    static int ownPayloadBytes(byte[] octets, int at) {
        return (short) SHORT.get(octets, at + CRC_BYTES) & 0xFFFF;
    }

    static long ownSequence(byte[] octets, int at) {
        return (long) LONG.get(octets, at + SEQUENCE_AT);
    }

    static long ownOriginNs(byte[] octets, int at) {
        return (long) LONG.get(octets, at + ORIGIN_AT);
    }

    static int ownCrc(byte[] octets, int at) {
        return (int) INT.get(octets, at);
    }

    static void setOwnCrc(byte[] octets, int at, int crc) {
        INT.set(octets, at, crc);
    }
}
