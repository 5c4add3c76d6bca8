package org.tamanoir.admission;

import java.time.Duration;

/**
 * How much of a node's room for TCP streams one sender may take, and for how long.
 *
 * @param perPeer places of one peer address, an IPv6 one being its /64; {@link #AUTOMATIC} = half of the node's, and any
 *     number from loopback addresses
 * @param branches further services of one connection, 0 to 1,024; each takes a place
 * @param idle after which a stream ends if no whole packet came from either side; zero = never
 */
public record StreamLimits(int perPeer, int branches, Duration idle) {
    /** For {@link #perPeer}: as the node's size says. */
    public static final int AUTOMATIC = 0;

    /** Most of {@link #branches}. */
    public static final int MAX_BRANCHES = 1024;

    /** What holds unless something else is said. */
    public static final StreamLimits DEFAULT = new StreamLimits(AUTOMATIC, 8, Duration.ofMinutes(5));

    public StreamLimits {
        if (perPeer < 0) {
            throw new IllegalArgumentException("streams of a peer " + perPeer + ": must be 0 (automatic) or more");
        }
        if (branches < 0 || branches > MAX_BRANCHES) {
            throw new IllegalArgumentException("branches " + branches + ": must be 0 to " + MAX_BRANCHES);
        }
        if (idle.isNegative()) {
            throw new IllegalArgumentException("idle for " + idle + ": must be zero (never) or more");
        }
    }
}
