package org.tamanoir.deploy;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Whose code runs here: publishers' keys with the service names that each may sign for. Immutable. */
public final class TrustPolicy {
    /**
     * A publisher.
     *
     * @param key its public key
     * @param names patterns of service names: {@code org.example.Foo}, {@code org.example.*} (any depth below), or
     *     {@code *}
     */
    public record Publisher(PublisherKey key, List<String> names) {}

    /** Trusts nobody. */
    public static final TrustPolicy NOBODY = new TrustPolicy(List.of(), Set.of(), Set.of(), false);

    /**
     * A policy.
     *
     * @param revokedKeys key ids that count no more, trusted or not
     * @param revokedDigests SHA-256 of jars that do not run, in hexadecimal
     * @param allowUnsigned whether code without a signature runs; a wrong signature is refused all the same
     * @throws IllegalArgumentException in one line, for a pattern or digest that cannot be one
     */
    public TrustPolicy(
            List<Publisher> publishers, Set<String> revokedKeys, Set<String> revokedDigests, boolean allowUnsigned) {}

    /** The same with this key id (16 digits) or jar digest (64 digits) revoked besides. */
    public TrustPolicy revoking(String keyIdOrDigest) {
        throw new UnsupportedOperationException("revoking");
    }

    /**
     * Decodes a manifest and returns it if this policy lets its code run.
     *
     * @param signature the signature file; null when there is none
     * @throws CodeRefusedException with the first reason found
     */
    public Manifest verify(byte[] manifest, byte @Nullable [] signature) throws CodeRefusedException {
        throw new UnsupportedOperationException("verify");
    }
}
