package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** What a packet server did with a trace, as work over time; for traces whose transmission times are exact. */
final class Schedule {
    private final Trace trace;
    private final List<Trace.Packet> served;

    Schedule(Trace trace, List<Trace.Packet> served) {
        this.trace = trace;
        this.served = served;
    }

    /** All times at which something arrives, departs or ends, in between which every flow's work is linear. */
    long[] timesNs() {
        TreeSet<Long> times = new TreeSet<>(List.of(0L));
        for (Trace.Packet packet : served) {
            times.add(packet.arrivalNs);
            times.add(packet.departsNs);
            times.add(packet.finishNs);
        }
        return times.stream().mapToLong(Long::longValue).toArray();
    }

    /** Bytes of a flow that were sent by a time, which a whole number of bytes is. */
    long work(int flow, long whenNs) {
        long sum = 0;
        for (Trace.Packet packet : served) {
            if (packet.flow() == flow && packet.departsNs < whenNs) {
                sum += Math.min(packet.finishNs, whenNs) - packet.departsNs;
            }
        }
        return sum / (Trace.NS / trace.rate);
    }

    /** The same at any time. */
    Rational work(int flow, Rational whenNs) {
        Rational sum = Rational.ZERO;
        for (Trace.Packet packet : served) {
            Rational departs = Rational.of(packet.departsNs);
            if (packet.flow() == flow && departs.compareTo(whenNs) < 0) {
                sum = sum.plus(Rational.of(packet.finishNs).min(whenNs).minus(departs));
            }
        }
        return sum.dividedBy(Rational.of(Trace.NS / trace.rate));
    }

    /** Whether something of a flow waits, or is in service, all the time from one time to another. */
    boolean isBacklogged(int flow, long fromNs, long toNs) {
        long coveredNs = fromNs;
        for (Trace.Packet packet : served) {
            if (packet.flow() == flow && packet.arrivalNs <= coveredNs) {
                coveredNs = Math.max(coveredNs, packet.finishNs);
            }
        }
        return coveredNs >= toNs;
    }

    /**
     * The largest {@code |W_i/w_i - W_j/w_j|} of two flows over all intervals in which both are backlogged, times both
     * weights.
     */
    long worstLag(int i, int j) {
        long worst = 0;
        List<Long> lags = new ArrayList<>();
        long[] times = timesNs();
        for (int k = 0; k < times.length; k++) {
            if (k > 0 && !(isBacklogged(i, times[k - 1], times[k]) && isBacklogged(j, times[k - 1], times[k]))) {
                lags.clear();
            }
            long lag = work(i, times[k]) * trace.weights[j] - work(j, times[k]) * trace.weights[i];
            for (long earlier : lags) {
                worst = Math.max(worst, Math.abs(lag - earlier));
            }
            lags.add(lag);
        }
        return worst;
    }
}
