package org.tamanoir.services.extra.cache;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;

/**
 * What the payload of a request, and of its answer, begins with, big-endian:
 *
 * <pre>
 *    0               1               2               3
 *   +---------------+---------------+---------------+---------------+
 *   |     0xFE      |0xCA: cache 1  |     kind      | key's length  |
 *   +---------------+---------------+---------------+---------------+
 *   |          0, or time to live in ms, or octets wanted           |
 *   +---------------------------------------------------------------+
 *   |                          request id                           |
 *   |              (8 octets; an answer has that of its request)    |
 *   +---------------------------------------------------------------+
 *   |        service key that answers shall name; 0 = none          |
 *   |              (8 octets; 0 in answers)                         |
 *   +---------------------------------------------------------------+
 *   |  key, 1 to 255 octets; behind it the value, or what fills a request up
 *
 *   kind 1  request
 *        2  answer: the value; how long it may be kept
 *        3  answer: there is no such object; how long that holds
 *        4  answer of a cache: the origin did not answer
 *        5  answer of a cache: the answer is too long for this request; how many octets of ANEP packet one needs
 * </pre>
 *
 * <p>Requests and answers have both ends' addresses; the destination of a request is its origin, and an answer swaps them.
 */
final class CacheHeader {
    static final int REQUEST = 1;
    static final int VALUE = 2;
    static final int NOTHING = 3;
    static final int UNREACHABLE = 4;
    static final int LONGER = 5;

    static final int BYTES = 24;
    static final int ID_AT = 8;
    static final int REPLY_KEY_AT = 16;
    private static final int NUMBER_AT = 4;
    private static final short MAGIC = (short) 0xFECA;

    private CacheHeader() {}

    /** Returns the kind of the packet's payload, 1 to 5; 0 if it has no such header with a key behind it. */
    static int kind(Packet packet) {
        if (packet.payloadLength() <= BYTES
                || packet.payloadOctet(0) != (MAGIC >>> 8 & 0xFF)
                || packet.payloadOctet(1) != (MAGIC & 0xFF)) {
            return 0;
        }
        int kind = packet.payloadOctet(2);
        int keyBytes = packet.payloadOctet(3);
        boolean isWhole = keyBytes > 0 && packet.payloadLength() >= BYTES + keyBytes;
        return isWhole && kind <= LONGER ? kind : 0;
    }

    static int keyBytes(ByteBuffer payload) {
        return payload.get(payload.position() + 3) & 0xFF;
    }

    /** Returns the time to live of an answer, in ms, or the octets that a longer request has. */
    static long number(ByteBuffer payload) {
        return payload.getInt(payload.position() + NUMBER_AT) & 0xFFFF_FFFFL;
    }

    static long id(ByteBuffer payload) {
        return payload.getLong(payload.position() + ID_AT);
    }

    /** Writes the header of an answer. */
    static void write(ByteBuffer target, int kind, int keyBytes, long number, long id) {
        target.putShort(MAGIC).put((byte) kind).put((byte) keyBytes).putInt((int) number);
        target.putLong(id).putLong(0);
    }
}
