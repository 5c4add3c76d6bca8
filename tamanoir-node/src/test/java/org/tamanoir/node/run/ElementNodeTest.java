package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.support.Ports;
import tools.jackson.databind.JsonNode;

/** Whole nodes that are units of a distributed element, with a ring over UDP. */
class ElementNodeTest {
    private static final int UNITS = 3;
    /** Packets under way: fewer than any queue takes. */
    private static final int WINDOW = 30;

    @TempDir
    Path folder;

    private final List<LiveNode> nodes = new ArrayList<>();
    private int[] controlPorts;
    private LiveSink sink;
    private DatagramSocket source;

    @BeforeEach
    void open() throws Exception {
        Files.writeString(folder.resolve("ring.key"), "00112233445566778899aabbccddeeff\n");
        sink = new LiveSink();
        source = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        controlPorts = Ports.free(UNITS);
    }

    @AfterEach
    void close() {
        nodes.forEach(LiveNode::close);
        source.close();
        sink.close();
    }

    @Test
    void sendsAStreamByTheTokenAndShowsItsRing() throws Exception {
        for (int unit = 0; unit < UNITS; unit++) {
            start(unit);
        }
        for (LiveNode node : nodes) {
            eventually()
                    .untilAsserted(() -> assertThat(numbers(node.get("/v1/element"), "members"))
                            .containsExactly(0, 1, 2));
        }

        int packets = 600;
        for (int i = 0; i < packets; i++) {
            send(i % UNITS, 1 + i / UNITS, i);
            sink.await(i + 1 - WINDOW);
        }
        sink.await(packets);

        assertThat(Set.copyOf(sink.numbers()))
                .isEqualTo(new TreeSet<>(IntStream.range(0, packets).boxed().toList()));
        for (int unit = 0; unit < UNITS; unit++) {
            LiveNode node = nodes.get(unit);
            String name = "unit " + unit + " of ring 1\n";
            eventually()
                    .untilAsserted(() -> assertThat(node.ctl(ExitCode.OK, "element"))
                            .contains(name, "units 0, 1, 2", "packets: waiting 0, sent 200, LATE 0"));
            JsonNode element = node.get("/v1/element");
            assertThat(element.get("unit").asInt()).isEqualTo(unit);
            assertThat(element.get("turns").asLong()).isPositive();
            assertThat(node.text("/metrics"))
                    .contains("tamanoir_element_packets_sent_total{ring=\"1\",unit=\"" + unit + "\"} 200.0");
            assertThat(node.events("element")).anyMatch(text -> text.endsWith("units [0, 1, 2]"));
            node.assertConserved(packets / UNITS, Map.of());
        }
    }

    @Test
    void isInARingWithThoseOfItsGroup() throws Exception {
        for (int unit = 0; unit < UNITS; unit++) {
            start(unit, "group");
        }
        for (LiveNode node : nodes) {
            eventually()
                    .untilAsserted(() -> assertThat(numbers(node.get("/v1/element"), "members"))
                            .containsExactly(0, 1, 2));
        }
    }

    @Test
    void sendsWithoutOrderAndSaysSoWhereItHasNoMajority() throws Exception {
        LiveNode node = start(1);
        eventually()
                .untilAsserted(() -> assertThat(node.events("element"))
                        .contains("ring 1: no view can be had: packets leave as they come"));

        send(0, 9, 9);
        sink.await(1);

        assertThat(node.ctl(ExitCode.OK, "element")).contains("unit 1 of ring 1, alone: packets leave as they come");
    }

    @Test
    void letsAllGoWhenTheOthersAreGone() throws Exception {
        start(0);
        start(1);
        for (LiveNode node : nodes) {
            eventually()
                    .untilAsserted(() -> assertThat(numbers(node.get("/v1/element"), "members"))
                            .containsExactly(0, 1));
        }
        send(1, 1, 1);
        sink.await(1);
        nodes.get(0).close(); // The ring needs two of three: unit 1 is soon alone, and lets everything go.

        eventually().until(() -> nodes.get(1).get("/v1/element").get("alone").asBoolean());
        send(1, 2, 2);
        sink.await(2);
        nodes.get(1).assertConserved(2, Map.of());
    }

    @Test
    void isNoUnitWithoutItsSection() throws Exception {
        nodes.add(LiveNode.start(folder.resolve("plain"), LiveNode.route(sink.address(), true)));

        assertThat(nodes.get(0).ctl(ExitCode.FAILED, "element"))
                .contains("this node is no unit of a distributed element");
    }

    private static List<Integer> numbers(JsonNode node, String name) {
        List<Integer> numbers = new ArrayList<>();
        node.get(name).forEach(each -> numbers.add(each.asInt()));
        return numbers;
    }

    private LiveNode start(int unit) throws IOException {
        return start(unit, "listed");
    }

    private LiveNode start(int unit, String membership) throws IOException {
        List<String> units = Arrays.stream(controlPorts)
                .mapToObj(port -> "\"127.0.0.1:" + port + "\"")
                .toList();
        LiveNode node = LiveNode.start(
                folder.resolve("node" + unit),
                LiveNode.route(sink.address(), true)
                        + """
                qos:
                  classes: [{name: all, limit-packets: 500}]
                  default-class: all
                  links: [{name: out, next-hops: [127.0.0.0/8], rate: 10Gbit/s, burst: 1MiB, discipline: fct}]
                element: {unit: %d, units: %s, key-file: %s, membership: %s}
                """.formatted(unit, units, folder.resolve("ring.key"), membership));
        nodes.add(node);
        return node;
    }

    /** Sends a packet to the node that was started as this one. */
    private void send(int node, long round, int number) throws IOException {
        byte[] option = ByteBuffer.allocate(12).putLong(round).array();
        Packet packet = new PacketBuilder()
                .destination(InetAddress.getByName("10.0.0.7"))
                .option(Option.ROUND.wireType(), option)
                .build(ByteBuffer.allocate(100).putInt(0, number));
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        source.send(new DatagramPacket(bytes, bytes.length, nodes.get(node).udp()));
    }
}
