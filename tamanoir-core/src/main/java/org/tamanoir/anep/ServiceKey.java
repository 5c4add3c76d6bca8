package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;

/** The 64-bit keys by which packets name services. 0 names none. */
public final class ServiceKey {
    /** No service: the packet is forwarded along its route. */
    public static final long NONE = 0;

    private ServiceKey() {}

    /**
     * The first 64 bits of SHA-256 over the UTF-8 name.
     *
     * @param name {@code name} or {@code name:version}
     */
    public static long of(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** 16 hexadecimal digits, as in the repository's {@code keys/} folder. */
    public static String toString(long key) {
        return String.format(Locale.ROOT, "%016x", key);
    }
}
