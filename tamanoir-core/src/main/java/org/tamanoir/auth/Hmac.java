package org.tamanoir.auth;

import java.nio.ByteBuffer;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;

/**
 * HMAC-SHA-256 (RFC 2104, RFC 6234) over a packet, with the field for it and the checksum taken as zero. By hand over
 * the JDK's SHA-256, whose code the JVM has for the processor: {@code javax.crypto.Mac} allocates for each result, and
 * wants an object for each key.
 *
 * <p>Thread contract: one thread.
 */
final class Hmac {
    static final int BYTES = 32;

    /** Of the option, behind its head: key id and algorithm. */
    private static final int MAC_AT = 8;

    private static final int CHECKSUM_BYTES = 2;
    /** Packets are read through here in pieces: from an array the JVM reads fastest, and the packet stays as it is. */
    private static final int PIECE_BYTES = 4096;

    private final MessageDigest sha;
    private final byte[] piece = new byte[PIECE_BYTES];
    private final byte[] result = new byte[BYTES];
    private final byte[] claimed = new byte[BYTES];

    Hmac() {
        try {
            sha = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns whether the packet, which has the option, carries what this key makes of it; takes the same time if not. */
    boolean holds(AuthKey key, Packet packet) {
        packet.buffer().get(packet.optionOffset(Option.AUTHENTICATION) + MAC_AT, claimed);
        return MessageDigest.isEqual(of(key, packet), claimed);
    }

    /** Returns what this key makes of the packet, which has the option; the same array each time. */
    byte[] of(AuthKey key, Packet packet) {
        ByteBuffer buffer = packet.buffer();
        int mac = packet.optionOffset(Option.AUTHENTICATION) + MAC_AT;
        int checksum = packet.has(Option.CHECKSUM) ? packet.optionOffset(Option.CHECKSUM) : -CHECKSUM_BYTES;
        int end = packet.offset() + packet.length();
        sha.update(key.inner);
        for (int at = packet.offset(); at < end; at += PIECE_BYTES) {
            int bytes = Math.min(PIECE_BYTES, end - at);
            buffer.get(at, piece, 0, bytes);
            blank(mac - at, BYTES, bytes);
            blank(checksum - at, CHECKSUM_BYTES, bytes);
            sha.update(piece, 0, bytes);
        }
        try {
            sha.digest(result, 0, BYTES);
            sha.update(key.outer);
            sha.update(result);
            sha.digest(result, 0, BYTES);
        } catch (DigestException e) {
            throw new IllegalStateException("SHA-256 has 32 bytes", e);
        }
        return result;
    }

    /** Zeroes as much of a field as lies in the piece. */
    private void blank(int from, int bytes, int pieceBytes) {
        for (int i = Math.max(0, from); i < Math.min(pieceBytes, from + bytes); i++) {
            piece[i] = 0;
        }
    }
}
