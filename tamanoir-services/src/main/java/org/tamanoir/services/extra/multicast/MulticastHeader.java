package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;

/**
 * What stands in front of the payload between nodes of a tree, big-endian:
 *
 * <pre>
 *    0               1               2               3
 *   +---------------+---------------+---------------+---------------+
 *   |     0xFE      |0xD1: multic. 1|     kind      |       0       |
 *   +---------------+---------------+---------------+---------------+
 *   |                             depth                             |
 *   +---------------------------------------------------------------+
 *   |              session: random, one for a flow (8)              |
 *   +---------------------------------------------------------------+
 *   |      token: of the branch that gets this, or sends it (8)     |
 *   +---------------------------------------------------------------+
 *   |                         sequence (8)                          |
 *   +---------------------------------------------------------------+
 *   downstream
 *     data 1, repair 2   the payload as it was; sequence counts from 1, depth is how many packets before this one the
 *                        sender may still have
 *     heartbeat 3        sequence is the highest there is; depth as above
 *     leave 5            the branch was let go from the session
 *     offer 7            session is that of the join, token the one to join with
 *   upstream
 *     report 4           sequence is the lowest that is not there; depth ranges follow, in their order, each
 *                        offset from sequence (4), packets (4): they are missing
 *     leave 5            the branch leaves the tree
 *     join 6             session is random; address (16, IPv4 as ::ffff:a.b.c.d), port (2), 0 (2)
 * </pre>
 *
 * <p>Thread contract: one thread. The object shows the header of the packet that was last read.
 */
final class MulticastHeader {
    static final int NONE = 0;
    static final int DATA = 1;
    static final int REPAIR = 2;
    static final int HEARTBEAT = 3;
    static final int REPORT = 4;
    static final int LEAVE = 5;
    static final int JOIN = 6;
    static final int OFFER = 7;

    static final int BYTES = 32;
    static final int RANGE_BYTES = 8;
    static final int MAX_RANGES = 32;
    static final int JOIN_BYTES = BYTES + 20;
    static final int MAX_DEPTH = 0xFFFF;
    static final long MAX_SEQUENCE = 1L << 62;

    private static final short MAGIC = (short) 0xFED1;
    private static final int KIND_AT = 2;
    private static final int DEPTH_AT = 4;
    private static final int TOKEN_AT = 16;

    private int kind;
    private int depth;
    private long session;
    private long token;
    private long sequence;

    /** Takes the header of this packet; {@link #kind} is {@link #NONE} if it has none that is whole. */
    void read(Packet packet) {
        kind = NONE;
        int bytes = packet.payloadLength();
        if (bytes < BYTES) {
            return;
        }
        ByteBuffer whole = packet.look();
        int at = whole.position() + packet.headerLength();
        if (whole.getShort(at) != MAGIC) {
            return;
        }
        depth = whole.getInt(at + DEPTH_AT);
        session = whole.getLong(at + 8);
        token = whole.getLong(at + TOKEN_AT);
        sequence = whole.getLong(at + 24);
        int said = whole.get(at + KIND_AT);
        kind = isGood(said, bytes) ? said : NONE;
    }

    private boolean isGood(int said, int bytes) {
        return switch (said) {
            case DATA, REPAIR -> isPlace();
            case HEARTBEAT -> isPlace() && bytes == BYTES;
            case REPORT ->
                depth >= 0
                        && depth <= MAX_RANGES
                        && sequence > 0
                        && sequence <= MAX_SEQUENCE
                        && bytes == BYTES + depth * RANGE_BYTES;
            case LEAVE, OFFER -> bytes == BYTES;
            case JOIN -> bytes == JOIN_BYTES;
            default -> false;
        };
    }

    private boolean isPlace() {
        return sequence > 0 && sequence < MAX_SEQUENCE && depth >= 0 && depth <= MAX_DEPTH && depth < sequence;
    }

    int kind() {
        return kind;
    }

    int depth() {
        return depth;
    }

    long session() {
        return session;
    }

    long token() {
        return token;
    }

    long sequence() {
        return sequence;
    }

    /** Returns the lowest sequence number that the sender may still have. */
    long lowest() {
        return sequence - depth;
    }

    static void write(ByteBuffer target, int kind, int depth, long session, long token, long sequence) {
        target.putShort(MAGIC).put((byte) kind).put((byte) 0).putInt(depth);
        target.putLong(session).putLong(token).putLong(sequence);
    }

    /** Makes data, or a repair, one for this branch. */
    static void direct(Packet packet, int kind, int depth, long token) {
        ByteBuffer payload = packet.payload();
        int at = payload.position();
        payload.put(at + KIND_AT, (byte) kind).putInt(at + DEPTH_AT, depth).putLong(at + TOKEN_AT, token);
    }
}
