package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A publisher's public key, Ed25519, in a PEM file (SubjectPublicKeyInfo, RFC 8410). Immutable. */
public final class PublisherKey {
    static final String ALGORITHM = "Ed25519";
    static final Pattern ID = Pattern.compile("[0-9a-f]{16}");

    private static final String LABEL = "PUBLIC KEY";
    private static final int ID_DIGITS = 16;

    private final PublicKey key;
    private final String id;

    PublisherKey(PublicKey key) {
        this.key = key;
        this.id = Hashing.sha256().hashBytes(key.getEncoded()).toString().substring(0, ID_DIGITS);
    }

    /**
     * Reads a PEM file of at most 4 KiB.
     *
     * @throws IOException in one line, with the file, what is wrong and the remedy
     */
    public static PublisherKey read(Path file) throws IOException {
        try {
            return parse(Pem.read(file));
        } catch (IllegalArgumentException e) {
            throw new IOException("key file " + file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads the PEM text.
     *
     * @throws IllegalArgumentException in one line
     */
    public static PublisherKey parse(String pem) {
        byte[] der = Pem.decode(LABEL, pem);
        try {
            PublicKey key = KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(der));
            // A second encoding of one key would have an id of its own, and slip past a revocation.
            if (Arrays.equals(key.getEncoded(), der)) {
                return new PublisherKey(key);
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(notPublic(), e);
        }
        throw new IllegalArgumentException(notPublic());
    }

    private static String notPublic() {
        return "no public key of kind Ed25519; make one with keygen, and name the file that ends in .pub";
    }

    /** Returns which key: the first 16 hexadecimal digits of SHA-256 over its SubjectPublicKeyInfo. */
    public String id() {
        return id;
    }

    /**
     * Checks that this can be a key id.
     *
     * @throws IllegalArgumentException in one line
     */
    static String requireId(String keyId) {
        if (!ID.matcher(keyId).matches()) {
            throw new IllegalArgumentException(
                    "key id " + OneLine.quoted(keyId) + ": it must be 16 hexadecimal digits in lower case");
        }
        return keyId;
    }

    /** Returns the PEM text. */
    public String pem() {
        return Pem.encode(LABEL, key.getEncoded());
    }

    /** Returns whether the signature is this key's over these bytes. */
    public boolean verifies(byte[] message, Signature signature) {
        if (!signature.keyId().equals(id)) {
            return false;
        }
        try {
            java.security.Signature verifier = java.security.Signature.getInstance(ALGORITHM);
            verifier.initVerify(key);
            verifier.update(message);
            return verifier.verify(signature.bytes());
        } catch (SignatureException e) {
            return false; // Bytes that are no signature at all.
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform from 15 on has Ed25519", e);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PublisherKey that && key.equals(that.key);
    }

    @Override
    public int hashCode() {
        return key.hashCode();
    }

    @Override
    public String toString() {
        return "key " + id;
    }
}
