package org.tamanoir.repository;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;

/**
 * One version in a repository's {@code index.json}.
 *
 * @param key 16 hexadecimal digits: that of {@code name:version}
 * @param bytes size of the jar
 * @param sha256 of the jar, 64 hexadecimal digits in lower case
 * @param publisher key id of who signed it
 * @param description at most {@value #MAX_DESCRIPTION} characters of the manifest's
 * @param published in whole seconds, ISO 8601 with Z
 * @param yanked the reason why new streams should not get it; null = they do
 */
public record IndexEntry(
        String name,
        String version,
        String key,
        @JsonProperty("octets") long bytes,
        String sha256,
        String publisher,
        String description,
        String published,
        @Nullable String yanked) {
    /** Characters of a description that the index shows. */
    static final int MAX_DESCRIPTION = 200;
    /** The longest reason for yanking, in characters. */
    public static final int MAX_REASON = 200;

    /**
     * Checks every field, since an index may come from anywhere.
     *
     * @throws IllegalArgumentException in one line
     */
    public IndexEntry {
        ServiceId id = new ServiceId(name, version);
        require(ServiceKey.toString(id.key()).equals(key), id, "key", key);
        require(bytes > 0, id, "octets", String.valueOf(bytes));
        require(sha256.matches("[0-9a-f]{64}"), id, "sha256", sha256);
        require(publisher.matches("[0-9a-f]{16}"), id, "publisher", publisher);
        require(description.length() <= MAX_DESCRIPTION, id, "description", description);
        try {
            Instant.parse(published);
        } catch (RuntimeException e) {
            require(false, id, "published", published);
        }
        if (yanked != null) {
            requireReason(yanked);
        }
    }

    private static void require(boolean holds, ServiceId id, String field, String value) {
        if (!holds) {
            String shown = value.length() <= 80 ? value : value.substring(0, 80) + "...";
            throw new IllegalArgumentException("index: " + id + ": " + field + " '" + shown + "' cannot be one");
        }
    }

    static IndexEntry of(Manifest manifest, String publisher, Instant published, @Nullable String yanked) {
        return new IndexEntry(
                manifest.id().name(),
                manifest.id().version(),
                ServiceKey.toString(manifest.id().key()),
                manifest.jarBytes(),
                manifest.jarSha256(),
                publisher,
                shortened(manifest.description()),
                published.truncatedTo(ChronoUnit.SECONDS).toString(),
                yanked);
    }

    private static String shortened(String description) {
        int end = Math.min(description.length(), MAX_DESCRIPTION);
        boolean splits =
                end > 0 && end < description.length() && Character.isHighSurrogate(description.charAt(end - 1));
        return description.substring(0, splits ? end - 1 : end);
    }

    /**
     * Checks a reason for yanking.
     *
     * @throws IllegalArgumentException in one line
     */
    static String requireReason(String reason) {
        if (reason.isBlank() || reason.length() > MAX_REASON || reason.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("reason of " + reason.length() + " characters: one line of 1 to "
                    + MAX_REASON + " characters is wanted, which says why the version should not be used");
        }
        return reason;
    }

    /** Returns which version. */
    public ServiceId id() {
        return new ServiceId(name, version);
    }

    IndexEntry withYanked(@Nullable String reason) {
        return new IndexEntry(name, version, key, bytes, sha256, publisher, description, published, reason);
    }
}
