package org.tamanoir.offload;

/**
 * What is to be remembered of a datagram that came up from a level, in a long; 0 of all others.
 *
 * <pre>
 *   63            33   32  31       24 23       16 15         0
 *  +----------------+----+------------+-----------+------------+
 *  |       0        | t  | class      | hops left | slot       |   t = in transit: addressed to another host
 *  +----------------+----+------------+-----------+------------+
 * </pre>
 */
public final class UpcallMetadata {
    private static final long IN_TRANSIT = 1L << 32;

    private UpcallMetadata() {}

    /** Returns what is remembered of a datagram that is addressed to this host. */
    static long arrived(int slot) {
        return slot;
    }

    /**
     * Of one in transit.
     *
     * @param hopsLeft of its IP header: TTL or hop limit
     * @param trafficClass likewise: TOS or traffic class
     */
    public static long inTransit(int slot, int hopsLeft, int trafficClass) {
        return IN_TRANSIT | (long) trafficClass << 24 | (long) hopsLeft << 16 | slot;
    }

    public static boolean isInTransit(long ascent) {
        return (ascent & IN_TRANSIT) != 0;
    }

    /** Returns the slot of the policy under which the level sent it up; 0 = under none. */
    public static int slot(long ascent) {
        return (int) ascent & 0xFFFF;
    }

    public static int hopsLeft(long ascent) {
        return (int) (ascent >>> 16) & 0xFF;
    }

    public static int trafficClass(long ascent) {
        return (int) (ascent >>> 24) & 0xFF;
    }
}
