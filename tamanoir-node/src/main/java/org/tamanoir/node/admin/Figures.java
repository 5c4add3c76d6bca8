package org.tamanoir.node.admin;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.util.LinkedHashMap;
import java.util.Map;

/** Metrics of one look, put together point by point; points with the same name and labels add up. One thread. */
final class Figures {
    private record Family(String name, String help) {}

    private record Sum(long count, double sum) {}

    private record Distribution(double[] bounds, long[] counts, double sum) {}

    private final Map<Family, Map<Labels, Double>> counters = new LinkedHashMap<>();
    private final Map<Family, Map<Labels, Double>> gauges = new LinkedHashMap<>();
    private final Map<Family, Map<Labels, Sum>> summaries = new LinkedHashMap<>();
    private final Map<Family, Map<Labels, Distribution>> histograms = new LinkedHashMap<>();

    /**
     * A counter.
     *
     * @param name without {@code _total}, which the format adds
     */
    void counter(String name, String help, double value, String... labels) {
        counters.computeIfAbsent(new Family(name, help), family -> new LinkedHashMap<>())
                .merge(Labels.of(labels), value, Double::sum);
    }

    /** A gauge. */
    void gauge(String name, String help, double value, String... labels) {
        gauges.computeIfAbsent(new Family(name, help), family -> new LinkedHashMap<>())
                .merge(Labels.of(labels), value, Double::sum);
    }

    /** How often something happened, and what it took together. */
    void summary(String name, String help, long count, double sum, String... labels) {
        summaries
                .computeIfAbsent(new Family(name, help), family -> new LinkedHashMap<>())
                .put(Labels.of(labels), new Sum(count, sum));
    }

    /**
     * How often something took how long.
     *
     * @param bounds of the buckets, upwards, the last one infinite
     * @param counts of each bucket
     */
    void histogram(String name, String help, double[] bounds, long[] counts, double sum, String... labels) {
        histograms
                .computeIfAbsent(new Family(name, help), family -> new LinkedHashMap<>())
                .put(Labels.of(labels), new Distribution(bounds, counts, sum));
    }

    MetricSnapshots snapshots() {
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        counters.forEach((family, points) -> {
            CounterSnapshot.Builder metric =
                    CounterSnapshot.builder().name(family.name).help(family.help);
            points.forEach((labels, value) -> metric.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value)
                    .build()));
            all.metricSnapshot(metric.build());
        });
        gauges.forEach((family, points) -> {
            GaugeSnapshot.Builder metric =
                    GaugeSnapshot.builder().name(family.name).help(family.help);
            points.forEach((labels, value) -> metric.dataPoint(
                    GaugeDataPointSnapshot.builder().labels(labels).value(value).build()));
            all.metricSnapshot(metric.build());
        });
        summaries.forEach((family, points) -> {
            SummarySnapshot.Builder metric =
                    SummarySnapshot.builder().name(family.name).help(family.help);
            points.forEach((labels, sum) -> metric.dataPoint(SummaryDataPointSnapshot.builder()
                    .labels(labels)
                    .count(sum.count)
                    .sum(sum.sum)
                    .build()));
            all.metricSnapshot(metric.build());
        });
        histograms.forEach((family, points) -> {
            HistogramSnapshot.Builder metric =
                    HistogramSnapshot.builder().name(family.name).help(family.help);
            points.forEach((labels, distribution) -> metric.dataPoint(HistogramDataPointSnapshot.builder()
                    .labels(labels)
                    .classicHistogramBuckets(buckets(distribution))
                    .sum(distribution.sum)
                    .build()));
            all.metricSnapshot(metric.build());
        });
        return all.build();
    }

    private static ClassicHistogramBuckets buckets(Distribution distribution) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < distribution.bounds.length; i++) {
            buckets.bucket(distribution.bounds[i], distribution.counts[i]);
        }
        return buckets.build();
    }
}
