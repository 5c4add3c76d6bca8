package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * One queue under the control law of CoDel (RFC 8289): what waits in it longer than the target, without a break of an
 * interval, is dropped at the head, one item at first and then more and more often. The n-th drop in a row comes
 * {@code interval / sqrt(n)} after the one before. An item that must not be dropped is marked in its place.
 *
 * <p>The largest packet, below which the queue is never controlled, is the largest that came in since the queue was
 * last empty; the RFC leaves open how it is known.
 *
 * <p>Thread contract: one thread at a time.
 */
final class CoDelQueue {
    static final String TARGET = "target";
    static final String INTERVAL = "interval";
    private static final long TARGET_NS = 5_000_000;
    private static final long INTERVAL_NS = 100_000_000;
    private static final long MIN_NS = 1_000;
    /** The square of the longest interval fits a long. */
    private static final long MAX_NS = 3_000_000_000L;

    private final ItemQueue queue = new ItemQueue();
    private final long targetNs;
    private final long intervalNs;
    private final Drops drops;

    private int largest;
    /** Whether the wait was above the target at the latest look. */
    private boolean above;
    /** Since when it has been above for an interval, if it is. */
    private long ripeNs;

    private boolean okToDrop;
    private boolean dropping;
    private long dropNextNs;
    /** Drops since it began to drop. */
    private long count;
    /** What count started from when it last began. */
    private long lastCount;

    CoDelQueue(long targetNs, long intervalNs, Drops drops) {
        this.targetNs = targetNs;
        this.intervalNs = intervalNs;
        this.drops = drops;
    }

    /** From the options target and interval. */
    static CoDelQueue of(Options options, Drops drops) {
        return new CoDelQueue(
                options.durationNs(TARGET, TARGET_NS, MIN_NS, MAX_NS),
                options.durationNs(INTERVAL, INTERVAL_NS, MIN_NS, MAX_NS),
                drops);
    }

    /** Another one with the same settings. */
    CoDelQueue another() {
        return new CoDelQueue(targetNs, intervalNs, drops);
    }

    ItemQueue queue() {
        return queue;
    }

    void add(Item item) {
        largest = queue.isEmpty() ? item.size : Math.max(largest, item.size);
        queue.add(item);
    }

    /**
     * The next item that is not dropped; null when there is none left.
     *
     * @param nowNs not before that of an earlier call
     */
    @Nullable
    Item dequeue(long nowNs) {
        Item item = next(nowNs);
        if (dropping) {
            return dequeueDropping(item, nowNs);
        }
        if (item == null || !okToDrop) {
            return item;
        }
        dropping = true;
        // The rate that controlled the queue a short while ago is a good one to start from.
        long delta = count - lastCount;
        count = delta > 1 && nowNs - dropNextNs < 16 * intervalNs ? delta : 1;
        lastCount = count;
        dropNextNs = nowNs + stepNs();
        if (!item.mayDrop) {
            item.mark();
            return item;
        }
        drops.dropped(item, DropReason.QUEUE_DELAY);
        return next(nowNs);
    }

    private @Nullable Item dequeueDropping(@Nullable Item head, long nowNs) {
        Item item = head;
        dropping = okToDrop;
        while (dropping && item != null && nowNs - dropNextNs >= 0) {
            count++;
            if (!item.mayDrop) {
                item.mark();
                dropNextNs += stepNs();
                return item;
            }
            drops.dropped(item, DropReason.QUEUE_DELAY);
            item = next(nowNs);
            dropping = okToDrop;
            if (dropping) {
                dropNextNs += stepNs();
            }
        }
        return item;
    }

    /** Takes the head out and looks at how long it has waited. */
    private @Nullable Item next(long nowNs) {
        Item item = queue.poll();
        okToDrop = false;
        if (item == null || nowNs - item.enqueuedNs < targetNs || queue.bytes() <= largest) {
            above = false;
        } else if (!above) {
            above = true;
            ripeNs = nowNs + intervalNs;
        } else {
            okToDrop = nowNs - ripeNs >= 0;
        }
        return item;
    }

    /** {@code interval / sqrt(count)}, rounded down to a nanosecond. */
    private long stepNs() {
        return squareRoot(intervalNs * intervalNs / count);
    }

    /** The largest number whose square is not above this one, 0 to 2^62; a bit of the result for each step. */
    static long squareRoot(long square) {
        long root = 0;
        for (long bit = 1L << 31; bit != 0; bit >>>= 1) {
            long candidate = root | bit;
            if (candidate * candidate <= square) {
                root = candidate;
            }
        }
        return root;
    }
}
