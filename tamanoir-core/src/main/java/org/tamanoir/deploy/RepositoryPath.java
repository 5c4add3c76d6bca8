package org.tamanoir.deploy;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;

/**
 * A path of a repository, taken apart; nothing else is a path.
 *
 * <pre>
 * keys/&lt;16 hexadecimal digits&gt;
 * services/&lt;name&gt;/&lt;version&gt;/manifest.json
 * services/&lt;name&gt;/&lt;version&gt;/manifest.sig
 * services/&lt;name&gt;/&lt;version&gt;/&lt;name&gt;-&lt;version&gt;.jar
 * </pre>
 *
 * @param kind which of these
 * @param key of {@link Kind#KEY}, else 0
 * @param id of the others, else null
 */
record RepositoryPath(Kind kind, long key, @Nullable ServiceId id) {
    enum Kind {
        KEY,
        MANIFEST,
        SIGNATURE,
        JAR
    }

    private static final int MAX_CHARACTERS = 2 * (ServiceId.MAX_NAME + ServiceId.MAX_VERSION) + 32;
    private static final Pattern KEY = Pattern.compile("keys/([0-9a-f]{16})");

    /** Returns null when the text is no such path. */
    static @Nullable RepositoryPath parse(String text) {
        if (text.length() > MAX_CHARACTERS) {
            return null;
        }
        var key = KEY.matcher(text);
        if (key.matches()) {
            return new RepositoryPath(Kind.KEY, Long.parseUnsignedLong(key.group(1), 16), null);
        }
        String[] parts = text.split("/", -1);
        if (parts.length != 4 || !parts[0].equals("services")) {
            return null;
        }
        ServiceId id;
        try {
            id = new ServiceId(parts[1], parts[2]);
        } catch (IllegalArgumentException e) {
            return null;
        }
        if (parts[3].equals("manifest.json")) {
            return new RepositoryPath(Kind.MANIFEST, 0, id);
        }
        if (parts[3].equals("manifest.sig")) {
            return new RepositoryPath(Kind.SIGNATURE, 0, id);
        }
        return parts[3].equals(id.jarName()) ? new RepositoryPath(Kind.JAR, 0, id) : null;
    }

    /** Returns where the manifest for a key lies. */
    static String ofKey(long key) {
        return "keys/" + ServiceKey.toString(key);
    }
}
