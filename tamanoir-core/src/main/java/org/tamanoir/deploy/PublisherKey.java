package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.file.Path;

/** A publisher's public key, Ed25519, in a PEM file (SubjectPublicKeyInfo). Immutable. */
public final class PublisherKey {
    private PublisherKey() {}

    /**
     * Reads a PEM file of at most 4 KiB.
     *
     * @throws IOException in one line, with the file, what is wrong and the remedy
     */
    public static PublisherKey read(Path file) throws IOException {
        throw new UnsupportedOperationException("read");
    }

    /** Reads the PEM text. @throws IllegalArgumentException in one line */
    public static PublisherKey parse(String pem) {
        throw new UnsupportedOperationException("parse");
    }

    /** Which key: the first 16 hexadecimal digits of SHA-256 over its SubjectPublicKeyInfo. */
    public String id() {
        throw new UnsupportedOperationException("id");
    }

    /** The PEM text. */
    public String pem() {
        throw new UnsupportedOperationException("pem");
    }

    /** Whether the signature is this key's over these octets. */
    public boolean verifies(byte[] message, Signature signature) {
        throw new UnsupportedOperationException("verifies");
    }
}
