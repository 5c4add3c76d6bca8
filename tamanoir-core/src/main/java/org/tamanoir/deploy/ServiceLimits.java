package org.tamanoir.deploy;

/**
 * What all instances of one service version together may use, and one packet; 0 = no limit.
 *
 * @param processors processor seconds per second, 0.5 is half of one processor
 * @param allocationBytesPerSecond bytes allocated on the heap per second
 * @param packetBudgetNs processor time of one packet
 */
public record ServiceLimits(double processors, long allocationBytesPerSecond, long packetBudgetNs) {
    /** No limits. */
    public static final ServiceLimits NONE = new ServiceLimits(0, 0);

    /** Makes limits of all instances together. */
    public ServiceLimits(double processors, long allocationBytesPerSecond) {
        this(processors, allocationBytesPerSecond, 0);
    }

    /** Checks that none is negative. */
    public ServiceLimits {
        if (!(processors >= 0 && processors <= 1024) || allocationBytesPerSecond < 0 || packetBudgetNs < 0) {
            throw new IllegalArgumentException("limits of " + processors + " processors and " + allocationBytesPerSecond
                    + " bytes a second, " + packetBudgetNs
                    + " ns a packet: must be 0 to 1024, and 0 or more; 0 is no limit");
        }
        processors += 0.0; // -0.0, which equals no other zero, becomes 0.0
    }

    /** Returns the tighter of both in each respect. */
    public ServiceLimits and(ServiceLimits other) {
        return new ServiceLimits(
                tighter(processors, other.processors),
                tighter(allocationBytesPerSecond, other.allocationBytesPerSecond),
                tighter(packetBudgetNs, other.packetBudgetNs));
    }

    private static double tighter(double a, double b) {
        return a == 0 ? b : b == 0 ? a : Math.min(a, b);
    }

    private static long tighter(long a, long b) {
        return a == 0 ? b : b == 0 ? a : Math.min(a, b);
    }
}
