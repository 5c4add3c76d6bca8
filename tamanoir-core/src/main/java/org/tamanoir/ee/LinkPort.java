package org.tamanoir.ee;

import org.tamanoir.qdisc.QosConfig;

/**
 * One thread's access to one link. Tokens are taken ahead for some packets of a batch at once, while nothing waits for
 * the link; those left over are given back, and what has passed is counted, when the batch is flushed. So no packet
 * costs a lock of its own, and the link sends no more than its burst and rate allow, but for what one batch of each
 * thread delays.
 *
 * <p>Thread contract: the service's thread.
 */
final class LinkPort {
    private final LinkScheduler link;
    private QosConfig config;
    private long leftOctets;
    /** By class; bit i = the counts of class i are not zero. */
    private long used;

    private final long[] packets = new long[Long.SIZE];
    private final long[] octets = new long[Long.SIZE];

    /**
     * @param config that the indexes of classes come from
     */
    LinkPort(LinkScheduler link, QosConfig config) {
        this.link = link;
        this.config = config;
    }

    LinkScheduler link() {
        return link;
    }

    QosConfig config() {
        return config;
    }

    /** Classes are those of this configuration from now on. */
    void refresh(QosConfig config) {
        settle();
        this.config = config;
    }

    /** Whether a packet may leave at once; it is counted then. */
    boolean passes(int trafficClass, int length) {
        if (length > leftOctets && !takeAhead(length)) {
            return false;
        }
        leftOctets -= length;
        used |= 1L << trafficClass;
        packets[trafficClass]++;
        octets[trafficClass] += length;
        return true;
    }

    private boolean takeAhead(int length) {
        settle();
        leftOctets = link.pass(length);
        return leftOctets > 0;
    }

    /** Counts what has passed, and gives back what is left over. */
    void settle() {
        if (leftOctets > 0 || used != 0) {
            long rest = leftOctets;
            leftOctets = 0;
            link.passed(this, rest);
            for (long left = used; left != 0; left &= left - 1) {
                int trafficClass = Long.numberOfTrailingZeros(left);
                packets[trafficClass] = 0;
                octets[trafficClass] = 0;
            }
            used = 0;
        }
    }

    /** The first class from this one on that packets have passed of; -1 = none. */
    int nextUsed(int from) {
        long left = from == Long.SIZE ? 0 : used >>> from << from;
        return left == 0 ? -1 : Long.numberOfTrailingZeros(left);
    }

    /** Packets of a class that have passed. */
    long packets(int trafficClass) {
        return packets[trafficClass];
    }

    /** The same in octets. */
    long octets(int trafficClass) {
        return octets[trafficClass];
    }
}
