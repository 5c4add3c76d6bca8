package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.benchmarks.report.Numbers;

class ReportTest {
    private static final ZonedDateTime DATE = ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 0, ZoneOffset.UTC);

    private static Report report(Results results) {
        return new Report(DATE, Map.of("kernel", "Linux"), Map.of("HAProxy", "2.6"), "3 rounds", results);
    }

    private static void add(Results results, String forwarder, int round, double rate, double cpu) {
        results.add(new Results.Row(
                "TCP flood", "200 B × 1", forwarder, round, Map.of(Figure.THROUGHPUT, rate, Figure.CPU_PER_GB, cpu)));
    }

    @Test
    void medianOfAnEvenNumberIsTheMiddle() {
        assertThat(Numbers.median(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(2.5);
        assertThat(Numbers.median(List.of(9.0, 1.0, 5.0))).isEqualTo(5.0);
    }

    @Test
    void spreadIsHalfTheRangeOverTheMedian() {
        assertThat(Numbers.spreadPercent(List.of(90.0, 100.0, 110.0))).isEqualTo(10.0);
        assertThat(Numbers.spreadPercent(List.of(0.0, 0.0))).isZero();
    }

    @Test
    void tablesShowMediansWithLeastAndMostAndTheNodeAsAMultipleOfEachPeer() {
        Results results = new Results();
        for (int round = 1; round <= 3; round++) {
            add(results, Peers.NODE, round, 1900 + 50 * round, 0.4);
            add(results, "HAProxy", round, 1000, 0.8);
        }
        assertThat(report(results).markdown())
                .contains("| 200 B × 1: MB/s | 2,000 (1,950–2,050) | 1,000 (1,000–1,000) |")
                .contains("| 200 B × 1: CPU-s/GB | 0.40 (0.40–0.40) | 0.80 (0.80–0.80) |")
                .contains("| 200 B × 1: MB/s | 2.00 |")
                .contains("| 200 B × 1: CPU-s/GB | 0.50 |");
    }

    @Test
    void forwarderWithoutAMeasurementLeavesItsCellsEmpty() {
        Results results = new Results();
        add(results, "HAProxy", 1, 1000, 0.8);
        results.add(new Results.Row("TCP flood", "64 B × 1", "nginx", 1, Map.of(Figure.THROUGHPUT, 5.0)));
        results.fail("TCP flood, 200 B × 1, nginx: nothing arrived");
        assertThat(report(results).markdown())
                .contains("| 200 B × 1: MB/s | 1,000 | – |")
                .contains("| 64 B × 1: MB/s | – | 5 |")
                .doesNotContain("64 B × 1: CPU-s/GB")
                .contains("- TCP flood, 200 B × 1, nginx: nothing arrived");
    }

    @Test
    void commaSeparatedAndJsonFormsHoldEveryMeasurement() {
        Results results = new Results();
        add(results, "HAProxy", 1, 1000, 0.8);
        assertThat(report(results).csv().lines())
                .hasSize(3)
                .contains("\"TCP flood\",\"200 B × 1\",\"HAProxy\",1,\"MB/s\",1000.0");
        assertThat(report(results).json()).contains("\"forwarder\" : \"HAProxy\"", "\"CPU-s/GB\" : 0.8");
    }
}
