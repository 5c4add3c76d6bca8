package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.service.Counter;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.traffic.CounterTotal;
import org.tamanoir.traffic.TrafficSnapshot;

@Timeout(120)
class NodeMetricsTest {
    @Test
    void everythingAnOperatorWatchesIsThere() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            TestAdmin.Reply reply = node.get("/metrics");
            assertThat(reply.contentType()).startsWith("text/plain; version=0.0.4");
            assertThat(reply.body())
                    .contains("# TYPE tamanoir_packets_in_total counter", "\ntamanoir_packets_in_total 0.0\n")
                    .contains("tamanoir_packets_dropped_total{reason=\"NO_ROUTE\"} 0.0")
                    .contains("tamanoir_service_failures_total{service=\"" + TestAdmin.MONITOR + "\",version=\"\"} 0.0")
                    .contains("tamanoir_service_state{service=\"" + TestAdmin.MONITOR
                            + "\",state=\"running\",version=\"\"} 1.0")
                    .contains("tamanoir_streams_open 0.0", "tamanoir_waiting_for_code 0.0", "tamanoir_ready 1.0")
                    .contains("tamanoir_level_there{level=\"jvm\"} 1.0", "tamanoir_level_there{level=\"tc\"} 0.0")
                    .contains("tamanoir_service_level{level=\"jvm\",service=\"" + TestAdmin.MONITOR
                            + "\",version=\"\",wanted=\"jvm\"} 1.0")
                    .contains("tamanoir_build_info{", "jvm_memory_used_bytes{", "jvm_threads_live_threads ")
                    .contains("process_uptime_seconds ", "jvm_gc_");
        }
    }

    @Test
    void countersFollowThePackets() throws Exception {
        try (TestAdmin node = TestAdmin.start();
                DatagramSocket socket =
                        new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            byte[] tooShort = {1, 2, 3};
            socket.send(new DatagramPacket(
                    tooShort, tooShort.length, node.environment.udpAddresses().get(0)));
            eventually()
                    .untilAsserted(() -> assertThat(node.get("/metrics").body())
                            .contains("\ntamanoir_packets_in_total 1.0\n", "\ntamanoir_bytes_in_total 3.0\n")
                            .contains("tamanoir_packets_dropped_total{reason=\"SHORT\"} 1.0"));
        }
    }

    private static ServiceStatus status(String version, ServiceStatus.State state, @Nullable TrafficSnapshot traffic) {
        return status(version, state, traffic, Map.of("seen \"it\"", new CounterTotal(Counter.Kind.SUM, 3)));
    }

    private static ServiceStatus status(Map<String, CounterTotal> counters, ServiceStatus.State state) {
        return status("1.0", state, null, counters);
    }

    private static ServiceStatus status(
            String version,
            ServiceStatus.State state,
            @Nullable TrafficSnapshot traffic,
            Map<String, CounterTotal> counters) {
        return new ServiceStatus(
                "org.example.Foo",
                version,
                state,
                true,
                "cache",
                null,
                null,
                Instant.EPOCH,
                1,
                false,
                false,
                SizeEffect.KEEPS,
                traffic,
                counters,
                Map.of("odd", 2L),
                new ServiceHealth(),
                new Placement().status(),
                LevelCounters.ZERO,
                List.of());
    }

    private static String text(ServiceStatus... services) throws Exception {
        Metrics metrics = new Metrics();
        ServiceMetrics.add(metrics, List.of(services));
        MetricSnapshots snapshots = metrics.snapshots();
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
        io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter.create()
                .write(out, snapshots);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aVersionThatIsThereTwiceForAWhileIsOneSeries() throws Exception {
        TrafficSnapshot traffic = new TrafficSnapshot(5, 50, 0, 5, 50, 0, Map.of(), 0);
        String text = text(
                status("1.0", ServiceStatus.State.RUNNING, traffic),
                status("1.0", ServiceStatus.State.UNLOADING, null));
        assertThat(text)
                .containsOnlyOnce("tamanoir_service_packets_in_total{service=\"org.example.Foo\",version=\"1.0\"} 5.0")
                .containsOnlyOnce("tamanoir_service_streams{service=\"org.example.Foo\",version=\"1.0\"} 2.0")
                .contains("counter=\"seen \\\"it\\\"\"");
    }

    @Test
    void eachKindOfCounterHasItsType() throws Exception {
        Map<String, CounterTotal> counters = new TreeMap<>();
        for (Counter.Kind kind : Counter.Kind.values()) {
            counters.put("c", new CounterTotal(kind, 3));
            String text = text(
                    status(counters, ServiceStatus.State.RUNNING), status(counters, ServiceStatus.State.UNLOADING));
            String name =
                    kind == Counter.Kind.SUM ? "counter_total" : kind.name().toLowerCase(Locale.ROOT);
            String type = kind == Counter.Kind.SUM ? "counter" : "gauge";
            boolean addsUp = kind == Counter.Kind.SUM || kind == Counter.Kind.GAUGE;
            assertThat(text)
                    .contains(
                            "# TYPE tamanoir_service_" + name + " " + type + "\n",
                            "# HELP tamanoir_service_" + name + " The ")
                    .containsOnlyOnce(
                            "tamanoir_service_" + name + "{counter=\"c\",service=\"org.example.Foo\",version=\"1.0\"} "
                                    + (addsUp ? "6.0" : "3.0"));
        }
    }

    @Test
    void aServiceThatIsGoneIsGoneFromTheMetrics() throws Exception {
        assertThat(text(status("1.0", ServiceStatus.State.RUNNING, null))).contains("version=\"1.0\"");
        assertThat(text()).isEmpty();
    }
}
