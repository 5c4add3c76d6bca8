package org.tamanoir.node.load;

/**
 * Spreads packets over time: a token bucket that holds what may leave now. The bucket is small, so that a sender
 * that was held up catches up by at most {@link #MAX_CATCH_UP_NS} worth of packets, and loses the rest.
 *
 * <p>A pure data structure: time is given to it. Thread contract: one thread.
 */
public final class Pacer {
    static final long MAX_CATCH_UP_NS = 10_000_000;

    /** Sleeping is not worth less: at higher rates packets leave in bursts this far apart. */
    static final long MIN_SLEEP_NS = 200_000;

    private final double nsPerPacket;
    private final double depthNs;
    private double creditNs;
    private long lastNs;

    /** @param packetsPerSecond greater than 0; infinite for no limit */
    public Pacer(double packetsPerSecond, long startNs) {
        this.nsPerPacket = 1e9 / packetsPerSecond;
        this.depthNs = Math.max(nsPerPacket, MAX_CATCH_UP_NS);
        this.creditNs = nsPerPacket;
        this.lastNs = startNs;
    }

    /** Whether packets ever have to wait. */
    boolean isLimited() {
        return nsPerPacket > 0;
    }

    /** Packets that may leave now, at most {@code wanted}; they are taken as gone. */
    int take(int wanted, long nowNs) {
        if (nsPerPacket == 0) {
            return wanted;
        }
        creditNs = Math.min(depthNs, creditNs + (nowNs - lastNs));
        lastNs = nowNs;
        int packets = (int) Math.min(wanted, creditNs / nsPerPacket);
        creditNs -= packets * nsPerPacket;
        return packets;
    }

    /** How long to sleep until the next packets may leave, after {@link #take} gave less than was wanted. */
    long sleepNs() {
        return Math.max(MIN_SLEEP_NS, (long) (nsPerPacket - creditNs));
    }
}
