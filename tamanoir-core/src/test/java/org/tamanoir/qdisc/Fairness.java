package org.tamanoir.qdisc;

/** Measures of fairness. */
final class Fairness {
    private Fairness() {}

    /** Jain's index of throughputs divided by weights: 1 = all equal, 1/n = one has all. */
    static double jain(double... shares) {
        double sum = 0;
        double squares = 0;
        for (double share : shares) {
            sum += share;
            squares += share * share;
        }
        return sum * sum / (shares.length * squares);
    }
}
