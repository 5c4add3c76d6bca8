package org.tamanoir.auth;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A secret that two neighbours share, with the number by which packets name it. The secret is never shown: it is kept as
 * the two blocks that HMAC begins with (RFC 2104, section 2).
 *
 * <p>Immutable; any thread.
 */
public final class AuthKey {
    /** Bytes of a secret: 128 bits at least, and no more than SHA-256 takes in at once. */
    public static final int MIN_BYTES = 16;

    public static final int MAX_BYTES = 64;

    private static final int INNER = 0x36;
    private static final int OUTER = 0x5C;

    private final int id;
    private final int bytes;
    final byte[] inner;
    final byte[] outer;

    private AuthKey(int id, byte[] secret) {
        this.id = id;
        this.bytes = secret.length;
        this.inner = block(secret, INNER);
        this.outer = block(secret, OUTER);
    }

    private static byte[] block(byte[] secret, int filling) {
        byte[] block = Arrays.copyOf(secret, MAX_BYTES);
        for (int i = 0; i < block.length; i++) {
            block[i] ^= (byte) filling;
        }
        return block;
    }

    /**
     * Returns a key.
     *
     * @param id unsigned, not 0
     * @param hex the secret, {@value #MIN_BYTES} to {@value #MAX_BYTES} bytes in hexadecimal digits
     * @throws IllegalArgumentException in one line, which does not show the secret
     */
    public static AuthKey of(int id, String hex) {
        byte[] secret;
        try {
            secret = HexFormat.of().parseHex(hex);
        } catch (IllegalArgumentException e) {
            throw misfit(id, "its secret is no even number of hexadecimal digits", e);
        }
        if (secret.length < MIN_BYTES || secret.length > MAX_BYTES) {
            throw misfit(id, "its secret has " + secret.length + " bytes", null);
        }
        AuthKey key = new AuthKey(id, secret);
        Arrays.fill(secret, (byte) 0);
        return key;
    }

    private static IllegalArgumentException misfit(int id, String problem, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "key " + text(id) + ": " + problem + "; " + 2 * MIN_BYTES + " to " + 2 * MAX_BYTES
                        + " digits are wanted, as openssl rand -hex 32 makes",
                cause);
    }

    /**
     * Reads a key's number.
     *
     * @throws IllegalArgumentException in one line, if it is none from 1 to 4294967295
     */
    public static int id(String text) {
        if (text.matches("[1-9][0-9]{0,9}") && Long.parseLong(text) <= 0xFFFF_FFFFL) {
            return (int) Long.parseLong(text);
        }
        throw new IllegalArgumentException("'" + text + "' is no key's number: 1 to 4294967295 is wanted");
    }

    /** Returns a key's number as people write it. */
    public static String text(int id) {
        return Integer.toUnsignedString(id);
    }

    public int id() {
        return id;
    }

    /** Returns the bytes of the secret. */
    public int bytes() {
        return bytes;
    }

    /** Returns whether both have the same number and secret; takes the same time wherever secrets differ. */
    public boolean isSame(AuthKey other) {
        return id == other.id & MessageDigest.isEqual(inner, other.inner);
    }

    @Override
    public String toString() {
        return "AuthKey[" + text(id) + "]";
    }
}
