package org.tamanoir.benchmarks.report;

import java.util.List;

/** Measures over several values. */
public final class Numbers {
    private Numbers() {}

    /** The middle one; of an even number the mean of the two in the middle. */
    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** Jain's index of fairness, (Σx)² / (n·Σx²): 1 when all are equal, 1/n when one has everything. */
    public static double jain(double... x) {
        double sum = 0;
        double squares = 0;
        for (double each : x) {
            sum += each;
            squares += each * each;
        }
        return squares == 0 ? 0 : sum * sum / (x.length * squares);
    }
}
