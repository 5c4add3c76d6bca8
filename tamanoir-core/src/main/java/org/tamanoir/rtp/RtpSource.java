package org.tamanoir.rtp;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one source: sequence numbers by RFC 3550, A.1, losses by A.3, jitter by A.8.
 *
 * <p>Thread contract: guarded by the lock of its {@link RtpSources}.
 */
final class RtpSource {
    /** Packets in order until a source counts (A.1). */
    private static final int MIN_SEQUENTIAL = 2;

    private static final int MAX_DROPOUT = 3000;
    private static final int MAX_MISORDER = 100;
    private static final int SEQUENCES = 1 << 16;
    /** No sequence number. */
    private static final int NONE = SEQUENCES + 1;

    private static final double SECOND_NS = 1e9;

    final RtpSources.Key key;
    private final int clockHz;
    private final InetSocketAddress far;
    long usedNs;

    private int probation = MIN_SEQUENTIAL;
    private int highest;
    /** Of numbers that began anew, times 65,536. */
    private long cycles;

    private int base;
    private int wanted = NONE;
    private long received;
    private long misordered;
    private int payloadType;
    private int transit;
    /** In units of the timestamp, times 16. */
    private long jitter;

    private boolean hasTransit;
    private @Nullable RtpReport report;
    private boolean hasEnded;

    /** @param far the other end of the gateway */
    RtpSource(RtpSources.Key key, InetSocketAddress far, int clockHz) {
        this.key = key;
        this.far = far;
        this.clockHz = clockHz;
    }

    /** Takes note of a packet that came at that time. */
    void take(RtpPacket packet, long nowNs) {
        int sequence = packet.sequence();
        usedNs = nowNs;
        hasEnded = false;
        if (clockOf(payloadType, clockHz) != clockOf(packet.payloadType(), clockHz)) {
            hasTransit = false;
            jitter = 0;
        }
        payloadType = packet.payloadType();
        if (isValid(sequence)) {
            measure(packet.timestamp(), nowNs);
        }
    }

    /** Begins as one that has sent nothing. */
    void begin(int sequence) {
        restart(sequence);
        highest = sequence - 1 & 0xFFFF;
        probation = MIN_SEQUENTIAL;
    }

    private void restart(int sequence) {
        base = sequence;
        highest = sequence;
        wanted = NONE;
        cycles = 0;
        received = 0;
        misordered = 0;
        jitter = 0;
        hasTransit = false;
    }

    /** Returns whether a number is one of a source that counts. */
    private boolean isValid(int sequence) {
        int ahead = sequence - highest & 0xFFFF;
        if (probation > 0) {
            if (sequence != (highest + 1 & 0xFFFF)) {
                probation = MIN_SEQUENTIAL - 1;
                highest = sequence;
                return false;
            }
            probation--;
            highest = sequence;
            if (probation > 0) {
                return false;
            }
            restart(sequence);
        } else if (ahead < MAX_DROPOUT) {
            if (sequence < highest) {
                cycles += SEQUENCES;
            }
            misordered += ahead == 0 ? 1 : 0; // The same again.
            highest = sequence;
        } else if (ahead <= SEQUENCES - MAX_MISORDER) {
            if (sequence != wanted) {
                wanted = sequence + 1 & 0xFFFF;
                return false;
            }
            restart(sequence); // Two in order far away: the sender has begun anew.
        } else {
            misordered++;
        }
        received++;
        return true;
    }

    private void measure(int timestamp, long nowNs) {
        int arrival = (int) (long) (nowNs / SECOND_NS * clockOf(payloadType, clockHz));
        int now = arrival - timestamp;
        if (hasTransit) {
            jitter += Math.abs((long) (now - transit)) - (jitter + 8 >> 4);
        }
        transit = now;
        hasTransit = true;
    }

    /** Returns the clock of a static payload type (RFC 3551, tables 4 and 5); of another one the given one. */
    private static int clockOf(int payloadType, int otherHz) {
        return switch (payloadType) {
            case 0, 3, 4, 5, 7, 8, 9, 12, 13, 15, 18 -> 8_000;
            case 6 -> 16_000;
            case 10, 11 -> 44_100;
            case 16 -> 11_025;
            case 17 -> 22_050;
            case 14, 25, 26, 28, 31, 32, 33, 34 -> 90_000;
            default -> otherHz;
        };
    }

    /** Takes note of what a receiver has said of this source. */
    void report(RtpReport said) {
        report = said;
    }

    /** Takes note that the source has said goodbye. */
    void end() {
        hasEnded = true;
    }

    /** Returns whether it has shown that it is one: any datagram begins another. */
    boolean counts() {
        return probation == 0;
    }

    RtpStatus status() {
        long expected = counts() ? cycles + highest - base + 1 : 0;
        InetSocketAddress near = key.near();
        return new RtpStatus(
                key.ssrc,
                key.isBack ? far : near,
                key.isBack ? near : far,
                payloadType,
                received,
                expected - received,
                misordered,
                (jitter >> 4) * 1000.0 / clockOf(payloadType, clockHz),
                hasEnded,
                report);
    }
}
