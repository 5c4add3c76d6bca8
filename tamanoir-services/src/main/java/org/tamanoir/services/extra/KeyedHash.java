package org.tamanoir.services.extra;

import java.security.SecureRandom;

/**
 * A hash whose values nobody can foresee who does not know its random numbers, so that strangers, who choose what is
 * hashed, cannot make keys of a table collide: the words are coefficients of a polynomial over the field of 2⁶¹ − 1,
 * taken at a random place (Carter and Wegman, 1979). Two keys of up to n words have the same value there for at most n
 * places of 2⁶¹. The value is mixed to 32 bits by a random factor (Dietzfelbinger et al., 1997).
 *
 * <pre>
 *   hash = finish(add(add(BEGIN, word), word) …)
 * </pre>
 *
 * <p>Immutable; any thread.
 */
public final class KeyedHash {
    /** The value before the first word; it makes keys of different lengths different polynomials, too. */
    public static final long BEGIN = 1;

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long PRIME = (1L << 61) - 1;

    private final long place = Math.floorMod(RANDOM.nextLong(), PRIME - 2) + 2;
    private final long factor = RANDOM.nextLong() | 1;

    /** Makes one with random numbers of its own. */
    public KeyedHash() {}

    /** Returns the value with one word more. @param value of the words before */
    public long add(long value, int word) {
        long high = Math.multiplyHigh(value, place);
        long low = value * place;
        // value · place = high · 2⁶⁴ + low, and 2⁶¹ = 1 here.
        long sum = (low & PRIME) + (low >>> 61 | high << 3) + (word & 0xFFFF_FFFFL);
        sum = (sum & PRIME) + (sum >>> 61);
        return sum >= PRIME ? sum - PRIME : sum;
    }

    /** Returns the value with two words more. */
    public long add(long value, long words) {
        return add(add(value, (int) (words >>> 32)), (int) words);
    }

    /** Returns the hash. */
    public int finish(long value) {
        return (int) (value * factor >>> 32);
    }
}
