package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.node.tc.TcStatus;
import org.tamanoir.sched.QosStatus;

/** Counts of scheduling points as operators see them: in the API and in metrics. */
class QosStatusTest {
    /** Buckets with these counts, from the first on, and one count in the last. */
    private static QosStatus.Waiting waiting(long last, long... first) {
        List<Long> counts = new ArrayList<>(Collections.nCopies(QosStatus.Waiting.BUCKETS, 0L));
        for (int i = 0; i < first.length; i++) {
            counts.set(i, first[i]);
        }
        counts.set(QosStatus.Waiting.BUCKETS - 1, last);
        return new QosStatus.Waiting(counts, 3_000_000);
    }

    private static QosStatus.ClassStatus status(QosStatus.Waiting waiting) {
        return new QosStatus.ClassStatus(
                "video",
                3,
                300,
                2,
                40,
                4000,
                Duration.ofMillis(1500),
                0.7,
                Map.of(
                        DropReason.TURN_QUEUE_FULL,
                        new QosStatus.Dropped(5, 500),
                        DropReason.SHUTDOWN,
                        new QosStatus.Dropped(1, 100)),
                waiting);
    }

    @Test
    void quantilesAreTheEndsOfTheirBuckets() {
        // 50 below 1 µs, 45 below 8 µs, 4 below 16 µs, 1 beyond all bounds.
        QosViews.Waiting view = QosViews.Waiting.of(waiting(1, 50, 0, 0, 45, 4));
        assertThat(view.count()).isEqualTo(100);
        assertThat(view.meanSeconds()).isEqualTo(30e-6);
        assertThat(view.p50Seconds()).isEqualTo(1e-6);
        assertThat(view.p95Seconds()).isEqualTo(8e-6);
        assertThat(view.p99Seconds()).isEqualTo(16e-6);
        assertThat(view.lastBucketSeconds()).isEqualTo(4.194304);
    }

    @Test
    void aQuantileInTheLastBucketHasNoEndAndWithoutAnyThereIsNone() {
        QosViews.Waiting beyond = QosViews.Waiting.of(waiting(10, 10));
        assertThat(beyond.p50Seconds()).isEqualTo(1e-6);
        assertThat(beyond.p95Seconds()).isNull();
        QosViews.Waiting none = QosViews.Waiting.of(waiting(0));
        assertThat(none.count()).isZero();
        assertThat(none.meanSeconds()).isZero();
        assertThat(none.p50Seconds()).isNull();
    }

    @Test
    void dropsAreSummedAndNamed() {
        QosViews.TrafficClass view = QosViews.TrafficClass.of(status(waiting(0)));
        assertThat(view.droppedPackets()).isEqualTo(6);
        assertThat(view.droppedBytes()).isEqualTo(600);
        assertThat(view.drops())
                .containsOnly(
                        Map.entry("TURN_QUEUE_FULL", new QosViews.Dropped(5, 500)),
                        Map.entry("SHUTDOWN", new QosViews.Dropped(1, 100)));
        assertThat(view.processorSeconds()).isEqualTo(1.5);
    }

    private static String scrape(Metrics metrics) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrometheusTextFormatWriter.create().write(out, metrics.snapshots());
        return out.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClassOfTheHostIsChangedWhereItReallyWas(boolean dryRun) throws IOException {
        Metrics metrics = new Metrics();
        QosMetrics.add(
                metrics,
                new TcStatus(
                        dryRun,
                        List.of(new TcStatus.Rule(
                                "d0", "1:10", TcStatus.State.CHANGED, "", "1Mbit/s", "2Mbit/s", 1, List.of()))));
        String labels = "{class=\"1:10\",interface=\"d0\"}";
        assertThat(scrape(metrics).lines())
                .contains(
                        "tamanoir_traffic_control_changed" + labels + (dryRun ? " 0.0" : " 1.0"),
                        "tamanoir_traffic_control_usable" + labels + " 1.0");
    }

    @Test
    void metricsHaveEveryFigureAndAHistogramThatAddsUp() throws IOException {
        Metrics metrics = new Metrics();
        QosMetrics.add(
                metrics,
                new QosStatus(List.of(new QosStatus.Point("pre", "stfq", List.of(status(waiting(2, 5, 0, 0, 3)))))));
        String labels = "{class=\"video\",point=\"pre\"}";
        assertThat(scrape(metrics).lines())
                .contains(
                        "tamanoir_qos_point_info{discipline=\"stfq\",point=\"pre\"} 1.0",
                        "tamanoir_qos_waiting_packets" + labels + " 3.0",
                        "tamanoir_qos_waiting_bytes" + labels + " 300.0",
                        "tamanoir_qos_waiting_turns" + labels + " 2.0",
                        "tamanoir_qos_packets_served_total" + labels + " 40.0",
                        "tamanoir_qos_bytes_served_total" + labels + " 4000.0",
                        "tamanoir_qos_processor_seconds_total" + labels + " 1.5",
                        "tamanoir_qos_share" + labels + " 0.7",
                        "tamanoir_qos_packets_dropped_total{class=\"video\",point=\"pre\",reason=\"TURN_QUEUE_FULL\"} 5.0",
                        "tamanoir_qos_bytes_dropped_total{class=\"video\",point=\"pre\",reason=\"SHUTDOWN\"} 100.0",
                        "tamanoir_qos_packets_dropped_total{class=\"video\",point=\"pre\",reason=\"QUEUE_FULL\"} 0.0",
                        "# TYPE tamanoir_qos_waiting_seconds histogram",
                        "tamanoir_qos_waiting_seconds_bucket{class=\"video\",point=\"pre\",le=\"1.0E-6\"} 5",
                        "tamanoir_qos_waiting_seconds_bucket{class=\"video\",point=\"pre\",le=\"4.0E-6\"} 5",
                        "tamanoir_qos_waiting_seconds_bucket{class=\"video\",point=\"pre\",le=\"8.0E-6\"} 8",
                        "tamanoir_qos_waiting_seconds_bucket{class=\"video\",point=\"pre\",le=\"4.194304\"} 8",
                        "tamanoir_qos_waiting_seconds_bucket{class=\"video\",point=\"pre\",le=\"+Inf\"} 10",
                        "tamanoir_qos_waiting_seconds_count" + labels + " 10",
                        "tamanoir_qos_waiting_seconds_sum" + labels + " 0.003");
    }
}
