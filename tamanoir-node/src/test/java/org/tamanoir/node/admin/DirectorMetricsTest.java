package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.Load;
import org.tamanoir.cluster.lvs.Counters;

class DirectorMetricsTest {
    private static final Counters COUNTERS = new Counters(3, 4, 0, 7, 100, 0, 60_000, 0, 1, 2, 0, 3, 0);
    private static final Load.Traffic TRAFFIC = new Load.Traffic(10, 1000, 1, 9, 900, 1, 1);
    private static final DirectorStatus STATUS = new DirectorStatus(
            "front1",
            true,
            null,
            true,
            List.of(new DirectorStatus.Service(
                    "anep",
                    "tcp 10.0.0.100:3322",
                    "direct",
                    "wlc",
                    0,
                    false,
                    COUNTERS,
                    List.of(new DirectorStatus.Server("node1", "10.0.0.11:3322", 100, COUNTERS)))),
            List.of(new DirectorStatus.Member(
                    "node1",
                    "10.0.0.11",
                    "http://10.0.0.11:3324",
                    "up",
                    null,
                    true,
                    100,
                    new Load("i", 1, 2, 1, null, 5, 4096, TRAFFIC),
                    0.25,
                    List.of("a finding"),
                    List.of(),
                    null)));

    @Test
    void everyFigureOfTheStatusIsThere() {
        DirectorStatus.Totals totals = new DirectorStatus.Totals(
                2, List.of("node2"), 6, TRAFFIC, Map.of("org.example.Foo", Map.of("packetsIn", 8L)));
        try (MetricsText metrics = new MetricsText(into -> DirectorMetrics.add(into, STATUS, totals))) {
            String service = "{address=\"10.0.0.100:3322\",protocol=\"tcp\",service=\"anep\"} ";
            String server = "{address=\"10.0.0.100:3322\",back_end=\"node1\",protocol=\"tcp\",service=\"anep\"} ";
            String text = new String(metrics.scrape(), StandardCharsets.UTF_8);
            assertThat(text.lines())
                    .contains(
                            "tamanoir_director_ready 1.0",
                            "tamanoir_director_active 1.0",
                            "tamanoir_director_service_connections_total" + service + "7.0",
                            "tamanoir_director_service_active_connections" + service + "3.0",
                            "tamanoir_director_service_packets_in_total" + service + "100.0",
                            "tamanoir_director_service_bytes_in_total" + service + "60000.0",
                            "tamanoir_director_server_connections_total" + server + "7.0",
                            "tamanoir_director_server_inactive_connections" + server + "4.0",
                            "tamanoir_director_server_weight" + server + "100.0",
                            "tamanoir_director_back_end_state{back_end=\"node1\",state=\"up\"} 1.0",
                            "tamanoir_director_back_end_state{back_end=\"node1\",state=\"down\"} 0.0",
                            "tamanoir_director_back_end_findings{back_end=\"node1\"} 1.0",
                            "tamanoir_director_back_end_streams{back_end=\"node1\"} 5.0",
                            "tamanoir_director_back_end_busy{back_end=\"node1\"} 0.25",
                            "tamanoir_cluster_nodes 2.0",
                            "tamanoir_cluster_unreachable_nodes 1.0",
                            "tamanoir_cluster_streams 6.0",
                            "tamanoir_cluster_packets_in_total 10.0",
                            "tamanoir_cluster_bytes_out_total 900.0",
                            "tamanoir_cluster_packets_dropped_total 1.0",
                            "tamanoir_cluster_packets_held 1.0",
                            "tamanoir_cluster_service_counter_total{counter=\"packetsIn\",service=\"org.example.Foo\"} "
                                    + "8.0");
        }
    }
}
