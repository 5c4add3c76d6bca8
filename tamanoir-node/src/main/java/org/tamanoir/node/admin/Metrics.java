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
import java.util.function.BinaryOperator;

/**
 * Metrics of one look, put together point by point: counters and gauges with the same name and labels add up. A group of
 * them shares the beginning of its names, and labels. One thread.
 */
public final class Metrics {
    private record Family(String name, String help) {}

    private record All(
            Map<Family, Map<Labels, Double>> counters,
            Map<Family, Map<Labels, Double>> gauges,
            Map<Family, SummarySnapshot.Builder> summaries,
            Map<Family, HistogramSnapshot.Builder> histograms) {}

    private final All all;
    private final String prefix;
    private final Labels labels;

    Metrics() {
        this(
                new All(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>()),
                "tamanoir_",
                Labels.EMPTY);
    }

    private Metrics(All all, String prefix, Labels labels) {
        this.all = all;
        this.prefix = prefix;
        this.labels = labels;
    }

    /** Returns a group of these whose names begin with the prefix, after those of this group. */
    Metrics group(String prefix, String... labels) {
        return new Metrics(all, this.prefix + prefix, this.labels.merge(Labels.of(labels)));
    }

    /** Returns the same with further labels, names and values by turns. */
    Metrics with(String... labels) {
        return group("", labels);
    }

    /**
     * Adds to a counter.
     *
     * @param name without {@code _total}, which the format adds
     */
    void counter(String name, String help, double value) {
        add(all.counters, name, help, value);
    }

    /** Adds to a gauge. */
    void gauge(String name, String help, double value) {
        add(all.gauges, name, help, value);
    }

    /** Sets a gauge, which becomes what the join says where it is there already: the larger one, for instance. */
    void gauge(String name, String help, double value, BinaryOperator<Double> join) {
        add(all.gauges, name, help, value, join);
    }

    private void add(Map<Family, Map<Labels, Double>> metrics, String name, String help, double value) {
        add(metrics, name, help, value, Double::sum);
    }

    private void add(
            Map<Family, Map<Labels, Double>> metrics,
            String name,
            String help,
            double value,
            BinaryOperator<Double> join) {
        metrics.computeIfAbsent(new Family(prefix + name, help), family -> new LinkedHashMap<>())
                .merge(labels, value, join);
    }

    /** Sets how often something happened, and what it took together. */
    void summary(String name, String help, long count, double sum) {
        all.summaries
                .computeIfAbsent(new Family(prefix + name, help), family -> SummarySnapshot.builder())
                .dataPoint(SummaryDataPointSnapshot.builder()
                        .labels(labels)
                        .count(count)
                        .sum(sum)
                        .build());
    }

    /** Sets how often something took how long; the last bucket's bound is infinite. */
    void histogram(String name, String help, ClassicHistogramBuckets buckets, double sum) {
        all.histograms
                .computeIfAbsent(new Family(prefix + name, help), family -> HistogramSnapshot.builder())
                .dataPoint(HistogramDataPointSnapshot.builder()
                        .labels(labels)
                        .classicHistogramBuckets(buckets)
                        .sum(sum)
                        .build());
    }

    MetricSnapshots snapshots() {
        MetricSnapshots.Builder snapshots = MetricSnapshots.builder();
        all.counters.forEach((family, points) -> {
            CounterSnapshot.Builder metric = CounterSnapshot.builder();
            points.forEach((labels, value) -> metric.dataPoint(new CounterDataPointSnapshot(value, labels, null, 0)));
            snapshots.metricSnapshot(metric.name(family.name).help(family.help).build());
        });
        all.gauges.forEach((family, points) -> {
            GaugeSnapshot.Builder metric = GaugeSnapshot.builder();
            points.forEach((labels, value) -> metric.dataPoint(new GaugeDataPointSnapshot(value, labels, null)));
            snapshots.metricSnapshot(metric.name(family.name).help(family.help).build());
        });
        all.summaries.forEach((family, metric) -> snapshots.metricSnapshot(
                metric.name(family.name).help(family.help).build()));
        all.histograms.forEach((family, metric) -> snapshots.metricSnapshot(
                metric.name(family.name).help(family.help).build()));
        return snapshots.build();
    }
}
