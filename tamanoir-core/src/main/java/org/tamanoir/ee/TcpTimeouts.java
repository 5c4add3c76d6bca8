package org.tamanoir.ee;

import java.time.Duration;
import org.tamanoir.anep.DropReason;

/**
 * What bounds the waits of a TCP stream: for the rest of a packet, for a next hop or the sender to take what is theirs,
 * and for replies after the sender's end.
 *
 * <p>Thread contract: the stream's thread.
 */
final class TcpTimeouts {
    private final TcpStream stream;
    private final EeConfig config;
    private boolean watchingPartial;
    private boolean partialExpired;
    private boolean stallWatched;
    private boolean lingering;

    TcpTimeouts(TcpStream stream) {
        this.stream = stream;
        this.config = stream.environment().config();
    }

    /** A packet that does not get whole in time ends the stream. */
    void watchPartial() {
        if (watchingPartial || !stream.hasInput()) {
            return;
        }
        watchingPartial = true;
        long before = stream.traffic.packetsIn();
        ServiceLife life = stream.definition().life();
        long throttlesBefore = life.throttles();
        stream.loop.schedule(config.firstPacketTimeout(), () -> {
            watchingPartial = false;
            // While it is not read the sender is not late.
            partialExpired = stream.settled()
                    && stream.traffic.packetsIn() == before
                    && !stream.isPaused()
                    && life.throttles() == throttlesBefore;
        });
    }

    /** Whether the time for a packet is over; asked once. */
    boolean isPartialOverdue() {
        boolean overdue = partialExpired && stream.hasInput();
        partialExpired = false;
        return overdue;
    }

    /** The sender was not late: it was not read. */
    void excusePartial() {
        partialExpired = false;
    }

    /** Where nothing is taken for the stall time the stream is closed. */
    void watchStall() {
        if (stallWatched) {
            return;
        }
        stallWatched = true;
        long packetsBefore = stream.traffic.packetsOut();
        long octetsBefore = stream.pendingOctets();
        Duration stall = config.stallTimeout();
        stream.loop.schedule(stall, () -> {
            stallWatched = false;
            if (!stream.settled()
                    && stream.traffic.packetsOut() == packetsBefore
                    && stream.pendingOctets() == octetsBefore) {
                stream.abort(DropReason.NEXT_HOP_STALLED, "nothing was taken for " + stall.toSeconds() + " s");
            }
        });
    }

    /** Runs {@code end} when no reply has come for the linger time. */
    void watchLinger(Runnable end) {
        if (lingering) {
            return;
        }
        lingering = true;
        long before = stream.repliesSeen();
        stream.loop.schedule(config.lingerTimeout(), () -> {
            lingering = false;
            if (stream.repliesSeen() == before) {
                end.run();
            }
        });
    }
}
