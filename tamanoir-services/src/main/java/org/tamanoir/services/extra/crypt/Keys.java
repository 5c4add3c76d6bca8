package org.tamanoir.services.extra.crypt;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.format.text.StrictUtf8;

/**
 * The keys of a service, by number, and which one is used to encrypt. Immutable; any thread.
 *
 * @param used 0 = none
 */
record Keys(Map<Integer, byte[]> keys, int used) {
    static final Keys NONE = new Keys(Map.of(), 0);
    static final int MAX_KEYS = 16;
    private static final int MAX_FILE_BYTES = 64 << 10;
    private static final String SYNTAX = "ID KEY, or ID KEY use";

    Keys {
        keys = Map.copyOf(keys);
    }

    byte @Nullable [] key(int id) {
        return keys.get(id);
    }

    /** Reads a file of lines {@code ID KEY}, of which one may end with {@code use}; empty lines and # do not count. */
    static Keys read(Path file) throws IOException {
        Keys read = NONE;
        int number = 0;
        for (String line : text(file).lines().toList()) {
            number++;
            String[] words = line.strip().split("\\s+");
            if (words[0].isEmpty() || words[0].startsWith("#")) {
                continue;
            }
            try {
                if (words.length < 2 || words.length > 3 || words.length == 3 && !words[2].equals("use")) {
                    throw new IllegalArgumentException("a line is " + SYNTAX);
                }
                int id = id(words[0]);
                read = read.with(id, words[1]);
                read = words.length == 3 ? read.using(id) : read;
            } catch (IllegalArgumentException e) {
                throw new IOException(file + ":" + number + ": " + e.getMessage(), e); // Never the key.
            }
        }
        return read;
    }

    private static String text(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException(file + ": is no regular file; a pipe or a device may never end: name a file of keys");
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(MAX_FILE_BYTES + 1);
            if (octets.length > MAX_FILE_BYTES) {
                throw new IOException(file + ": has more than " + MAX_FILE_BYTES + " bytes; a line is " + SYNTAX);
            }
            return StrictUtf8.decode(octets);
        }
    }

    static int id(String text) {
        try {
            return (int) Decimals.whole(text, 1, Integer.MAX_VALUE);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("key id: must be a whole number from 1 to " + Integer.MAX_VALUE, e);
        }
    }

    Keys with(int id, String hexadecimal) {
        byte[] key;
        try {
            key = HexFormat.of().parseHex(hexadecimal);
        } catch (IllegalArgumentException e) {
            key = new byte[0];
        }
        if (key.length != 16 && key.length != 32) {
            throw new IllegalArgumentException(
                    "key " + id + ": must be 32 or 64 hexadecimal digits, as of 'openssl rand -hex 32'");
        }
        if (keys.containsKey(id) && !MessageDigest.isEqual(keys.get(id), key)) {
            throw new IllegalArgumentException("key id " + id + ": there is another key of this id; take a new one");
        }
        if (keys.size() == MAX_KEYS && !keys.containsKey(id)) {
            throw new IllegalArgumentException(
                    "key id " + id + ": there are " + MAX_KEYS + " keys, as many as may be; remove one");
        }
        Map<Integer, byte[]> more = new LinkedHashMap<>(keys);
        more.put(id, key);
        return new Keys(more, used);
    }

    Keys using(int id) {
        require(id);
        return new Keys(keys, id);
    }

    Keys without(int id) {
        require(id);
        if (id == used) {
            throw new IllegalArgumentException("key id " + id + ": is in use; use another one first");
        }
        Map<Integer, byte[]> fewer = new LinkedHashMap<>(keys);
        fewer.remove(id);
        return new Keys(fewer, used);
    }

    private void require(int id) {
        if (!keys.containsKey(id)) {
            throw new IllegalArgumentException("key id " + id + ": there is no such key; there are "
                    + new TreeMap<>(keys).keySet() + "; add it first");
        }
    }

    /** Returns what operators see: id, bits, and the first digits of SHA-256, which tell whether two ends have the same. */
    List<Map<String, Object>> view() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int id : new TreeMap<>(keys).keySet()) {
            byte[] key = Objects.requireNonNull(keys.get(id));
            rows.add(Map.of("id", id, "bits", key.length * Byte.SIZE, "sha256", fingerprint(key), "used", id == used));
        }
        return rows;
    }

    private static String fingerprint(byte[] key) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(key), 0, 8);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Shows no key. */
    @Override
    public String toString() {
        return "keys " + new TreeMap<>(keys).keySet() + ", used " + used;
    }
}
