package org.tamanoir.sched;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.TokenBucket;

/**
 * The time of a link. Disciplines that reckon with the link's rate (WFQ's fluid system) must not see time in which the
 * link could have sent and did not, because nobody asked while the bucket was full: their virtual time would run ahead
 * of what has left, and shares would go by arrival instead of by weight. So it stands still while packets wait and the
 * bucket would overflow. For the bucket itself that makes no difference.
 *
 * <p>Thread contract: inside the link's lock.
 */
final class LinkTime {
    private final LongSupplier clock;
    private long nowNs;
    private long linkNs;
    /** How far the link's time is behind the clock; never made up for, since the bucket would fill up for it. */
    private long lostNs;

    LinkTime(LongSupplier clock) {
        this.clock = clock;
        this.nowNs = clock.getAsLong();
        this.linkNs = nowNs;
    }

    /**
     * Looks at the clock.
     *
     * @param bucket that packets wait for since it looked last; null = none waits
     * @param burst bytes that the bucket holds
     */
    void tick(@Nullable TokenBucket bucket, long burst) {
        nowNs = clock.getAsLong();
        long reachedNs = nowNs - lostNs;
        if (bucket != null) {
            reachedNs = Math.min(reachedNs, bucket.readyNs(burst, linkNs));
        }
        linkNs = Math.max(linkNs, reachedNs);
        lostNs = nowNs - linkNs;
    }

    /** The clock's time when it was looked at last. */
    long nowNs() {
        return nowNs;
    }

    /** The link's time then. */
    long linkNs() {
        return linkNs;
    }
}
