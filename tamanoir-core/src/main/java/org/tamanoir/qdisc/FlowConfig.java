package org.tamanoir.qdisc;

/**
 * What a discipline knows of one flow or class.
 *
 * @param weight its share relative to the others, 1 to 1,000,000
 * @param limitPackets items that may wait in it, 1 and more
 * @param limitBytes the same in bytes, 1 and more
 */
public record FlowConfig(long weight, int limitPackets, long limitBytes) {
    /** The largest weight. */
    public static final long MAX_WEIGHT = 1_000_000;

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException in one line
     */
    public FlowConfig {
        require(weight >= 1 && weight <= MAX_WEIGHT, "weight " + weight + ": must be 1 to " + MAX_WEIGHT);
        require(limitPackets >= 1, "limit of " + limitPackets + " packets: must be 1 or more");
        require(limitBytes >= 1, "limit of " + limitBytes + " bytes: must be 1 or more");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
