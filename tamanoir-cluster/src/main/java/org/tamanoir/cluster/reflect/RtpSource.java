package org.tamanoir.cluster.reflect;

/**
 * What is known of one source of RTP: loss by RFC 3550, appendix A.1 and A.3, without probation, since who sends here is
 * admitted; jitter by appendix A.8. One thread.
 */
final class RtpSource {
    private static final int SEQUENCES = 1 << 16;
    /** A gap up to this is loss. */
    private static final int MAX_DROPOUT = 3000;
    /** A step back up to this is disorder. */
    private static final int MAX_MISORDER = 100;

    private static final int NO_SEQUENCE = SEQUENCES + 1;

    final int ssrc;
    final int clockRate;
    /** From which it came last. */
    long high;

    long low;
    int port;
    long seenNs;

    private long packets;
    private long late;
    private int firstSequence = -1;
    private int highest;
    private long cycles;
    private int awaitedAfterJump = NO_SEQUENCE;
    /** Counted before the source began anew. */
    private long expectedBefore;

    private int transit;
    private double jitter;

    RtpSource(int ssrc, int clockRate) {
        this.ssrc = ssrc;
        this.clockRate = clockRate;
    }

    /** Takes a packet into account. */
    void packet(int sequence, int timestamp, long nowNs) {
        seenNs = nowNs;
        noteTransit((int) toUnits(nowNs) - timestamp);
        packets++;
        if (firstSequence < 0) {
            begin(sequence);
            return;
        }
        int ahead = sequence - highest & SEQUENCES - 1;
        if (ahead != 0 && ahead < MAX_DROPOUT) {
            if (sequence < highest) {
                cycles += SEQUENCES;
            }
            highest = sequence;
        } else if (ahead == 0 || ahead > SEQUENCES - MAX_MISORDER) {
            late++;
        } else if (sequence == awaitedAfterJump) {
            // Two in a row: the source began anew. The first of them was expected too.
            expectedBefore += expectedNow() + 1;
            begin(sequence);
        } else {
            awaitedAfterJump = sequence + 1 & SEQUENCES - 1;
        }
    }

    private void begin(int sequence) {
        firstSequence = sequence;
        highest = sequence;
        cycles = 0;
        awaitedAfterJump = NO_SEQUENCE;
    }

    private long toUnits(long ns) {
        long second = 1_000_000_000;
        return Math.floorDiv(ns, second) * clockRate + Math.floorMod(ns, second) * clockRate / second;
    }

    /** Takes a relative transit time, in timestamp units, into account. */
    void noteTransit(int now) {
        if (packets > 0) {
            jitter += (Math.abs((double) (now - transit)) - jitter) / 16;
        }
        transit = now;
    }

    private long expectedNow() {
        return cycles + highest - firstSequence + 1;
    }

    long packets() {
        return packets;
    }

    /** Returns how many came twice or behind a later one. */
    long late() {
        return late;
    }

    long expected() {
        return expectedBefore + (firstSequence < 0 ? 0 : expectedNow());
    }

    /** Returns how many are missing; below 0 when more came twice. */
    long lost() {
        return expected() - packets;
    }

    /** Returns the jitter in timestamp units. */
    double jitter() {
        return jitter;
    }
}
