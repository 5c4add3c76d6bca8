package org.tamanoir.sched;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One thread's access to one link. Tokens are taken ahead for some packets of a batch at once, while nothing waits for
 * the link; those left over are given back, and what has passed is counted, when the batch is flushed. So no packet
 * costs a lock of its own, and the link sends no more than its burst and rate allow, but for what one batch of each
 * thread delays.
 *
 * <p>Thread contract: the service's thread.
 */
public final class LinkPort {
    private final LinkScheduler link;
    private final Supplier<@Nullable CpuGrant> turn;
    private LinkContent content;
    private long leftBytes;
    /** By class; bit i = the counts of class i are not zero. */
    private long used;

    private final long[] packets = new long[Long.SIZE];
    private final long[] bytes = new long[Long.SIZE];

    /**
     * Access to a link under the configuration that holds.
     *
     * @param turn the turn that the thread has now; null = none
     */
    public LinkPort(LinkContent content, Supplier<@Nullable CpuGrant> turn) {
        this.link = content.link();
        this.turn = turn;
        this.content = content;
    }

    public LinkScheduler link() {
        return link;
    }

    /** Returns what waits for the link, by whose classes packets are counted. */
    public LinkContent content() {
        return content;
    }

    /** Returns the class of the turn that the thread has, by its place; {@link LinkItem#NO_TURN} = it has none. */
    public int turnClass() {
        return content.classOf(turn.get());
    }

    /** Has packets wait here from now on, for the same link. */
    public void refresh(LinkContent next) {
        returnTokens();
        content = next;
    }

    /** Whether a packet may leave at once; it is counted then. */
    public boolean passes(int trafficClass, int length) {
        if (length > leftBytes && !takeAhead(length)) {
            return false;
        }
        leftBytes -= length;
        used |= 1L << trafficClass;
        packets[trafficClass]++;
        bytes[trafficClass] += length;
        return true;
    }

    private boolean takeAhead(int length) {
        returnTokens();
        if (content.isGated()) {
            return false; // All packets wait there: its lock is taken once, to have them wait.
        }
        leftBytes = link.pass(length);
        return leftBytes > 0;
    }

    /** Counts what has passed, and gives back what is left over. */
    public void returnTokens() {
        if (leftBytes > 0 || used != 0) {
            long rest = leftBytes;
            leftBytes = 0;
            link.passed(content, used, packets, bytes, rest);
            for (long left = used; left != 0; left &= left - 1) {
                int trafficClass = Long.numberOfTrailingZeros(left);
                packets[trafficClass] = 0;
                bytes[trafficClass] = 0;
            }
            used = 0;
        }
    }
}
