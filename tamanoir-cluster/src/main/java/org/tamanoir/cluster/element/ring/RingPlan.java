package org.tamanoir.cluster.element.ring;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * A ring as its parties agree on it beforehand: who may be in it, and how patient they are.
 *
 * @param units 1 to 64, numbered 0 to 254, ascending. With the distributor they are the voters: a view needs more than
 *     half of them, so that of two one ends.
 * @param distributor whether there is one
 * @param idleMaxNs how long the master keeps the token when nothing waits anywhere
 * @param t1Ns after how long a token counts as lost at least; ten smoothed round trips where that is more
 */
public record RingPlan(List<Integer> units, boolean distributor, long idleMaxNs, long t1Ns) {
    /** The distributor's number among the parties. */
    public static final int DISTRIBUTOR = 0xFFFF;

    /** Units that a ring may have. */
    public static final int MAX_UNITS = 64;

    private static final int MAX_UNIT = 254;
    private static final long LOOK_NS = 200_000_000;

    public RingPlan {
        units = units.stream().sorted().distinct().toList();
        if (units.isEmpty() || units.size() > MAX_UNITS) {
            throw new IllegalArgumentException(
                    units.size() + " units, but a ring has 1 to " + MAX_UNITS + ": list others");
        }
        for (int unit : units) {
            if (unit < 0 || unit > MAX_UNIT) {
                throw new IllegalArgumentException("unit " + unit + " is not in 0 to " + MAX_UNIT + ": number it anew");
            }
        }
        if (idleMaxNs <= 0 || t1Ns <= 0) {
            throw new IllegalArgumentException(
                    "idleMax " + idleMaxNs + " ns and T1 " + t1Ns + " ns must be more than 0");
        }
    }

    /** Returns a plan with the times of the specification: idleMax 200 ms, T1 20 ms. */
    public static RingPlan of(Collection<Integer> units, boolean distributor) {
        return new RingPlan(List.copyOf(units), distributor, 200_000_000, 20_000_000);
    }

    /** Returns how often one looks whether something stands still that may also be slow. */
    long lookNs() {
        return Math.max(Math.max(idleMaxNs, t1Ns), LOOK_NS);
    }

    List<Integer> voters() {
        List<Integer> voters = new ArrayList<>(units);
        if (distributor) {
            voters.add(DISTRIBUTOR);
        }
        return voters;
    }
}
