package org.tamanoir.deploy;

/**
 * A publisher's Ed25519 signature (RFC 8032) over a manifest's octets: the file {@code manifest.sig}, one line of
 * text, {@code ed25519 <key id> <86 to 88 characters of Base64>}.
 *
 * @param keyId 16 hexadecimal digits: {@link PublisherKey#id}
 * @param octets 64 octets
 */
public record Signature(String keyId, byte[] octets) {
    /** The largest signature file that is read. */
    public static final int MAX_OCTETS = 512;

    /** The file's octets. */
    public byte[] encode() {
        throw new UnsupportedOperationException("encode");
    }

    /**
     * Reads a signature file.
     *
     * @throws CodeRefusedException {@link Refusal#MALFORMED}
     */
    public static Signature decode(byte[] text) throws CodeRefusedException {
        throw new UnsupportedOperationException("decode");
    }
}
