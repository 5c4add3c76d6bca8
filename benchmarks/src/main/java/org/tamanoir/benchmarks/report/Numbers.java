package org.tamanoir.benchmarks.report;

import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.stream.DoubleStream;

/** Measures over several values. */
public final class Numbers {
    private Numbers() {}

    /** The middle one; of an even number the mean of the two in the middle. */
    public static double median(double... values) {
        double[] sorted = DoubleStream.of(values).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The middle one; of an even number the mean of the two in the middle. */
    public static double median(Collection<? extends Number> values) {
        return median(values.stream().mapToDouble(Number::doubleValue).toArray());
    }

    /** Half the distance from the smallest to the largest value, in percent of the median; 0 for a median of 0. */
    public static double spreadPercent(Collection<? extends Number> values) {
        DoubleSummaryStatistics all =
                values.stream().mapToDouble(Number::doubleValue).summaryStatistics();
        double median = median(values);
        return median == 0 ? 0 : (all.getMax() - all.getMin()) / 2 / median * 100;
    }

    /** Jain's index of fairness, (Σx)² / (n·Σx²): 1 when all are equal, 1/n when one has everything. */
    public static double jain(double... x) {
        double sum = DoubleStream.of(x).sum();
        double squares = DoubleStream.of(x).map(each -> each * each).sum();
        return squares == 0 ? 0 : sum * sum / (x.length * squares);
    }

    /** The same of whole numbers. */
    public static double jain(Collection<? extends Number> x) {
        return jain(x.stream().mapToDouble(Number::doubleValue).toArray());
    }
}
