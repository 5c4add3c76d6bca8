package org.tamanoir.cluster.reflect;

/**
 * What a member may do, and gets.
 *
 * @param rateBytesPerSecond the most that it gets; 0 = no limit
 * @param quality the highest drop precedence of ANEP packets that it gets, 0 to 255
 */
public record Terms(Direction direction, long rateBytesPerSecond, int quality) {
    /** A class that gets everything. */
    public static final int ALL = 255;

    /** The largest rate in bytes a second. */
    public static final long MAX_RATE = 1_000_000_000_000L;

    /** Sends and gets everything. */
    public static final Terms OPEN = new Terms(Direction.BOTH, 0, ALL);

    /**
     * Checks bounds.
     *
     * @throws IllegalArgumentException in one line
     */
    public Terms {
        if (rateBytesPerSecond < 0 || rateBytesPerSecond > MAX_RATE) {
            throw new IllegalArgumentException(
                    "rate " + rateBytesPerSecond + " bytes/s: must be 0 (no limit) to " + MAX_RATE);
        }
        if (quality < 0 || quality > ALL) {
            throw new IllegalArgumentException("class " + quality + ": must be 0 to " + ALL);
        }
    }
}
