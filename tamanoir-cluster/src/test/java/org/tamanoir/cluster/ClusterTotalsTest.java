package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterTotalsTest {
    private final ClusterTotals totals = new ClusterTotals();

    private static Load load(String instance, long packets) {
        Load.Traffic traffic = new Load.Traffic(packets, 10 * packets, 0, packets, 10 * packets, 0, 0);
        return new Load(instance, 1, 1, 0, null, 0, 1, traffic);
    }

    private void hear(String node, String instance, long packets) {
        totals.heard(node, load(instance, packets));
        totals.heard(node, Configs.counters("Monitor 1.0", "packetsIn", packets));
    }

    private void assertSum(long packets) {
        assertThat(totals.traffic().packetsIn()).isEqualTo(packets);
        assertThat(totals.traffic().bytesOut()).isEqualTo(10 * packets);
        assertThat(totals.services()).isEqualTo(Configs.counters("Monitor", "packetsIn", packets));
    }

    @Test
    void nodesAreAddedUp() {
        hear("a", "1", 5);
        hear("b", "1", 7);
        assertSum(12);
        hear("a", "1", 6);
        assertSum(13);
    }

    @Test
    void aNodeThatStartsAnewAddsToWhatItHadCounted() {
        hear("a", "1", 100);
        hear("a", "2", 3);
        assertSum(103);
        hear("a", "2", 200);
        assertSum(300);
    }

    @Test
    void aNodeThatLeavesLeavesItsCounts() {
        hear("a", "1", 100);
        totals.forget("a");
        assertThat(totals.has("a")).isFalse();
        assertSum(100);
        hear("a", "2", 5);
        assertSum(105);
        totals.forget("nobody");
        assertSum(105);
    }

    @Test
    void aServiceThatIsDeployedAnewAddsToWhatItHadCounted() {
        totals.heard("a", load("1", 0));
        totals.heard("a", Map.of("Gzip 1", Map.of("packets", 10L), "Gzip 2", Map.of("packets", 1L)));
        assertThat(totals.services()).isEqualTo(Configs.counters("Gzip", "packets", 11));
        totals.heard("a", Map.of("Gzip 2", Map.of("packets", 4L)));
        assertThat(totals.services()).isEqualTo(Configs.counters("Gzip", "packets", 14));
        totals.heard("a", Map.of("Gzip 1", Map.of("packets", 2L), "Gzip 2", Map.of("packets", 3L)));
        assertThat(totals.services()).isEqualTo(Configs.counters("Gzip", "packets", 19));
    }

    @Test
    void servicesOfANodeWithoutLoadAreNotCounted() {
        totals.heard("a", Configs.counters("Gzip 1", "packets", 10));
        assertThat(totals.services()).isEmpty();
    }
}
