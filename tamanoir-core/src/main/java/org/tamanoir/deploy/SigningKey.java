package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.file.Path;

/** A publisher's private key with its public one, Ed25519, in a PEM file (PKCS #8, not encrypted). Immutable. */
public final class SigningKey {
    private SigningKey() {}

    /** A new pair. */
    public static SigningKey generate() {
        throw new UnsupportedOperationException("generate");
    }

    /**
     * Reads {@code file}, and the public key from {@code file} with {@code .pub} behind its name.
     *
     * @throws IOException in one line; also when both do not belong together
     */
    public static SigningKey read(Path file) throws IOException {
        throw new UnsupportedOperationException("read");
    }

    /**
     * Writes {@code file}, readable by its owner alone, and {@code file.pub}; overwrites neither.
     *
     * @throws IOException in one line
     */
    public void write(Path file) throws IOException {
        throw new UnsupportedOperationException("write");
    }

    /** The public key. */
    public PublisherKey publisher() {
        throw new UnsupportedOperationException("publisher");
    }

    /** Signs these octets. */
    public Signature sign(byte[] message) {
        throw new UnsupportedOperationException("sign");
    }
}
