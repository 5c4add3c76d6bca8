package org.tamanoir.ee;

import java.time.Duration;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.ProgressWatch;

/**
 * What bounds the waits of a TCP stream for others: for the rest of a packet, for replies after the sender's end, and for
 * anything at all.
 *
 * <p>Thread contract: the stream's thread.
 */
final class TcpTimeouts {
    /** Looks in an idle time: a stream ends when it was idle for that time, and at most a quarter longer. */
    private static final int IDLE_LOOKS = 4;

    private final TcpStream stream;
    private final EeConfig config;
    private final ProgressWatch partial;
    private final ProgressWatch linger;
    private long excuses;
    /** How many packets had got whole when the time for the next one was over; -1 = it never was. */
    private long overdueAt = -1;

    private long activityBefore;
    private int quietLooks;
    private boolean idle;

    /** @param lingered follows when no reply has come for the linger time */
    TcpTimeouts(TcpStream stream, TcpWayBack back, Runnable lingered) {
        this.stream = stream;
        this.config = stream.instance.context.config();
        IoLoop loop = stream.instance.loop;
        this.partial = new ProgressWatch(
                loop, config.firstPacketTimeout(), stream::hasReadPart, this::whole, () -> overdueAt = whole());
        this.linger = new ProgressWatch(
                loop,
                config.lingerTimeout(),
                () -> back.isClear(),
                () -> stream.instance.ways.repliesSeen() + back.takenPackets(),
                lingered);
    }

    /** Watches from now on, while part of a packet is here and the sender is read, whether packets get whole. */
    void watchPartial() {
        partial.watch();
    }

    /** Returns how many packets of the sender got whole, and how often it, or the service, was excused. */
    private long whole() {
        long packets = stream.instance.traffic.packetsIn() - stream.instance.ways.repliesSeen();
        return packets + stream.thread.definition().health().throttles() + excuses;
    }

    /** Returns whether the time for the packet is over of which part is here. */
    boolean isPartialOverdue() {
        return overdueAt == whole() && stream.hasInput();
    }

    /** Excuses a sender that was neither late nor idle, but not read. */
    void excusePartial() {
        excuses++;
        idle = false;
        quietLooks = 0;
    }

    /**
     * Looks, a few times in the idle time, whether the stream has done anything since; packets cost nothing for it. Once,
     * at the stream's begin.
     */
    void watchIdle() {
        Duration time = config.streamLimits().idle();
        if (!time.isZero()) {
            activityBefore = stream.activity();
            stream.instance.loop.schedule(time.dividedBy(IDLE_LOOKS), this::lookForIdle);
        }
    }

    private void lookForIdle() {
        long activity = stream.activity();
        quietLooks = activity == activityBefore && !stream.thread.isPaused() ? quietLooks + 1 : 0;
        activityBefore = activity;
        idle = quietLooks >= IDLE_LOOKS;
        stream.instance.loop.schedule(config.streamLimits().idle().dividedBy(IDLE_LOOKS), this::lookForIdle);
    }

    /**
     * Returns whether nothing has come or gone for the idle time. What waits for a next hop, a link, a turn or code is bounded by
     * other times, and a stream that is not read is not idle.
     */
    boolean isIdle() {
        return idle && stream.activity() == activityBefore && !stream.isBusy();
    }

    long idleSeconds() {
        return config.streamLimits().idle().toSeconds();
    }

    /**
     * Watches from now on, while nothing waits for the sender, whether replies come: none for the linger time ends the
     * stream.
     */
    void watchLinger() {
        linger.watch();
    }
}
