package org.tamanoir.services.extra.cache;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.KeyedHash;

/**
 * What an object is found by: its origin, an address and a port, and the key that the origin knows it by.
 *
 * <p>Thread contract: one thread; one that is in a map does not change any more.
 */
final class CacheKey {
    private static final int MAX_BYTES = 255;

    private final KeyedHash hash;
    private byte[] octets;
    private int length;
    private long high;
    private long low;
    private int port;
    private int hashCode;

    /** Makes one to search by. */
    CacheKey(KeyedHash hash) {
        this(hash, new byte[MAX_BYTES]);
    }

    private CacheKey(KeyedHash hash, byte[] octets) {
        this.hash = hash;
        this.octets = octets;
    }

    /** Has it be this key, whose octets are {@code source}'s from index {@code at} on. */
    CacheKey set(long originHigh, long originLow, int originPort, ByteBuffer source, int at, int bytes) {
        high = originHigh;
        low = originLow;
        port = originPort;
        length = bytes;
        source.get(at, octets, 0, bytes);
        long value = hash.add(hash.add(hash.add(KeyedHash.BEGIN, high), low), port << 8 | length);
        for (int i = 0; i < length; i += Integer.BYTES) {
            int word = 0;
            for (int j = i; j < Math.min(i + Integer.BYTES, length); j++) {
                word = word << 8 | octets[j] & 0xFF;
            }
            value = hash.add(value, word);
        }
        hashCode = hash.finish(value);
        return this;
    }

    /** Returns one that stays as it is. */
    CacheKey copy() {
        CacheKey copy = new CacheKey(hash, Arrays.copyOf(octets, length));
        copy.length = length;
        copy.high = high;
        copy.low = low;
        copy.port = port;
        copy.hashCode = hashCode;
        return copy;
    }

    /** Returns the octets that the origin knows the object by. */
    int bytes() {
        return length;
    }

    int port() {
        return port;
    }

    void writeTo(ByteBuffer target) {
        target.put(octets, 0, length);
    }

    /** Returns whether the object's origin has this address. */
    boolean isOf(long originHigh, long originLow) {
        return low == originLow && high == originHigh;
    }

    /** Returns whether these are the octets that the origin knows the object by. */
    boolean hasOctets(ByteBuffer source, int at, int bytes) {
        if (bytes != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (source.get(at + i) != octets[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CacheKey that
                && that.hashCode == hashCode
                && that.low == low
                && that.high == high
                && that.port == port
                && Arrays.equals(octets, 0, length, that.octets, 0, that.length);
    }

    @Override
    public int hashCode() {
        return hashCode;
    }
}
