package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.client.AnepSender;
import org.tamanoir.services.Gunzip;
import org.tamanoir.services.Gzip;
import org.tamanoir.services.Monitor;
import tools.jackson.databind.JsonNode;

/** Where a node schedules traffic that it is left to choose for. */
@Timeout(120)
class QosPointsTest {
    private static final String QOS = "qos: {points: auto, classes: [{name: all}], pre: {discipline: stfq},"
            + " links: [{name: uplink, rate: 1Gbit/s}]}\n";

    @TempDir
    Path folder;

    private static List<String> points(LiveNode node) {
        List<String> points = new ArrayList<>();
        for (JsonNode point : node.get("/v1/qos/status").get("points")) {
            points.add(point.get("name").asString());
        }
        return points;
    }

    private static void send(LiveNode node, String service) throws Exception {
        try (AnepSender sender = AnepSender.tcp(node.tcp())) {
            sender.send(LiveSink.packets(service), ByteBuffer.allocate(100));
            sender.flush();
        }
    }

    @Test
    void linksAreScheduledFromTheFirstServiceOnThatChangesSizes() throws Exception {
        try (LiveSink sink = new LiveSink();
                LiveNode node = LiveNode.start(folder, QOS + LiveNode.route(sink.address(), true))) {
            assertThat(points(node)).containsExactly("pre");
            send(node, Monitor.class.getName());
            sink.await(1);
            assertThat(points(node)).containsExactly("pre");
            send(node, Gzip.class.getName());
            sink.await(2);
            assertThat(points(node)).containsExactly("uplink");
            assertThat(node.get("/v1/qos").get("points").asString()).isEqualTo("auto");
            assertThat(node.get("/v1/qos").get("pre").isNull()).isFalse();
            assertThat(sizes(node, Monitor.class)).isEqualTo("keeps");
            assertThat(sizes(node, Gzip.class)).isEqualTo("shrinks");
            assertThat(sizes(node, Gunzip.class)).isEqualTo("grows");
        }
    }

    private static String sizes(LiveNode node, Class<?> service) {
        for (JsonNode each : node.get("/v1/services").get("services")) {
            if (each.get("name").asString().equals(service.getName())) {
                return each.get("sizeEffect").asString();
            }
        }
        return "none";
    }

    @Test
    void pointsThatAreGivenAllCountUnlessTheChoiceIsLeft() throws Exception {
        try (LiveSink sink = new LiveSink();
                LiveNode node = LiveNode.start(
                        folder, QOS.replace("points: auto", "points: given") + LiveNode.route(sink.address(), true))) {
            send(node, Gzip.class.getName());
            sink.await(1);
            assertThat(points(node)).containsExactly("pre", "uplink");
        }
    }
}
