package org.tamanoir.qdisc;

import java.util.List;

/**
 * The virtual time of a GPS server, exactly (Parekh, Gallager 1993): {@code dV/dt = rate / sum of the weights of the
 * flows that are backlogged in the fluid system}. The work of the fluid server is counted without loss; what is
 * rounded, down by less than a unit, is only the start tag of an item that finds its flow empty.
 *
 * <p>The fluid system's own empty state needs no reset: a flow that is not backlogged in it starts at the present
 * virtual time, which stands still while nothing is backlogged. So packets that wait longer than in the fluid system,
 * on a link that is slower than its stated rate, stay in order with those that come.
 *
 * <p>Bounds: tags wrap around and are compared by their difference. A byte is at most 2^28 units, and a finish tag at
 * most 2^61 units ahead of virtual time: a flow of the smallest weight may have 8 GiB waiting before its tags bunch up.
 *
 * <p>Cost: O(log flows) amortised over arrivals; one call of {@link #advance} that lets k flows fall empty costs O(k log
 * flows).
 */
final class GpsClock {
    private static final int PER_BYTE_BITS = 28;
    private static final int UNIT_BITS = 38;
    private static final int MIN_FRACTION_BITS = 8;
    private static final long MAX_AHEAD = 1L << 61;
    private static final long MAX_PRODUCT = 1L << 62;
    private static final long NS_PER_SECOND = 1_000_000_000;

    private final TagScale scale;
    /** Work of one nanosecond, in 2^-fractionBits bytes: numerator and denominator. */
    private final long workNumerator;

    private final long workDenominator;
    /** Virtual time of one unit of work for a weight of one. */
    private final long perWork;
    /** How long a step may be for its products to fit a long. */
    private final long maxStepNs;

    /** Flows backlogged in the fluid system, by the finish tag of their last item. */
    private final TagHeap backlogged;

    private final long[] finish;
    private final long[] fraction;
    private long weight;
    private long virtual;
    /** Fraction of a unit that belongs to it: numerator over the sum of the backlogged weights. */
    private long virtualFraction;

    private long workFraction;
    private long lastNs;

    /**
     * A clock at 0.
     *
     * @param rate bytes a second, 1 to 1e12
     */
    GpsClock(List<FlowConfig> flows, long rate) {
        scale = new TagScale(flows, PER_BYTE_BITS, UNIT_BITS, MIN_FRACTION_BITS);
        long work = rate << scale.fractionBits;
        long divisor = TagScale.greatestCommonDivisor(work, NS_PER_SECOND);
        workNumerator = work / divisor;
        workDenominator = NS_PER_SECOND / divisor;
        perWork = scale.unit >> scale.fractionBits;
        long maxStepWork = MAX_PRODUCT / perWork;
        long stepNs = Math.min(maxStepWork, MAX_PRODUCT / workDenominator) * workDenominator / workNumerator;
        maxStepNs = Math.max(1, Math.min(stepNs, MAX_PRODUCT / workNumerator));
        backlogged = new TagHeap(flows.size());
        finish = new long[flows.size()];
        fraction = new long[flows.size()];
    }

    /** Lets the fluid flow until now. */
    void advance(long nowNs) {
        long restNs = nowNs - lastNs;
        lastNs = nowNs;
        while (restNs > 0 && !backlogged.isEmpty()) {
            long stepNs = Math.min(restNs, maxStepNs);
            restNs -= stepNs;
            long numerator = stepNs * workNumerator + workFraction;
            long work = numerator / workDenominator;
            workFraction = numerator - work * workDenominator;
            serve(work * perWork);
        }
        if (backlogged.isEmpty()) {
            workFraction = 0;
        }
    }

    /** Serves work, in units of virtual time for a weight of one; what is left when all are empty is lost. */
    private void serve(long work) {
        long left = work + virtualFraction;
        while (!backlogged.isEmpty()) {
            long units = left / weight;
            long toDeparture = backlogged.firstTag() - virtual;
            if (units < toDeparture) {
                virtual += units;
                virtualFraction = left - units * weight;
                return;
            }
            left -= toDeparture * weight;
            virtual += toDeparture;
            weight -= scale.weights[backlogged.removeFirst()];
        }
        virtualFraction = 0;
    }

    /** An item arrives now, to which the clock was advanced; its finish tag. */
    long arrive(int flow, long bytes) {
        boolean isBacklogged = backlogged.contains(flow);
        if (!isBacklogged) {
            finish[flow] = virtual;
            fraction[flow] = 0;
            weight += scale.weights[flow];
        }
        long numerator = bytes * scale.fractionPerByte[flow] + fraction[flow];
        long whole = numerator / scale.weights[flow];
        fraction[flow] = numerator - whole * scale.weights[flow];
        long ahead = finish[flow] - virtual + bytes * scale.perByte[flow] + whole;
        finish[flow] = virtual + Math.min(ahead, MAX_AHEAD);
        if (isBacklogged) {
            backlogged.change(flow, finish[flow]);
        } else {
            backlogged.add(flow, finish[flow]);
        }
        return finish[flow];
    }
}
