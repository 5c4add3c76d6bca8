package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.Configs.backEnd;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.HealthPolicy;

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
    void foreignTextStaysInItsLine() {
        assertThat(Bounds.line("a\nb\u001b[31mc\u202ed" + "x".repeat(500)))
                .startsWith("a b [31mc dx")
                .hasSize(200);
    }
}
