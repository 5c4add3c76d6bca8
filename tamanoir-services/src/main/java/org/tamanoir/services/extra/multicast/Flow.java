package org.tamanoir.services.extra.multicast;

import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/**
 * A flow at a node: its last packets, whom they go to, and what is missing.
 *
 * <p>Thread contract: one thread.
 */
final class Flow implements FlowTable.Flow {
    private static final long HEARTBEATS = 10;
    private static final long MOST_HEARTBEAT_NS = 1_000_000_000L;
    /** So many reports go up while as many packets come as the node above keeps. */
    private static final int REPORTS_A_WINDOW = 16;

    private static final int LEAST_REPORT_PACKETS = 4;

    private final long session;
    private final @Nullable Header header;
    private final Window window;
    private final Audience audience;
    private final Gaps gaps;
    private final long heartbeatNs;
    private long token;
    private long lastNs;
    private long heartbeatDueNs = Long.MAX_VALUE;
    private int heartbeats;
    private long reported;
    private int reportPackets = LEAST_REPORT_PACKETS;
    private boolean isReportDue;
    private long wakeNs = Long.MAX_VALUE;
    private long countedBytes;

    /**
     * Begins one.
     *
     * @param header of its packets; null but where they come into the tree
     * @param first the sequence number of the first packet that is wanted
     */
    Flow(long session, @Nullable Header header, int windowPackets, long first, long heartbeatNs, Random random) {
        this.session = session;
        this.header = header;
        this.heartbeatNs = heartbeatNs;
        window = new Window(windowPackets, first);
        audience = new Audience(window);
        gaps = new Gaps(window, random);
        reported = first;
    }

    @Override
    public Header header() {
        if (header == null) {
            throw new IllegalStateException("the flow did not begin here");
        }
        return header;
    }

    boolean isFromHere() {
        return header != null;
    }

    long session() {
        return session;
    }

    Window window() {
        return window;
    }

    Audience audience() {
        return audience;
    }

    Gaps gaps() {
        return gaps;
    }

    /** Returns how many packets before this one are there. */
    int depth(long sequence) {
        return (int) Math.min(MulticastHeader.MAX_DEPTH, sequence - window.lowest());
    }

    /** Returns the token that this node is known by above. */
    long token() {
        return token;
    }

    /** Takes what the node above says of itself. @param depth packets that it keeps before the newest */
    void above(long shown, int depth) {
        token = shown;
        reportPackets = Math.max(LEAST_REPORT_PACKETS, Math.min(depth, window.packets()) / REPORTS_A_WINDOW);
    }

    /** Returns when something came from above last. */
    long lastNs() {
        return lastNs;
    }

    /** Takes note that something came from above. @param isNew and has not come before */
    void came(boolean isNew, long nowNs) {
        lastNs = nowNs;
        if (isNew) {
            heartbeats = 0;
            heartbeatDueNs = nowNs + heartbeatNs;
        }
    }

    /** Returns when those that have not said that they have all are told how far it is. */
    long heartbeatDueNs() {
        return heartbeatDueNs;
    }

    /** Takes note that they were told; not again if there is nobody left, or too often. */
    void beat(boolean isWaitedFor, long nowNs) {
        heartbeats++;
        heartbeatDueNs = isWaitedFor && heartbeats < HEARTBEATS
                ? nowNs + Math.min(MOST_HEARTBEAT_NS, heartbeatNs << heartbeats)
                : Long.MAX_VALUE;
    }

    /** Has a report go upwards, whether something is missing or not. */
    void reportSoon() {
        isReportDue = true;
    }

    boolean isReportDue() {
        return isReportDue || gaps.next() - reported >= reportPackets;
    }

    void reported() {
        isReportDue = false;
        reported = gaps.next();
    }

    /** Returns when it is looked at next. */
    long wakeNs() {
        return wakeNs;
    }

    /** Says when; it is in no order of those to be looked at meanwhile. */
    void wakeNs(long atNs) {
        wakeNs = atNs;
    }

    /** Returns its memory, in bytes, as far as {@link #takeGrowth} has said. */
    long countedBytes() {
        return countedBytes;
    }

    /** Returns by how much its memory has grown since this was asked for last. */
    long takeGrowth() {
        long growth = window.keptBytes() - countedBytes;
        countedBytes += growth;
        return growth;
    }
}
