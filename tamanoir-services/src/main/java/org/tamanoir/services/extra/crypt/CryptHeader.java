package org.tamanoir.services.extra.crypt;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;

/**
 * What stands in front of an encrypted payload, big-endian:
 *
 * <pre>
 *    0               1               2               3
 *   +---------------+---------------+---------------+---------------+
 *   |     0xFE      | 0xC5: crypt 1 |               0               |
 *   +---------------+---------------+---------------+---------------+
 *   |                            key id                             |
 *   +---------------------------------------------------------------+
 *   |                            stream                             |
 *   +---------------------------------------------------------------+
 *   |                             salt                              |
 *   |          stream and salt: random, one for a session           |
 *   +---------------------------------------------------------------+
 *   |                   ms since 1970, as it leaves                 |
 *   |                           (8 octets)                          |
 *   +---------------------------------------------------------------+
 *   |                           sequence                            |
 *   |                    from 0 up (8 octets)                       |
 *   +---------------------------------------------------------------+
 *   |            what the payload was, encrypted by AES-GCM         |
 *   |                       tag of 16 octets                        |
 * </pre>
 *
 * <p>The nonce is stream ‖ sequence, 12 octets (NIST SP 800-38D, section 8.2.1). A session is what an instance of {@link
 * Crypt} sends with one key; its key is HMAC-SHA-256(key, "tamanoir crypt 1" ‖ stream ‖ salt), as long as the key. So no
 * nonce comes twice with one key, whatever is started anew, as long as 96 random bits do not come twice.
 *
 * <p>Authenticated besides, though not encrypted: these octets, and what the packet's header says of its source and
 * destination, the destination's port, stream and sequence number. The rest of a header changes on the way.
 */
final class CryptHeader {
    static final int BYTES = 36;
    static final int TAG_BYTES = 16;
    static final int NONCE_BYTES = 12;
    static final int SALT_BYTES = 12;
    /** Of what is authenticated: this header; two identifiers, port, stream and sequence number. */
    static final int AUTHENTICATED_BYTES = BYTES + 2 * 16 + 4 + 4 + 8;

    private static final int MAGIC = 0xFEC50000;
    private static final int KEY_ID_AT = 4;
    static final int SALT_AT = 8;
    static final int TIME_AT = 20;
    static final int SEQUENCE_AT = 28;

    private CryptHeader() {}

    /** Writes the header at index 0 of memory that is authenticated. */
    static void write(ByteBuffer target, int keyId, byte[] salt, long timeMs, long sequence) {
        target.putInt(0, MAGIC)
                .putInt(KEY_ID_AT, keyId)
                .put(SALT_AT, salt)
                .putLong(TIME_AT, timeMs)
                .putLong(SEQUENCE_AT, sequence);
    }

    /** Writes what the packet's header says behind it; what it does not have counts as 0. */
    static void writeEnds(ByteBuffer target, Packet packet) {
        target.putLong(BYTES, packet.hasInternetSource() ? packet.sourceHigh() : 0)
                .putLong(BYTES + 8, packet.hasInternetSource() ? packet.sourceLow() : 0)
                .putLong(BYTES + 16, packet.hasInternetDestination() ? packet.destinationHigh() : 0)
                .putLong(BYTES + 24, packet.hasInternetDestination() ? packet.destinationLow() : 0)
                .putInt(BYTES + 32, packet.destinationPort())
                .putInt(BYTES + 36, packet.streamId())
                .putLong(BYTES + 40, packet.sequence());
    }

    /** Returns whether a packet can be one that {@link Crypt} made. */
    static boolean isOf(ByteBuffer payload) {
        return payload.remaining() >= BYTES + TAG_BYTES && payload.getInt(payload.position()) == MAGIC;
    }

    static int keyId(ByteBuffer payload) {
        return payload.getInt(payload.position() + KEY_ID_AT);
    }
}
