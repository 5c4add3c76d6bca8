package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveNode.route;
import static org.tamanoir.node.run.LiveSink.send;
import static org.tamanoir.support.Waiting.eventually;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.Main;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;

/** Whole nodes that schedule traffic as their configuration says, and as operators change it. */
@Timeout(120)
class QosNodeTest {
    private static final String MONITOR = "org.tamanoir.services.Monitor";
    private static final String CLASSES = """
            classes:
              - {name: video, class-of-service: 0-3, weight: 70}
              - {name: rest, weight: 30}
            rules:
              - {stream: 7, class: video}
            """;

    @TempDir
    Path folder;

    private LiveSink sink;

    @BeforeEach
    void open() throws Exception {
        sink = new LiveSink();
    }

    @AfterEach
    void close() {
        sink.close();
    }

    private LiveNode node(String qos) throws Exception {
        return node("none", qos);
    }

    /** A node whose service Monitor gives packets this class of service. */
    private LiveNode node(String mark, String qos) throws Exception {
        String services = "services: [{name: Monitor, config: {mark: " + mark + "}}]\n";
        return LiveNode.start(
                folder.resolve("node"), route(sink.address(), true) + services + "qos:\n" + qos.indent(2));
    }

    private static PacketBuilder packets(int classOfService, int stream) throws Exception {
        return new PacketBuilder()
                        .destination(InetAddress.getByName("10.0.0.7"))
                        .service(MONITOR)
                        .classOfService(classOfService, 0)
                        .stream(stream)
                        .hopBudget(16);
    }

    private static JsonNode status(LiveNode node, String point, String trafficClass) {
        for (JsonNode each : node.get("/v1/qos/status").get("points")) {
            for (JsonNode status : each.get("classes")) {
                if (each.get("name").asString().equals(point)
                        && status.get("name").asString().equals(trafficClass)) {
                    return status;
                }
            }
        }
        throw new AssertionError("no " + point + "/" + trafficClass);
    }

    private static void assertServed(LiveNode node, String point, String trafficClass, long packets) {
        JsonNode status = status(node, point, trafficClass);
        assertThat(status.get("servedPackets").asLong())
                .as("%s %s", point, status)
                .isEqualTo(packets);
        assertThat(status.get("servedBytes").asLong())
                .as("%s %s", point, status)
                .isGreaterThan(100 * packets - 1);
        assertThat(status.get("droppedPackets").asLong())
                .as("%s %s", point, status)
                .isZero();
        assertThat(status.get("waitingPackets").asLong())
                .as("%s %s", point, status)
                .isZero();
    }

    @Test
    void packetsCountInTheirClassesAtBothPoints() throws Exception {
        String both = CLASSES + "pre: {processors: 1}\nlinks: [{name: uplink, rate: 1Gbit/s}]\n";
        try (LiveNode node = node(both);
                AnepSender stream = AnepSender.tcp(node.tcp());
                AnepSender datagrams = AnepSender.udp(node.udp())) {
            send(stream, packets(2, 7), 0, 500);
            send(stream, packets(9, 8), 500, 700);
            stream.finish();
            send(datagrams, packets(9, 7), 700, 720); // By its stream, 7.
            send(datagrams, packets(200, 9), 720, 750);
            sink.await(750);

            node.assertConserved(750, Map.of());
            eventually().untilAsserted(() -> {
                for (String point : List.of("pre", "uplink")) {
                    assertServed(node, point, "video", 520);
                    assertServed(node, point, "rest", 230);
                }
            });
            double shares = status(node, "uplink", "video").get("share").asDouble()
                    + status(node, "uplink", "rest").get("share").asDouble();
            assertThat(shares).isBetween(0.999, 1.001);
            assertThat(status(node, "pre", "video").get("processorSeconds").asDouble())
                    .isPositive();
            assertThat(node.text("/metrics"))
                    .contains("tamanoir_qos_packets_served_total{class=\"video\",point=\"uplink\"} 520.0")
                    .contains("tamanoir_qos_packets_served_total{class=\"rest\",point=\"pre\"} 230.0")
                    .contains("tamanoir_qos_point_info{discipline=\"wfq\",point=\"uplink\"} 1.0");
            assertThat(node.ctl(ExitCode.OK, "qos")).containsPattern("uplink +wfq +video +0 +0 +520 +0 ");
        }
    }

    @Test
    void onTheLinkCountsWhatTheServiceHasMarked() throws Exception {
        try (LiveNode node = node("9", CLASSES + "pre: {}\nlinks: [{name: uplink, rate: 1Gbit/s}]\n");
                AnepSender stream = AnepSender.tcp(node.tcp())) {
            send(stream, packets(2, 8), 0, 100);
            stream.finish();
            sink.await(100);
            eventually().untilAsserted(() -> {
                assertServed(node, "pre", "video", 100);
                assertServed(node, "uplink", "rest", 100);
            });
        }
    }

    @Test
    void waitingForALinkShows() throws Exception {
        // 64 KiB of 3,000 packets of 164 bytes may leave at once: the others wait until the link has a rate.
        String slow = CLASSES + "links: [{name: uplink, rate: 1B/s, burst: 64KiB}]\n";
        Path fast = Files.writeString(folder.resolve("fast"), slow.replace("1B/s", "1Gbit/s"));
        try (LiveNode node = node(slow);
                AnepSender stream = AnepSender.tcp(node.tcp())) {
            CompletableFuture<Void> sending = Waiting.async(() -> {
                send(stream, packets(2, 7), 0, 3000);
                stream.finish();
            });
            eventually()
                    .until(() -> status(node, "uplink", "video")
                                    .get("waitingPackets")
                                    .asLong()
                            > 0);
            node.ctl(ExitCode.OK, "qos", "set", fast.toString());
            sending.get(LiveNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            sink.await(3000);
            node.assertConserved(3000, Map.of());
            eventually().untilAsserted(() -> assertServed(node, "uplink", "video", 3000));
            JsonNode waiting = status(node, "uplink", "video").get("waiting");
            assertThat(waiting.get("count").asLong()).isEqualTo(3000);
            assertThat(waiting.get("meanSeconds").asDouble()).isPositive();
            assertThat(waiting.get("p99Seconds").asDouble())
                    .isGreaterThanOrEqualTo(waiting.get("p50Seconds").asDouble());
        }
    }

    /** One TCP stream crosses without a pause while everything about its scheduling changes. */
    @Test
    void everyChangeUnderLoadLosesNothingAndKeepsTheOrder() throws Exception {
        int count = 30_000;
        // Classes so wide that the stream cannot fill the queue which datagrams of its class need.
        String room = ", limit-packets: 100000, limit-bytes: 64MiB}";
        String wide = CLASSES.replace("70}", "70" + room).replace("30}", "30" + room);
        String slow = "links: [{name: uplink, rate: 4MB/s}]\n";
        List<String> changes = List.of(
                wide + "pre: {processors: 1}\n" + slow,
                wide.replace("70", "1").replace("30", "99") + "pre: {processors: 2}\n" + slow,
                wide + "pre: {discipline: pq, processors: 1, quantum: 100us}\n"
                        + slow.replace("}", ", discipline: drr}"),
                wide + slow.replace("4MB", "3MB").replace("}", ", discipline: fifo}"),
                "classes: [{name: all" + room + "]\npre: {}\n"
                        // No pause of this machine looks like a standing queue.
                        + "links: [{name: other, rate: 5MB/s, discipline: fq-codel, options: {interval: 3s}}]",
                wide + "pre: {processors: 1}\nlinks: [{name: uplink, rate: 4MB/s, discipline: wf2q+}, "
                        + "{name: other, rate: 1MB/s}]",
                // Without a link all that is left crosses at once.
                wide + "pre: {discipline: drr, processors: 1}\n",
                "");
        try (LiveNode node = node(changes.get(0));
                AnepSender stream = AnepSender.tcp(node.tcp());
                AnepSender datagrams = AnepSender.udp(node.udp())) {
            CompletableFuture<Void> sending = Waiting.async(() -> {
                try {
                    send(stream, packets(2, 7), 0, count / 2);
                    send(stream, packets(9, 8), count / 2, count);
                    stream.finish();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            int step = count / (changes.size() + 1);
            for (int i = 0; i < changes.size(); i++) {
                sink.await((i + 1) * step);
                Path file = Files.writeString(folder.resolve("qos-" + i), changes.get(i));
                node.ctl(ExitCode.OK, "qos", "set", file.toString());
                send(datagrams, packets(2, 7), count + i * 10, count + i * 10 + 10);
            }
            node.ctl(ExitCode.OK, "qos", "off");
            sending.get(LiveNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            int all = count + 10 * changes.size();
            node.assertConserved(all, Map.of()); // First: where one is missing, this says why.
            sink.await(all);

            assertThat(sink.numbers().stream().filter(number -> number < count))
                    .containsExactlyElementsOf(IntStream.range(0, count).boxed().toList());
            assertThat(sink.numbers()).hasSize(all).doesNotHaveDuplicates();
            assertThat(node.events("qos")).hasSize(changes.size() + 1);
        }
    }

    @Test
    void aConfigurationThatIsWrongIsToldWholeAndNoSocketIsOpened() throws Exception {
        Path config = Files.writeString(
                folder.resolve("node.yaml"),
                "type-id: 0\nqos:\n  classes:\n    - {name: a, weight: 0}\n    - {name: a}\n");
        Path qos = Files.writeString(folder.resolve("qos.yaml"), "pre: {quantum: 1}\n");
        StringWriter out = new StringWriter();
        PrintWriter to = new PrintWriter(out, true);
        assertThat(Main.run(to, to, "node", "--validate", "-c", config.toString(), "--qos", qos.toString()))
                .isEqualTo(ExitCode.USAGE);
        assertThat(out.toString()
                        .lines()
                        .map(line -> line.replaceFirst("^.*/", "").split(": ")[0]))
                .containsExactlyInAnyOrder("node.yaml:1", "node.yaml:4", "node.yaml:5", "qos.yaml:1", "qos.yaml:1");
        Files.writeString(config, "qos: {classes: [{name: a}]}\n");
        Files.writeString(qos, CLASSES + "pre: {}\n");
        assertThat(Main.run(to, to, "node", "--validate", "-c", config.toString(), "--qos", qos.toString()))
                .as("%s", out)
                .isEqualTo(ExitCode.OK);
    }
}
