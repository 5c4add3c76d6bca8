package org.tamanoir.deploy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A publisher's Ed25519 signature (RFC 8032) over a manifest's bytes: the file {@code manifest.sig}, one line of
 * text, {@code ed25519 <key id> <86 to 88 characters of Base64>}. Immutable.
 *
 * @param keyId 16 hexadecimal digits: {@link PublisherKey#id}
 * @param bytes 64 bytes
 */
public record Signature(String keyId, byte[] bytes) {
    /** The largest signature file that is read. */
    public static final int MAX_BYTES = 512;

    private static final int SIGNATURE_BYTES = 64;
    private static final Pattern FILE =
            Pattern.compile("ed25519 (" + PublisherKey.ID.pattern() + ") ([A-Za-z0-9+/]{86})(==)?(\r?\n)?");

    /**
     * Checks both.
     *
     * @throws IllegalArgumentException in one line
     */
    public Signature {
        PublisherKey.requireId(keyId);
        if (bytes.length != SIGNATURE_BYTES) {
            throw new IllegalArgumentException(
                    "signature of " + bytes.length + " bytes: Ed25519 has " + SIGNATURE_BYTES);
        }
        bytes = bytes.clone();
    }

    @Override
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Returns the file's bytes. */
    public byte[] encode() {
        return ("ed25519 " + keyId + " " + Base64.getEncoder().encodeToString(bytes) + "\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Reads a signature file.
     *
     * @throws CodeRefusedException {@link Refusal#MALFORMED}
     */
    public static Signature decode(byte[] text) throws CodeRefusedException {
        String line = text.length > MAX_BYTES ? "" : new String(text, StandardCharsets.US_ASCII);
        Matcher file = FILE.matcher(line);
        if (!file.matches()) {
            throw new CodeRefusedException(
                    Refusal.MALFORMED,
                    "signature of " + text.length + " bytes that cannot be read: one line is wanted, ed25519, "
                            + "16 hexadecimal digits of the key id, 88 characters of Base64; sign the manifest again");
        }
        return new Signature(file.group(1), Base64.getDecoder().decode(file.group(2)));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Signature that && keyId.equals(that.keyId) && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "ed25519 signature by key " + keyId;
    }
}
