package org.tamanoir.nodeos;

/**
 * Which packets of a flow go up to the Java virtual machine; the level handles the others itself.
 *
 * @param number of {@link Kind#EVERY} and {@link Kind#FIRST}, 1 to 2^32 - 1; else 0
 */
public record Share(Kind kind, long number) {
    /** None: the level handles all. */
    public static final Share NONE = new Share(Kind.NONE, 0);
    /** All: the level only counts. */
    public static final Share ALL = new Share(Kind.ALL, 0);

    /** Ways to split a flow. */
    public enum Kind {
        NONE,
        ALL,
        EVERY,
        FIRST
    }

    /** Checks the number. */
    public Share {
        boolean counts = kind == Kind.EVERY || kind == Kind.FIRST;
        if (counts ? number < 1 || number > 0xFFFF_FFFFL : number != 0) {
            throw new IllegalArgumentException(
                    "share " + kind + " " + number + ": must be " + (counts ? "1 to 4294967295" : "0"));
        }
    }

    /**
     * Packets k, 2k, 3k, … of the flow. They take longer than those that the level handles, which overtake them: that is
     * for services that look at samples.
     */
    public static Share every(long k) {
        return new Share(Kind.EVERY, k);
    }

    /**
     * The first n packets, and those that come while one of them is still up, so that none is overtaken. They are counted
     * anew where packets of others come: of a key that is new, or of another policy of the service that ends.
     */
    public static Share first(long n) {
        return new Share(Kind.FIRST, n);
    }
}
