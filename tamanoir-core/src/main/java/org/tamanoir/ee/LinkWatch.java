package org.tamanoir.ee;

import java.time.Duration;
import org.tamanoir.anep.DropReason;

/**
 * Bounds how long packets of a stream may wait for links: where no link grants, and no next hop takes, anything for the
 * stall time, the stream is closed.
 *
 * <p>Thread contract: the stream's thread.
 */
final class LinkWatch {
    /** Between looks. */
    private static final long LEAST_NS = 1_000_000;

    private final StreamInstance stream;
    private boolean watching;

    LinkWatch(StreamInstance stream) {
        this.stream = stream;
    }

    /** Looks from now on, while something waits. */
    void watch() {
        if (watching || !stream.departures.hasLinks() || stream.departures.held() == 0) {
            return;
        }
        watching = true;
        long patienceNs = stall().toNanos() - stillForNs(System.nanoTime());
        stream.loop.schedule(Duration.ofNanos(Math.max(LEAST_NS, patienceNs)), () -> {
            watching = false;
            stream.settled(); // What was granted meanwhile has moved.
            look(System.nanoTime());
            watch();
        });
    }

    private Duration stall() {
        return stream.environment().config().stallTimeout();
    }

    /** How long the packets that wait longest have not moved. */
    private long stillForNs(long nowNs) {
        long stillNs = 0;
        for (Departure departure : stream.departures.connections()) {
            TcpBacklog backlog = ((TcpDeparture) departure).backlog();
            stillNs = Math.max(stillNs, backlog == null ? 0 : backlog.stillForNs(nowNs));
        }
        for (DatagramBacklog backlog : stream.departures.backlogs()) {
            stillNs = Math.max(stillNs, backlog.stillForNs(nowNs));
        }
        return stillNs;
    }

    private void look(long nowNs) {
        long stallNs = stall().toNanos();
        for (Departure departure : stream.departures.connections()) {
            TcpBacklog backlog = ((TcpDeparture) departure).backlog();
            if (backlog != null && backlog.stillForNs(nowNs) >= stallNs) {
                if (backlog.isStarved()) {
                    starved(backlog.port());
                } else {
                    stream.abort(
                            DropReason.NEXT_HOP_STALLED, "a next hop took nothing for " + stall().toSeconds() + " s");
                }
            }
        }
        for (DatagramBacklog backlog : stream.departures.backlogs()) {
            if (backlog.stillForNs(nowNs) >= stallNs) {
                starved(backlog.port());
            }
        }
    }

    private void starved(LinkPort port) {
        String link = port.link().name();
        stream.abort(DropReason.STARVED, "link " + link + " granted nothing for " + stall().toMillis() + " ms");
    }
}
