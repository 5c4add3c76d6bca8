package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.node.Announced;
import org.tamanoir.node.cli.Output;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.traffic.TrafficSnapshot;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class NodeReportTest {
    private static final TrafficSnapshot NOTHING = new TrafficSnapshot(0, 0, 0, 0, 0, 0, Map.of(), 0);
    private static final TrafficSnapshot TRAFFIC = new TrafficSnapshot(
            10_000,
            2_000_000,
            2,
            9_990,
            1_998_000,
            1,
            new TreeMap<>(Map.of(DropReason.NO_ROUTE, 7L, DropReason.SHORT, 4L)),
            3);
    private static final NodeReport.Interval INTERVAL = new NodeReport.Interval(NOTHING, TRAFFIC, 2.0, 5);
    private static final List<ServiceDefinition> SERVICES = List.of(new ServiceDefinition(
            "org.tamanoir.node.Announced", Announced::new, ServiceConfig.EMPTY, FailurePolicy.DROP));

    private static final List<LevelStatus> LEVELS = List.of(
            new LevelStatus(Level.JVM, true, "always there", Map.of()),
            new LevelStatus(Level.MODULE, false, "off; use them", Map.of()),
            new LevelStatus(Level.TC, true, "tc on eth0, eth1", Map.of("seen", 1L)),
            new LevelStatus(Level.XDP, false, "off; use them", Map.of()));

    private static final MembershipStatus CLUSTER = new MembershipStatus(
            "node-3",
            false,
            List.of(
                    new MembershipStatus.DirectorLink("http://d1:3325", "d1", "up", "2026-01-01T00:00:00Z", 0, null),
                    new MembershipStatus.DirectorLink(
                            "http://d2:3325", null, "unreachable", "2026-01-01T00:00:00Z", 0, "no answer")),
            List.of(),
            new MembershipStatus.HostState(
                    "print",
                    "eth0",
                    false,
                    List.of("10.9.0.1 is missing"),
                    List.of("ip addr add"),
                    List.of("ip addr del")),
            List.of(),
            new MembershipStatus.Code(List.of(), List.of(), false),
            List.of("10.9.0.1 is missing"));

    private final StringWriter text = new StringWriter();

    private Output output(boolean json) {
        return new Output(new PrintWriter(text), new PrintWriter(text), json, false);
    }

    @Test
    void peopleReadLines() {
        all(new NodeReport(output(false)));
        assertThat(text.toString().lines())
                .containsExactly(
                        "listening on tcp 127.0.0.1:1",
                        "listening on tls 127.0.0.1:3",
                        "listening on udp [::1]:2",
                        "listening on quic 127.0.0.1:5",
                        "gateway 127.0.0.1:6=10.0.0.9:80,octets",
                        "transport: nio",
                        "levels: jvm, tc on eth0, eth1; not module, xdp: off; use them",
                        "services: org.tamanoir.node.Announced",
                        "admin API: http://127.0.0.1:4",
                        "routes: 3",
                        "cluster: node-3 is up at http://d1:3325",
                        "cluster: node-3 is unreachable at http://d2:3325, no answer",
                        "cluster: 10.9.0.1 is missing",
                        "cluster: the host is not set up by the node; as root, run:",
                        "  ip addr add",
                        "in 5,000 packets/s 1.0 MB/s, out 4,995 packets/s 1.0 MB/s, streams 5, "
                                + "dropped 11 (SHORT 4, NO_ROUTE 7)",
                        "stopping: 5 streams have 10s to finish",
                        "stopped: 10,000 in + 2 made = 9,990 out + 11 dropped + 1 held; 2.0 MB in, 2.0 MB out; "
                                + "dropped 11 (SHORT 4, NO_ROUTE 7); streams cut: 1");
    }

    @Test
    void onATerminalRatesAreWrittenOverEachOther() {
        StringWriter terminal = new StringWriter();
        NodeReport report = new NodeReport(new Output(new PrintWriter(text), new PrintWriter(terminal), false, true));
        report.rates(INTERVAL);
        report.rates(INTERVAL);
        report.stopped(NOTHING, 0);
        assertThat(text.toString().lines()).hasSize(1);
        assertThat(terminal.toString()).doesNotContain("\n");
        assertThat(terminal.toString().split("\r")).hasSize(4);
    }

    @Test
    void packetsThatWereLostCountOfShow() {
        new NodeReport(output(false)).stopped(new TrafficSnapshot(3, 0, 0, 1, 0, 0, Map.of(), 0), 0);
        assertThat(text.toString()).contains("3 in + 0 made = 1 out + 0 dropped + 0 held + 2 UNACCOUNTED FOR;");
    }

    @Test
    void programsReadAnObjectPerLine() {
        all(new NodeReport(output(true)));
        JsonMapper mapper = new JsonMapper();
        List<JsonNode> lines = text.toString().lines().map(mapper::readTree).toList();
        assertThat(lines)
                .extracting(line -> line.get("event").asString())
                .containsExactly("started", "cluster", "stats", "stopping", "stopped");
        assertThat(lines.get(0).get("udp").get(0).asString()).isEqualTo("[::1]:2");
        assertThat(lines.get(0).get("gateways").get(0).asString()).isEqualTo("127.0.0.1:6=10.0.0.9:80,octets");
        assertThat(lines.get(0).get("routes").asInt()).isEqualTo(3);
        JsonNode levels = lines.get(0).get("levels");
        assertThat(levels.propertyNames()).containsExactly("jvm", "module", "tc", "xdp");
        assertThat(levels.get("tc").get("there").asBoolean()).isTrue();
        assertThat(levels.get("xdp").get("detail").asString()).isEqualTo("off; use them");
        assertThat(lines.get(1)
                        .get("cluster")
                        .get("directors")
                        .get(1)
                        .get("problem")
                        .asString())
                .isEqualTo("no answer");
        assertThat(lines.get(2).get("packetsInPerSecond").asLong()).isEqualTo(5_000);
        assertThat(lines.get(2).get("drops").get("NO_ROUTE").asLong()).isEqualTo(7);
        assertThat(lines.get(4).get("unaccounted").asLong()).isZero();
        assertThat(lines.get(4).get("bytesOut").asLong()).isEqualTo(1_998_000);
        assertThat(lines.get(4).get("streamsCut").asInt()).isEqualTo(1);
    }

    private static void all(NodeReport report) {
        report.started(
                List.of("127.0.0.1:1"),
                List.of("127.0.0.1:3"),
                List.of("[::1]:2"),
                List.of("127.0.0.1:5"),
                List.of("127.0.0.1:6=10.0.0.9:80,octets"),
                "nio",
                LEVELS,
                SERVICES,
                3,
                Map.of("admin API", "http://127.0.0.1:4"));
        report.cluster(CLUSTER);
        report.rates(INTERVAL);
        report.stopping(5, Duration.ofSeconds(10));
        report.stopped(TRAFFIC, 1);
    }
}
