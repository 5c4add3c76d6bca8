package org.tamanoir.node.load;

import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Latencies in microseconds, over {@code count} packets. */
record LatencySummary(
        long count,
        double minUs,
        double meanUs,
        double p50Us,
        double p90Us,
        double p99Us,
        double p999Us,
        double maxUs) {
    /** Latencies above this are recorded as this. */
    static final long MAX_NS = 60_000_000_000L;

    /** 1 µs is resolved to 1 in 100: 60 KiB. */
    static Histogram newHistogram() {
        return new Histogram(1, MAX_NS, 2);
    }

    /** @param histogram in nanoseconds */
    static LatencySummary of(Histogram histogram) {
        return new LatencySummary(
                histogram.getTotalCount(),
                histogram.getMinValue() / 1e3,
                round(histogram.getMean() / 1e3),
                us(histogram, 50),
                us(histogram, 90),
                us(histogram, 99),
                us(histogram, 99.9),
                histogram.getMaxValue() / 1e3);
    }

    private static double us(Histogram histogram, double percentile) {
        return histogram.getValueAtPercentile(percentile) / 1e3;
    }

    private static double round(double value) {
        return Math.rint(value * 1e3) / 1e3;
    }

    String line() {
        return String.format(
                Locale.ROOT,
                "min %.1f  mean %.1f  p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f us (%,d packets)",
                minUs,
                meanUs,
                p50Us,
                p90Us,
                p99Us,
                p999Us,
                maxUs,
                count);
    }
}
