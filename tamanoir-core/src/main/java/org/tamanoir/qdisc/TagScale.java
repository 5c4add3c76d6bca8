package org.tamanoir.qdisc;

import java.util.List;

/**
 * The unit of virtual time, and what one byte of each flow is in it: {@code unit / weight}, a whole number for every
 * flow where the weights' least common multiple is small enough, so that tags are exact and ties are ties. Otherwise
 * {@link FlowTags} carries the fraction of each flow on, so that rounding (below one unit) never adds up.
 */
final class TagScale {
    private static final int MAX_FRACTION_BITS = 16;

    /** Virtual time of one byte for a weight of one. */
    final long unit;
    /** {@code unit} is a multiple of 2^fractionBits. */
    final int fractionBits;
    /** Whether a byte of every flow is a whole number of units. */
    final boolean exact;

    final long[] weights;
    final long totalWeight;
    /** Whole units of a byte. */
    final long[] perByte;
    /** Numerator of the fraction over the flow's weight. */
    final long[] fractionPerByte;

    /**
     * Chooses the unit.
     *
     * @param maxPerByteBits a byte of the flow of the smallest weight is at most 2^this
     * @param maxUnitBits the unit is at most 2^this
     * @param minFractionBits the unit is a multiple of 2^this; at most 16
     */
    TagScale(List<FlowConfig> flows, int maxPerByteBits, int maxUnitBits, int minFractionBits) {
        weights = flows.stream().mapToLong(FlowConfig::weight).toArray();
        long smallest = FlowConfig.MAX_WEIGHT;
        long total = 0;
        for (long weight : weights) {
            smallest = Math.min(smallest, weight);
            total += weight;
        }
        totalWeight = total;
        long limit = Math.min(smallest << maxPerByteBits, 1L << maxUnitBits);
        long multiple = leastCommonMultiple(weights, limit >> minFractionBits);
        exact = multiple > 0;
        if (exact) {
            int bits = minFractionBits;
            while (bits < MAX_FRACTION_BITS && multiple << (bits + 1) <= limit) {
                bits++;
            }
            fractionBits = bits;
            unit = multiple << bits;
        } else {
            fractionBits = MAX_FRACTION_BITS;
            unit = limit >> MAX_FRACTION_BITS << MAX_FRACTION_BITS;
        }
        perByte = new long[weights.length];
        fractionPerByte = new long[weights.length];
        for (int flow = 0; flow < weights.length; flow++) {
            perByte[flow] = unit / weights[flow];
            fractionPerByte[flow] = unit % weights[flow];
        }
    }

    /** 0 when it exceeds the limit. */
    private static long leastCommonMultiple(long[] numbers, long limit) {
        long multiple = 1;
        for (long number : numbers) {
            long factor = number / greatestCommonDivisor(multiple, number);
            if (multiple > limit / factor) {
                return 0;
            }
            multiple *= factor;
        }
        return multiple;
    }

    static long greatestCommonDivisor(long a, long b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }
}
