package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.Configs.backEnd;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ClusterRecordsTest {
    private static void assertRefused(ThrowingCallable made, String... words) {
        assertThatThrownBy(made)
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage()).contains(words).doesNotContain("\n"));
    }

    @Test
    void aDeadBackEndIsOutWithinTheStatedTime() {
        assertThat(HealthPolicy.DEFAULT.outAfter()).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void boundsOfHealthAreKept() {
        Duration second = Duration.ofSeconds(1);
        assertRefused(
                () -> new HealthPolicy(Duration.ofMillis(1), second, 1, 1, second, 0, second),
                "health.interval 1 ms",
                "50 ms to 60 min");
        assertRefused(() -> new HealthPolicy(second, Duration.ofDays(1), 1, 1, second, 0, second), "health.timeout");
        assertRefused(() -> new HealthPolicy(second, second, 0, 1, second, 0, second), "health.failures 0", "1 to 100");
        assertRefused(() -> new HealthPolicy(second, second, 1, 101, second, 0, second), "health.successes 101");
        assertRefused(() -> new HealthPolicy(second, second, 1, 1, second, -1, second), "health.flap-limit -1");
    }

    @Test
    void boundsOfWeightsAreKept() {
        Duration second = Duration.ofSeconds(1);
        assertRefused(() -> new WeightPolicy(true, 0, 1, second, second, 0, 1), "weights.fixed 0", "1 to 65535");
        assertRefused(() -> new WeightPolicy(true, 1, 65_536, second, second, 0, 1), "weights.per-processor 65536");
        assertRefused(() -> new WeightPolicy(true, 1, 1, second, second, Double.NaN, 1), "weights.hysteresis NaN");
        assertRefused(() -> new WeightPolicy(true, 1, 1, second, second, 0, 0), "weights.max-step 0.0");
        assertRefused(() -> new WeightPolicy(true, 1, 1, Duration.ZERO, second, 0, 1), "weights.interval 0 ms");
    }

    @Test
    void boundsOfBackEndsAreKept() {
        assertRefused(() -> backEnd("", "10.0.0.1", null), "back-end ''");
        assertRefused(() -> backEnd("b", "0.0.0.0", null), "back-end b", "0.0.0.0");
        assertRefused(() -> backEnd("b", "10.0.0.1", 65_536), "weight of back-end b 65536");
        for (String admin : List.of("ftp://10.0.0.1:1", "http://10.0.0.1/x", "http://u@10.0.0.1", "/x")) {
            assertRefused(
                    () -> new BackEnd("b", Configs.address("10.0.0.1"), URI.create(admin), null),
                    admin,
                    "http://ADDRESS:PORT");
        }
    }

    @Test
    void aDirectorsConfigurationIsWithoutContradictions() {
        Path folder = Path.of("unused");
        assertRefused(
                () -> Configs.director(
                        folder,
                        WeightPolicy.DEFAULT,
                        Configs.REGISTRATION,
                        backEnd("a", "10.0.0.1", null),
                        backEnd("a", "10.0.0.2", null)),
                "back-end a",
                "twice");
        assertRefused(
                () -> Configs.director(
                        folder,
                        WeightPolicy.DEFAULT,
                        Configs.REGISTRATION,
                        backEnd("a", "10.0.0.1", null),
                        backEnd("b", "10.0.0.1", null)),
                "10.0.0.1",
                "twice");
        assertRefused(
                () -> Configs.director(
                        folder, WeightPolicy.DEFAULT, Configs.REGISTRATION, backEnd("a", "10.99.0.1", null)),
                "back-end a",
                "10.99.0.1",
                "address of a service");
    }

    @Test
    void foreignTextStaysInItsLine() {
        assertThat(Bounds.line("a\nb\u001b[31mc\u202ed" + "x".repeat(500)))
                .startsWith("a b [31mc dx")
                .hasSize(200);
    }
}
