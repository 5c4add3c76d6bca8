package org.tamanoir.offload;

/**
 * What is to be remembered of a datagram that came up from a level, that the node made to see its way, or that came
 * through a socket on the wildcard address, in a long; 0 of all others.
 *
 * <pre>
 *  63  62  61         33   32  31       24 23       16 15         0
 *  +---+---+------------+----+------------+-----------+------------+   t = in transit: addressed to another host
 *  | 0 | o | trace      | t  | class      | hops left | slot       |   o = which of this host's addresses it was sent to
 *  +---+---+------------+----+------------+-----------+------------+       is known
 * </pre>
 *
 * Where o is set the number of the interface, if it matters, stands in the places of class and hops left.
 *
 * Of a plain datagram bit 63 is set, in the place of the slot stands the port that it was sent to, and in that of the
 * trace {@link #ALERT}, {@link #DROPS} and {@link #ICMP}.
 */
public final class UpcallMetadata {
    /** Numbers of traces are smaller. */
    public static final int MAX_TRACE = (1 << 29) - 1;

    private static final long IN_TRANSIT = 1L << 32;
    private static final int TRACE_SHIFT = 33;
    private static final long OWN = 1L << 62;
    private static final int DEVICE_SHIFT = 16;
    /** Interfaces with larger numbers are none. */
    private static final int MAX_DEVICE = 0xFFFF;

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
     * Returns what is remembered of a datagram of which it is known which of this host's addresses it was sent to.
     *
     * @param ascent what else is remembered of it; not that it is in transit
     * @param device number of the interface that it came in by; 0 = it does not matter
     */
    public static long own(long ascent, int device) {
        return OWN | ascent | (device > MAX_DEVICE ? 0 : (long) device << DEVICE_SHIFT);
    }

    /** Returns whether it is known which of this host's addresses the datagram was sent to. */
    public static boolean isOwn(long ascent) {
        return ascent > 0 && (ascent & OWN) != 0;
    }

    /** Returns the number of the interface that the datagram came in by; 0 = it does not matter, or is not known. */
    public static int device(long ascent) {
        return isOwn(ascent) ? (int) (ascent >>> DEVICE_SHIFT) & MAX_DEVICE : 0;
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
        return isPlain(ascent) ? 0 : (int) (ascent >>> TRACE_SHIFT) & MAX_TRACE;
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
