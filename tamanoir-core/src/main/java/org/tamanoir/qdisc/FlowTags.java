package org.tamanoir.qdisc;

import java.util.Arrays;
import java.util.List;

/**
 * Virtual start and finish of each flow's first item, for disciplines whose virtual time comes from what they serve
 * (SCFQ, STFQ, WF²Q+). There a flow's items follow each other without a gap, so that one finish tag for each flow is
 * enough: {@code S = max(finish of the item before, virtual time when the flow became backlogged)}, {@code F = S +
 * size/weight}.
 *
 * <p>Costs that become known late move the finish of what was served, and so the start of what follows. A flow whose
 * only item was being served and that asks again at once, when it has been charged, was never idle: virtual time that
 * passed meanwhile is no floor for it, otherwise it would lose what it had paid too much. It may be behind by 16 items
 * at most, so that a flow with too few requests for its share does not save up for later.
 *
 * <p>Bounds: a byte (or nanosecond) is at most 2^22 units, a size below 2^31, a rest counts as at most ±2^37 (137 s
 * of processor time). So one item moves a tag by less than 2^60, and with the virtual time held below 2^60 by
 * {@link #lower} and tags within 2^61 of it, nothing overflows, however long it is busy.
 */
final class FlowTags {
    /** Virtual time is lowered to 0 when it gets here. At 100 Gb/s that takes at least 20 s, mostly years. */
    static final long MAX_VIRTUAL = 1L << 60;

    /** How far a flow that is never idle may be behind. With 4, flows that share several processors lost up to 10 %. */
    private static final long MAX_LAG_ITEMS = 16;

    private static final int PER_BYTE_BITS = 22;
    private static final long MAX_REST = 1L << 37;
    private static final long MAX_DISTANCE = 1L << 61;

    final TagScale scale;
    private final boolean exact;
    private final long[] perByte;
    private final long[] fractionPerByte;
    private final long[] weights;
    /** Finish of the last item served, in whole units. */
    private final long[] finish;
    /** Its fraction of a unit: numerator over the flow's weight. */
    private final long[] fraction;
    /** Virtual time when it became backlogged. */
    private final long[] floor;
    /** Floor if it asks again at once: a bounded lag before the virtual time at which its last item was taken. */
    private final long[] floorAgain;
    /** Which call of dequeue comes next, as the flow was charged while nothing of it waited. */
    private final long[] chargedBefore;

    private long nextDequeue;
    /** The largest finish of all that was served. */
    private long largest;

    FlowTags(List<FlowConfig> flows) {
        scale = new TagScale(flows, PER_BYTE_BITS, Long.SIZE - 2, 0);
        exact = scale.exact;
        perByte = scale.perByte;
        fractionPerByte = scale.fractionPerByte;
        weights = scale.weights;
        int count = flows.size();
        finish = new long[count];
        fraction = new long[count];
        floor = new long[count];
        floorAgain = new long[count];
        chargedBefore = new long[count];
        Arrays.fill(chargedBefore, -1);
    }

    /** Says that {@link QueueingDiscipline#dequeue} was called. */
    void dequeueCalled() {
        nextDequeue++;
    }

    /** The largest finish of an item that was served. */
    long largestFinish() {
        return largest;
    }

    /** A flow has an item again. */
    void becomesBacklogged(int flow, long virtual) {
        floor[flow] = chargedBefore[flow] == nextDequeue ? floorAgain[flow] : virtual;
    }

    /** Start of the flow's first item. */
    long start(int flow) {
        return Math.max(finish[flow], floor[flow]);
    }

    /** Finish of the flow's first item. */
    long finish(int flow, long size) {
        long whole = start(flow) + size * perByte[flow];
        if (exact) {
            return whole;
        }
        long kept = finish[flow] < floor[flow] ? 0 : fraction[flow];
        return whole + (size * fractionPerByte[flow] + kept) / weights[flow];
    }

    /** The flow's first item is taken: what follows starts where it finishes, which is returned. */
    long take(int flow, long size, long virtual) {
        floorAgain[flow] = virtual - MAX_LAG_ITEMS * size * perByte[flow];
        if (finish[flow] < floor[flow]) {
            finish[flow] = floor[flow];
            fraction[flow] = 0;
        }
        move(flow, size);
        largest = Math.max(largest, finish[flow]);
        return finish[flow];
    }

    /**
     * What was taken cost so much more.
     *
     * @param waits whether the flow has items
     */
    void charge(int flow, long rest, long virtual, boolean waits) {
        move(flow, bounded(rest));
        finish[flow] = Math.max(virtual - MAX_DISTANCE, Math.min(virtual + MAX_DISTANCE, finish[flow]));
        largest = Math.max(largest, finish[flow]);
        if (!waits) {
            chargedBefore[flow] = nextDequeue;
        }
    }

    static long bounded(long rest) {
        return Math.max(-MAX_REST, Math.min(MAX_REST, rest));
    }

    private void move(int flow, long amount) {
        finish[flow] += amount * perByte[flow];
        if (!exact) {
            long numerator = amount * fractionPerByte[flow] + fraction[flow];
            long whole = Math.floorDiv(numerator, weights[flow]);
            finish[flow] += whole;
            fraction[flow] = numerator - whole * weights[flow];
        }
    }

    /** Makes all tags smaller, for a virtual time that starts from 0 again. Takes a nanosecond or so for each flow. */
    void lower(long by) {
        for (int flow = 0; flow < finish.length; flow++) {
            finish[flow] = Math.max(finish[flow] - by, -MAX_DISTANCE);
            floor[flow] = Math.max(floor[flow] - by, -MAX_DISTANCE);
            floorAgain[flow] = Math.max(floorAgain[flow] - by, -MAX_DISTANCE);
        }
        largest -= by;
    }
}
