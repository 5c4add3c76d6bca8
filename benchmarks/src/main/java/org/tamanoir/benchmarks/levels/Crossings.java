package org.tamanoir.benchmarks.levels;

import java.util.Arrays;
import java.util.List;
import org.tamanoir.benchmarks.levels.SegmentLog.Event;

/**
 * How long the packets of a flow took from one place to another.
 *
 * @param ns by sequence number; -1 = the packet was not seen at both
 */
record Crossings(long[] ns) {
    /** Not seen at both places. */
    static final long UNSEEN = -1;

    /** Of datagrams, which say their sequence numbers; of several with the same number the first counts. */
    static Crossings ofDatagrams(int packets, List<Event> from, List<Event> to) {
        return between(times(packets, from), times(packets, to));
    }

    private static long[] times(int packets, List<Event> events) {
        long[] times = unseen(packets);
        for (Event event : events) {
            if (!event.tcp() && event.number() >= 0 && event.number() < packets) {
                int number = (int) event.number();
                times[number] = times[number] == UNSEEN ? event.ns() : times[number];
            }
        }
        return times;
    }

    /**
     * Of packets of one size over one TCP connection, wherever segments begin and end: a packet has passed a place when
     * its last byte has. A node makes a connection of its own, so positions count from each one's first byte.
     */
    static Crossings ofStream(int packets, int packetBytes, List<Event> from, List<Event> to) {
        return between(arrivals(packets, packetBytes, from), arrivals(packets, packetBytes, to));
    }

    private static long[] arrivals(int packets, int packetBytes, List<Event> events) {
        long[] times = unseen(packets);
        long first = -1;
        long passed = 0;
        for (Event event : events) {
            if (!event.tcp()) {
                continue;
            }
            if (event.begins()) {
                first = event.number();
                continue;
            }
            if (first < 0) {
                continue;
            }
            // Sequence numbers are modulo 2^32; a flow has less than that.
            long end = (event.number() - first & 0xFFFF_FFFFL) + event.bytes();
            // What was sent again has passed before.
            for (long next = passed / packetBytes; next < packets && (next + 1) * packetBytes <= end; next++) {
                times[(int) next] = event.ns();
            }
            passed = Math.max(passed, end);
        }
        return times;
    }

    private static long[] unseen(int packets) {
        long[] times = new long[packets];
        Arrays.fill(times, UNSEEN);
        return times;
    }

    private static Crossings between(long[] from, long[] to) {
        long[] ns = new long[from.length];
        Arrays.setAll(ns, i -> from[i] == UNSEEN || to[i] == UNSEEN ? UNSEEN : to[i] - from[i]);
        return new Crossings(ns);
    }

    /** Packets that were seen at both places. */
    int seen() {
        return (int) Arrays.stream(ns).filter(each -> each != UNSEEN).count();
    }

    /** Without the first ones. */
    Crossings skip(int packets) {
        return new Crossings(Arrays.copyOfRange(ns, Math.min(packets, ns.length), ns.length));
    }

    /** Those of sequence numbers from one on up to another, which is not among them. */
    Crossings range(int first, int end) {
        return new Crossings(Arrays.copyOfRange(ns, first, Math.min(end, ns.length)));
    }

    /** Every {@code step}-th, from {@code first} on. */
    Crossings every(int step, int first) {
        long[] some = new long[Math.max(0, (ns.length - first + step - 1) / step)];
        Arrays.setAll(some, i -> ns[first + i * step]);
        return new Crossings(some);
    }

    /** In microseconds. */
    Summary summary() {
        long[] sorted =
                Arrays.stream(ns).filter(each -> each != UNSEEN).sorted().toArray();
        return new Summary(sorted.length, us(sorted, 0.50), us(sorted, 0.95), us(sorted, 0.99), us(sorted, 1.0));
    }

    /** The smallest value that at least this share of all does not exceed; NaN of none. */
    private static double us(long[] sorted, double share) {
        if (sorted.length == 0) {
            return Double.NaN;
        }
        int rank = (int) Math.ceil(share * sorted.length);
        return sorted[Math.max(0, rank - 1)] / 1e3;
    }

    /**
     * Percentiles in microseconds.
     *
     * @param packets that were seen
     */
    record Summary(int packets, double p50, double p95, double p99, double max) {
        String text() {
            return us(p50) + " · " + us(p95) + " · " + us(p99) + " · " + us(max);
        }

        String csv() {
            return "%d,%.2f,%.2f,%.2f,%.2f".formatted(packets, p50, p95, p99, max);
        }

        static String us(double value) {
            return (value >= 100 ? "%,.0f" : "%.1f").formatted(value);
        }
    }
}
