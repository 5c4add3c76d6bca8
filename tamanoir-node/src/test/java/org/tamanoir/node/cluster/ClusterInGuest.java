package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.cluster.ClusterBed.eventually;
import static org.tamanoir.node.cluster.ClusterBed.virtual;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * One director and three nodes, all processes: streams of a client to a virtual address, through a back-end, to the sink.
 * In this order, since what kills comes last.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(300)
class ClusterInGuest {
    private static final int PACKETS = 5;

    private ClusterBed bed;
    private DirectorMachine director;

    @BeforeAll
    @Timeout(600)
    void open() {
        bed = ClusterBed.get();
        director = bed.director;
        director.config("interface: eth0\n" + ClusterBed.SERVICES);
        director.start();
        director.awaitStarted(); // nodes take code sources from a director that is there when they start
        bed.startNodes();
        bed.awaitNodes();
        director.awaitUp(3);
    }

    @AfterEach
    void end() {
        bed.endStreams();
    }

    @AfterAll
    void close() {
        director.killAll();
    }

    @Order(0)
    @Test
    void aSecondDirectorMayNotClaimTheSameAddresses() {
        DirectorMachine second = bed.second;
        second.config("interface: eth0\n" + ClusterBed.SERVICES);
        Machine.Ended ended = second.command();
        assertThat(ended.code()).isNotZero();
        assertThat(ended.out().lines()).as(ended.out()).hasSize(1);
        assertThat(ended.out()).contains("10.88.0.101");
        assertThat(second.table()).isEmpty();
        assertThat(second.machine.run("ip -4 addr show dev eth0")).doesNotContain("10.88.0.10");
    }

    @Order(0)
    @Test
    void anotherOnesVirtualServiceIsLeftAlone() {
        DirectorMachine second = bed.second;
        second.machine.run("ipvsadm -A -t 10.88.0.103:3322 -s lc");
        String before = second.table();
        second.config("interface: eth0\n" + ClusterBed.SERVICES);
        Machine.Ended ended = second.command();
        assertThat(ended.code()).isNotZero();
        assertThat(ended.out().lines()).as(ended.out()).hasSize(1);
        assertThat(ended.out()).contains("10.88.0.103:3322");
        assertThat(second.table()).isEqualTo(before);
        assertThat(second.machine.run("ip -4 addr show dev eth0")).doesNotContain("10.88.0.10");
        second.machine.run("ipvsadm -C");
    }

    @Order(5)
    @Test
    void theClustersViewIsTheSumOfWhatItsNodesCounted() {
        bed.awaitAll(bed.streams(3, "udp", virtual("direct"), PACKETS));
        bed.awaitAll(bed.streams(3, "tcp", virtual("direct"), PACKETS));
        long all = bed.sent();
        eventually().untilAsserted(() -> {
            assertThat(total("packetsIn")).isEqualTo(all);
            assertThat(total("packetsOut")).isEqualTo(all);
        });
    }

    private long total(String counter) {
        return director.ask("/v1/cluster").get("traffic").get(counter).asLong();
    }

    @Order(9)
    @Test
    void removeTakesAwayAllThatTheDirectorMade() {
        director.stop();
        assertThat(director.table()).contains("10.88.0.101:3322"); // the kernel goes on without it
        Machine.Ended ended = director.command("remove");
        assertThat(ended.code()).as(ended.out()).isZero();
        assertThat(director.table()).isEmpty();
        assertThat(director.machine.run("ip -4 addr show dev eth0")).doesNotContain("10.88.0.10");
    }

    @Order(1)
    @ParameterizedTest
    @CsvSource({"direct,tcp", "direct,udp", "nat,tcp", "nat,udp", "tunnel,tcp", "tunnel,udp"})
    void twelveStreamsAreDividedEvenlyAndNoPacketIsLost(String forwarding, String transport) {
        List<Stream> streams = bed.streams(12, transport, virtual(forwarding), PACKETS);
        bed.awaitAll(streams);
        streams.forEach(stream -> stream.send(PACKETS)); // UDP packets of a stream stay where the first went
        bed.awaitAll(streams);
        assertThat(bed.division(streams)).containsExactly(4, 4, 4);
    }

    @Order(2)
    @ParameterizedTest
    @CsvSource({"direct,10.88.0.101", "nat,10.88.0.1N", "tunnel,10.88.0.103"})
    void aNodeSeesTheAddressThatTheModeLeavesInThePackets(String forwarding, String seen) {
        bed.awaitAll(bed.streams(3, "tcp", virtual(forwarding), 1));
        for (int i = 0; i < 3; i++) {
            String expected = seen.replace("N", Integer.toString(i + 1)) + ":" + ClusterBed.PORT;
            List<String> local = new ArrayList<>();
            for (JsonNode stream : bed.ask(i, "/v1/streams").get("streams")) {
                if (stream.get("peer").asString().startsWith("10.88.1.2:")) {
                    local.add(stream.get("local").asString().replace("/", ""));
                }
            }
            assertThat(local).as("of back-end %d", i + 1).contains(expected);
        }
    }

    @Order(3)
    @ParameterizedTest
    @CsvSource({"tcp", "udp"})
    void streamsAreDividedByWeight(String transport) {
        List<Stream> streams = bed.streams(12, transport, virtual("weighted"), PACKETS);
        bed.awaitAll(streams);
        assertThat(bed.division(streams)).containsExactly(6, 4, 2);
    }

    @Order(4)
    @Test
    void newStreamsGoWhereOldOnesHaveEnded() {
        List<Stream> first = bed.streams(6, "tcp", virtual("least"), PACKETS);
        bed.awaitAll(first);
        assertThat(bed.division(first)).containsExactly(3, 2, 1);
        List<Stream> ended = bed.through(first, 0);
        ended.forEach(Stream::finish);
        eventually().until(() -> director.active(virtual("least"), bed.addresses.get(0)) == 0);
        List<Stream> next = bed.streams(3, "tcp", virtual("least"), PACKETS);
        bed.awaitAll(next);
        assertThat(bed.division(next)).containsExactly(3, 0, 0);
    }

    @Order(5)
    @Test
    void aServiceThatIsDeployedOnceRunsOnAllBackEnds() {
        director.post("/v1/services/" + ExampleService.NAME + "/deploy", "{}");
        eventually().untilAsserted(() -> {
            for (JsonNode backEnd : director.status().get("backEnds")) {
                assertThat(backEnd.get("services").toString()).as("%s", backEnd).contains(ExampleService.NAME + ":1.0");
            }
        });
        for (int i = 0; i < 3; i++) {
            assertThat(bed.ask(i, "/v1/services/" + ExampleService.NAME + "/1.0")
                            .get("state")
                            .asString())
                    .isEqualTo("running");
        }
        List<Stream> streams = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            streams.add(bed.stream("tcp", virtual("direct"), ExampleService.NAME));
            streams.get(i).send(PACKETS);
        }
        bed.awaitAll(streams);
        assertThat(bed.division(streams)).containsExactly(1, 1, 1);
        eventually()
                .until(() -> director.ask("/v1/cluster")
                                .get("services")
                                .path(ExampleService.NAME)
                                .path("packetsIn")
                                .asLong(0)
                        == 3 * PACKETS);
    }

    @Order(6)
    @Test
    void aDrainUnderTrafficLosesNothing() {
        List<Stream> streams = bed.streams(6, "tcp", virtual("direct"), PACKETS);
        List<Stream> flows = bed.streams(3, "udp", virtual("direct"), PACKETS);
        bed.awaitAll(streams);
        bed.awaitAll(flows);
        director.post("/v1/back-ends/b2/drain", "{\"deadlineSeconds\": 600}");
        director.awaitWeights(bed.addresses.get(1), true);
        streams.forEach(stream -> stream.send(PACKETS));
        flows.forEach(flow -> flow.send(PACKETS));
        List<Stream> during = bed.streams(6, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(streams);
        bed.awaitAll(flows);
        bed.awaitAll(during);
        assertThat(bed.division(streams)).containsExactly(2, 2, 2);
        assertThat(bed.division(flows)).containsExactly(1, 1, 1);
        assertThat(bed.division(during)).containsExactly(3, 0, 3);
        assertThat(director.states()).containsEntry("b2", "draining");
        bed.through(streams, 1).forEach(stream -> {
            stream.send(PACKETS);
            stream.finish();
        });
        director.awaitState("b2", "drained");
        bed.awaitAll(streams);
        director.awaitWeights(bed.addresses.get(1), false);
        director.post("/v1/back-ends/b2/join", "{}");
        director.awaitUp(3);
    }

    @Order(7)
    @Test
    void aDirectorThatIsKilledAndStartedAgainTouchesNoConnection() {
        List<Stream> streams = bed.streams(3, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(streams);
        director.process().kill();
        String table = director.table();
        long[] before = director.counted(virtual("direct"));
        streams.forEach(stream -> stream.send(PACKETS));
        bed.awaitAll(streams);
        List<Stream> without = bed.streams(3, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(without);
        director.start();
        director.awaitUp(3);
        assertThat(director.table()).isEqualTo(table);
        streams.forEach(stream -> stream.send(PACKETS));
        bed.awaitAll(streams);
        assertThat(bed.division(streams)).containsExactly(1, 1, 1);
        assertThat(bed.division(without)).containsExactly(1, 1, 1);
        long[] after = director.counted(virtual("direct"));
        assertThat(after[0]).as("connections").isEqualTo(before[0] + 3);
        assertThat(after[1]).as("packets").isGreaterThan(before[1]);
    }

    @Order(8)
    @Test
    void aBackEndThatIsKilledTakesItsOwnStreamsAlone() {
        List<Stream> streams = bed.streams(6, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(streams);
        List<Stream> dead = bed.through(streams, 2);
        List<Stream> others = new ArrayList<>(streams);
        others.removeAll(dead);
        assertThat(others).hasSize(4);
        bed.nodes.get(2).kill();
        others.forEach(stream -> stream.send(PACKETS));
        director.awaitState("b3", "down");
        director.awaitWeights(bed.addresses.get(2), false);
        others.forEach(stream -> stream.send(PACKETS));
        List<Stream> next = bed.streams(4, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(others);
        bed.awaitAll(next);
        assertThat(bed.division(others)).containsExactly(2, 2, 0);
        assertThat(bed.division(next)).containsExactly(2, 2, 0);
        bed.startNodes();
        director.awaitUp(3);
        List<Stream> again = bed.streams(6, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(again);
        assertThat(bed.division(again)).containsExactly(2, 2, 2);
    }
}
