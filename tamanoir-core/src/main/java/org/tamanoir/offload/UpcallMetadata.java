package org.tamanoir.offload;

/**
 * What is to be remembered of a datagram that came up from a level, or that the node made to see its way, in a long; 0
 * of all others.
 *
 * <pre>
 *  63  62         33   32  31       24 23       16 15         0
 *  +---+------------+----+------------+-----------+------------+
 *  | 0 | trace      | t  | class      | hops left | slot       |   t = in transit: addressed to another host
 *  +---+------------+----+------------+-----------+------------+
 * </pre>
 *
 * Of a plain datagram bit 63 is set, in the place of the slot stands the port that it was sent to, and in that of the
 * trace {@link #ALERT}, {@link #DROPS} and {@link #ICMP}.
 */
public final class UpcallMetadata {
    /** Numbers of traces are smaller. */
    public static final int MAX_TRACE = (1 << 30) - 1;

    private static final long IN_TRANSIT = 1L << 32;
    private static final int TRACE_SHIFT = 33;
    private static final long PLAIN = 1L << 63;
    /** A plain datagram has a Router Alert. */
    private static final long ALERT = 1L << TRACE_SHIFT;
    /** A plain datagram is dropped where its service fails it. */
    private static final long DROPS = 2L << TRACE_SHIFT;
    /** A plain datagram is an ICMP message. */
    private static final long ICMP = 4L << TRACE_SHIFT;

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

    /** Returns what is remembered of a plain datagram, as {@link #inTransit}. */
    static long plain(int toPort, int hopsLeft, int trafficClass, boolean hasAlert, boolean drops, boolean isIcmp) {
        return PLAIN
                | inTransit(toPort, hopsLeft, trafficClass)
                | (hasAlert ? ALERT : 0)
                | (drops ? DROPS : 0)
                | (isIcmp ? ICMP : 0);
    }

    /** Returns whether it is a plain datagram, which carried no ANEP. */
    public static boolean isPlain(long ascent) {
        return ascent < 0;
    }

    /** Returns the port that a plain datagram was sent to. */
    public static int toPort(long ascent) {
        return (int) ascent & 0xFFFF;
    }

    /** Returns whether it is a plain datagram with a Router Alert. */
    public static boolean hasAlert(long ascent) {
        return ascent < 0 && (ascent & ALERT) != 0;
    }

    /** Returns whether it is an ICMP message. */
    public static boolean isIcmp(long ascent) {
        return ascent < 0 && (ascent & ICMP) != 0;
    }

    /** Returns whether it is a plain datagram that goes on where its service fails it. */
    public static boolean passesOnFailure(long ascent) {
        return ascent < 0 && (ascent & DROPS) == 0;
    }

    /** Returns what is remembered of a packet whose way is taken down under this number, 1 to {@link #MAX_TRACE}. */
    public static long traced(int number) {
        return (long) number << TRACE_SHIFT;
    }

    /** Returns the number under which the packet's way is taken down; 0 = it is not. */
    public static int trace(long ascent) {
        return isPlain(ascent) ? 0 : (int) (ascent >>> TRACE_SHIFT);
    }

    public static boolean isInTransit(long ascent) {
        return (ascent & IN_TRANSIT) != 0;
    }

    /** Returns the slot of the policy under which the level sent it up; 0 = under none. */
    public static int slot(long ascent) {
        return isPlain(ascent) ? 0 : (int) ascent & 0xFFFF;
    }

    public static int hopsLeft(long ascent) {
        return (int) (ascent >>> 16) & 0xFF;
    }

    public static int trafficClass(long ascent) {
        return (int) (ascent >>> 24) & 0xFF;
    }
}
