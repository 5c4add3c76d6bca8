package org.tamanoir.deploy;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;

/** Whose code runs here: publishers' keys with the service names that each may sign for. Immutable. */
public final class TrustPolicy {
    /**
     * A publisher.
     *
     * @param key its public key
     * @param names patterns of service names: {@code org.example.Foo}, {@code org.example.*} (any depth below), or
     *     {@code *}
     */
    public record Publisher(PublisherKey key, List<String> names) {
        /**
         * Checks the patterns.
         *
         * @throws IllegalArgumentException in one line
         */
        public Publisher {
            names = List.copyOf(names);
            for (String pattern : names) {
                requirePattern(pattern);
            }
        }

        private static void requirePattern(String pattern) {
            String name = pattern.endsWith(".*") ? pattern.substring(0, pattern.length() - 2) : pattern;
            if (pattern.equals("*")) {
                return;
            }
            try {
                ServiceId.requireName(name);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "service pattern " + OneLine.quoted(pattern)
                                + ": it must be a service's name, a package with .* behind it, or * alone",
                        e);
            }
        }

        boolean mayPublish(String name) {
            for (String pattern : names) {
                boolean fits = pattern.endsWith("*")
                        ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                        : name.equals(pattern);
                if (fits) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Trusts nobody. */
    public static final TrustPolicy NOBODY = new TrustPolicy(List.of(), Set.of(), Set.of(), false);

    private final List<Publisher> publishers;
    private final Set<String> revokedKeys;
    private final Set<String> revokedDigests;
    private final boolean allowUnsigned;

    /**
     * Makes a policy.
     *
     * @param publishers one key may stand there several times: its patterns add up
     * @param revokedKeys key ids that count no more, trusted or not
     * @param revokedDigests SHA-256 of jars that do not run, in hexadecimal
     * @param allowUnsigned whether code without a signature runs; a wrong signature is refused all the same
     * @throws IllegalArgumentException in one line, for a key id or digest that cannot be one
     */
    public TrustPolicy(
            List<Publisher> publishers, Set<String> revokedKeys, Set<String> revokedDigests, boolean allowUnsigned) {
        this.publishers = List.copyOf(publishers);
        this.revokedKeys = lowerCase(revokedKeys);
        this.revokedDigests = lowerCase(revokedDigests);
        this.allowUnsigned = allowUnsigned;
        this.revokedKeys.forEach(PublisherKey::requireId);
        for (String digest : this.revokedDigests) {
            if (!Manifest.isSha256(digest)) {
                throw new IllegalArgumentException(
                        "revoked digest " + OneLine.quoted(digest) + ": it must be 64 hexadecimal digits");
            }
        }
    }

    private static Set<String> lowerCase(Set<String> digits) {
        Set<String> lower = new HashSet<>();
        digits.forEach(d -> lower.add(d.toLowerCase(Locale.ROOT)));
        return Set.copyOf(lower);
    }

    /**
     * Returns the same with this key id (16 digits) or jar digest (64 digits) revoked besides.
     *
     * @throws IllegalArgumentException in one line, if it is neither
     */
    public TrustPolicy revoking(String keyIdOrDigest) {
        return revoking(List.of(keyIdOrDigest));
    }

    /** Returns the same with all of these revoked besides. */
    public TrustPolicy revoking(Collection<String> keyIdsAndDigests) {
        Set<String> keys = new HashSet<>(revokedKeys);
        Set<String> digests = new HashSet<>(revokedDigests);
        for (String each : keyIdsAndDigests) {
            String digits = each.toLowerCase(Locale.ROOT);
            if (PublisherKey.ID.matcher(digits).matches()) {
                keys.add(digits);
            } else if (Manifest.isSha256(digits)) {
                digests.add(digits);
            } else {
                throw new IllegalArgumentException("cannot revoke " + OneLine.quoted(each)
                        + ": 16 hexadecimal digits of a key id or 64 of a jar's SHA-256 are wanted");
            }
        }
        return new TrustPolicy(publishers, keys, digests, allowUnsigned);
    }

    /** Returns how many key ids and digests are revoked. */
    public int revocations() {
        return revokedKeys.size() + revokedDigests.size();
    }

    /** Returns the key ids that count no more, in order. */
    public Set<String> revokedKeys() {
        return new TreeSet<>(revokedKeys);
    }

    /** Returns the SHA-256 of jars that do not run, in order. */
    public Set<String> revokedDigests() {
        return new TreeSet<>(revokedDigests);
    }

    /**
     * Decodes a manifest and returns it if this policy lets its code run.
     *
     * @param signature the signature file; null when there is none
     * @throws CodeRefusedException with the first reason found
     */
    public Manifest verify(byte[] manifest, byte @Nullable [] signature) throws CodeRefusedException {
        Manifest claimed = Manifest.decode(manifest);
        Signature given = signature == null ? null : Signature.decode(signature);
        List<Publisher> signers = signers(claimed.id(), given == null ? null : given.keyId());
        if (given != null) {
            requireSigned(claimed.id(), "manifest", manifest, given, signers);
            requireName(claimed.id(), claimed.id().name(), given.keyId(), signers);
        }
        requireDigest(claimed);
        return claimed;
    }

    /**
     * Checks that a trusted publisher has signed a format's description, as {@link FormatFile#signed} says. Its patterns
     * have to cover {@code format.} with the top structure's name behind it.
     *
     * @param signature the signature file; null when there is none
     * @throws CodeRefusedException with the first reason found
     */
    public void verify(Format format, byte @Nullable [] signature) throws CodeRefusedException {
        String what = "format " + format.id();
        if (signature == null) {
            throw new CodeRefusedException(
                    Refusal.UNSIGNED, what + " has no signature: publish it with a key, by 'ffs publish --key'");
        }
        Signature given = Signature.decode(signature);
        List<Publisher> signers = signers(what, given.keyId());
        requireSigned(what, "description", FormatFile.signed(format), given, signers);
        requireName(what, "format." + format.name(), given.keyId(), signers);
    }

    private static void requireSigned(Object what, String part, byte[] bytes, Signature given, List<Publisher> signers)
            throws CodeRefusedException {
        if (signers.stream().noneMatch(p -> p.key().verifies(bytes, given))) {
            throw new CodeRefusedException(
                    Refusal.BAD_SIGNATURE,
                    what + ": its " + part + " is not what key " + given.keyId() + " signed: " + part
                            + " or signature was altered; get it from another source or publish it again");
        }
    }

    /**
     * Looks again at code whose signature was verified earlier, perhaps under a policy that has changed since: what
     * was revoked meanwhile is refused.
     *
     * @param publisherId key id of who signed it; null = unsigned
     * @throws CodeRefusedException with the first reason found
     */
    public void verifyAgain(Manifest manifest, @Nullable String publisherId) throws CodeRefusedException {
        List<Publisher> signers = signers(manifest.id(), publisherId);
        if (publisherId != null) {
            requireName(manifest.id(), manifest.id().name(), publisherId, signers);
        }
        requireDigest(manifest);
    }

    /** Returns the publishers with this key id; empty for unsigned code that may run. */
    private List<Publisher> signers(Object id, @Nullable String keyId) throws CodeRefusedException {
        if (keyId == null) {
            if (!allowUnsigned) {
                throw new CodeRefusedException(
                        Refusal.UNSIGNED,
                        id + " has no signature: publish it signed, or allow unsigned code on this node");
            }
            return List.of();
        }
        if (revokedKeys.contains(keyId)) {
            throw new CodeRefusedException(
                    Refusal.REVOKED_KEY,
                    id + ": its key " + keyId + " is revoked on this node; publish it signed with another key");
        }
        List<Publisher> signers =
                publishers.stream().filter(p -> p.key().id().equals(keyId)).toList();
        if (signers.isEmpty()) {
            throw new CodeRefusedException(
                    Refusal.UNTRUSTED_KEY,
                    id + ": its key " + keyId + " is not trusted on this node; add the publisher's public key, "
                            + "with patterns that cover the name, if the code is to run");
        }
        return signers;
    }

    private static void requireName(Object id, String name, String keyId, List<Publisher> signers)
            throws CodeRefusedException {
        if (signers.stream().noneMatch(p -> p.mayPublish(name))) {
            List<String> names =
                    signers.stream().flatMap(p -> p.names().stream()).toList();
            throw new CodeRefusedException(
                    Refusal.NOT_FOR_THIS_NAME,
                    id + ": its key " + keyId + " is trusted for " + names
                            + " only; add a pattern for the name, or publish it under another name");
        }
    }

    private void requireDigest(Manifest manifest) throws CodeRefusedException {
        if (revokedDigests.contains(manifest.jarSha256())) {
            throw new CodeRefusedException(
                    Refusal.REVOKED_DIGEST,
                    manifest.id() + ": its jar " + manifest.jarSha256()
                            + " is revoked on this node; publish a new version");
        }
    }
}
