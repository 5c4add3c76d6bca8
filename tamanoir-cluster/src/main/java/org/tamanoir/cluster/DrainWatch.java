package org.tamanoir.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Says when a back-end that gets no new streams has none any more, by the kernel's counters. A TCP stream is a connection
 * that is established. A UDP stream has no end that the kernel could see, its entry lives on for minutes (300 s unless
 * set otherwise): it counts as one as long as packets come. Time is given by the caller.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class DrainWatch {
    /** A connection whose first packet went to the back-end just before is established by then. */
    static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(1);
    /** UDP flows that bring no packet for so long are over. */
    static final long QUIET_NS = TimeUnit.SECONDS.toNanos(3);

    private long lastTcpNs;
    private long lastUdpNs;
    private long udpPackets = -1;
    private long streams;

    /** Begins when the kernel has weight 0. */
    DrainWatch(long nowNs) {
        lastTcpNs = nowNs;
        lastUdpNs = nowNs;
    }

    /**
     * A look at the counters of all its virtual services.
     *
     * @param tcpStreams established
     * @param udpFlows that the kernel remembers
     * @param udpPacketsNow of all of them, since the back-end was added
     */
    void look(long tcpStreams, long udpFlows, long udpPacketsNow, long nowNs) {
        if (tcpStreams > 0) {
            lastTcpNs = nowNs;
        }
        if (udpFlows > 0 && udpPacketsNow != udpPackets) {
            lastUdpNs = nowNs;
        }
        udpPackets = udpPacketsNow;
        boolean quiet = udpFlows == 0 || nowNs - lastUdpNs >= QUIET_NS;
        streams = tcpStreams + (quiet ? 0 : udpFlows);
    }

    /** Returns the streams at the last look. */
    long streams() {
        return streams;
    }

    /** Returns whether there is nothing to wait for. */
    boolean isOver(long nowNs) {
        return streams == 0 && nowNs - lastTcpNs >= SETTLE_NS;
    }
}
