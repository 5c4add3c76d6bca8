package org.tamanoir.node.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.Authentication;
import org.tamanoir.deploy.SmallFile;

/**
 * The keys of a file, by which packets are authenticated: a line each, its number and its secret. Two are equal that have
 * the same name and the same keys. Immutable; any thread.
 */
public final class KeyFile {
    private static final int MAX_BYTES = 64 << 10;
    private static final String WANTED = "a key's number and its secret are wanted, as in '7 SECRET' with 32 to 128"
            + " hexadecimal digits, which openssl rand -hex 32 makes";

    private final Path file;
    private final List<AuthKey> keys;

    private KeyFile(Path file, List<AuthKey> keys) {
        this.file = file;
        this.keys = List.copyOf(keys);
    }

    /**
     * Reads a file that other users of the host may not read, where the file system tells.
     *
     * @throws IllegalArgumentException in one line, which shows no secret
     */
    public static KeyFile read(String name) {
        Path file = Path.of(name);
        List<AuthKey> keys = new ArrayList<>();
        secrets(file).forEach((id, secret) -> keys.add(AuthKey.of(id, secret)));
        return new KeyFile(file, keys);
    }

    /**
     * Reads the secrets of a file by their keys' numbers, as {@link #read} does, for who hands them on.
     *
     * @throws IllegalArgumentException in one line, which shows no secret
     */
    public static Map<Integer, String> secrets(Path file) {
        try {
            String text = new String(SmallFile.read(file, MAX_BYTES), StandardCharsets.US_ASCII);
            if (SmallFile.isOpenToAll(file)) {
                throw new IllegalArgumentException(
                        "key file " + file + ": every user of the host may read or write it; chmod 600 " + file);
            }
            return secrets(file, text);
        } catch (IOException e) {
            throw new IllegalArgumentException("key file " + file + ": " + ConfigFile.reason(e), e);
        }
    }

    private static Map<Integer, String> secrets(Path file, String text) {
        Map<Integer, String> secrets = new LinkedHashMap<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            String[] words = line.strip().split("\\s+");
            if (words[0].isEmpty() || words[0].startsWith("#")) {
                continue;
            }
            try {
                if (words.length != 2) {
                    throw new IllegalArgumentException(words.length + " words; " + WANTED);
                }
                int id = AuthKey.id(words[0]);
                AuthKey.of(id, words[1]);
                if (secrets.put(id, words[1]) != null) {
                    throw new IllegalArgumentException("key " + words[0] + " is there already; remove one");
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("key file " + file + ":" + number + ": " + e.getMessage(), e);
            }
        }
        if (secrets.isEmpty() || secrets.size() > Authentication.MAX_KEYS) {
            throw new IllegalArgumentException("key file " + file + ": " + secrets.size() + " keys: must be 1 to "
                    + Authentication.MAX_KEYS + "; on each line " + WANTED);
        }
        return secrets;
    }

    /** Returns its keys, in its order. */
    public List<AuthKey> keys() {
        return keys;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof KeyFile that) || !file.equals(that.file) || keys.size() != that.keys.size()) {
            return false;
        }
        for (int i = 0; i < keys.size(); i++) {
            if (!keys.get(i).isSame(that.keys.get(i))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return file.hashCode();
    }

    /** Returns its name. */
    @Override
    public String toString() {
        return file.toString();
    }
}
