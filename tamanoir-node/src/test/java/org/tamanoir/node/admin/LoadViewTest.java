package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.cluster.Load;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.routing.RoutingTable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
class LoadViewTest {
    private static final ExecutionEnvironment STILL =
            new ExecutionEnvironment(EeConfig.defaults(), new RoutingTable(), new ServiceCatalog());

    @TempDir
    Path folder;

    @Test
    void theAnswerCountsWhatCrossedTheNodeAndReadsAsTheDirectorsRecord() throws Exception {
        try (TestAdmin node = TestAdmin.start();
                DatagramSocket socket = new DatagramSocket();
                Socket stream = new Socket(
                        node.environment.tcpAddresses().get(0).getAddress(),
                        node.environment.tcpAddresses().get(0).getPort())) {
            socket.send(new DatagramPacket(
                    new byte[] {1, 2, 3}, 3, node.environment.udpAddresses().get(0)));
            eventually().untilAsserted(() -> {
                JsonNode answer = node.get("/v1/load").json();
                Load load = new JsonMapper().treeToValue(answer, Load.class);
                assertThat(load.streams()).isOne();
                assertThat(load.maxStreams()).isEqualTo(4096);
                assertThat(load.traffic().packetsIn()).isOne();
                assertThat(load.traffic().dropped()).isOne();
                assertThat(load.processorSeconds()).isPositive();
                assertThat(load.uptimeSeconds()).isPositive();
                assertThat(load.processors()).isPositive();
                assertThat(load.instance()).matches("[0-9a-f]{16}");
            });
            assertThat(stream.isConnected()).isTrue();
        }
    }

    @Test
    void everyStartIsAnotherInstance() {
        assertThat(new LoadView(STILL).now().instance())
                .isNotEqualTo(new LoadView(STILL).now().instance());
    }

    @Test
    void theHostIsBusyWithAllButIdlingWaitingAndGuestsCountedTwice() throws Exception {
        Path file = Files.writeString(folder.resolve("stat"), """
                cpu  1000 200 300 90000 5000 10 20 70 400 50
                cpu0 500 100 150 45000 2500 5 10 35 200 25
                cpu1 500 100 150 45000 2500 5 10 35 200 25
                intr 12345 0 0
                """);
        assertThat(new LoadView(STILL, file).hostBusySeconds(2)).isEqualTo(16.0);
    }

    @Test
    void aHostWithOtherProcessorsThanTheNodesIsNotCompared() throws Exception {
        Path file = Files.writeString(folder.resolve("stat"), "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
        assertThat(new LoadView(STILL, file).hostBusySeconds(2)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "cpu 1 2\ncpu0 1 2\n", "cpu a b c d e f g h i\ncpu0\n", "intr 1 2 3 4 5 6 7 8 9\ncpu0\n"})
    void whatIsNoStatisticsIsNotKnown(String text) throws Exception {
        Path file = Files.writeString(folder.resolve("stat"), text);
        assertThat(new LoadView(STILL, file).hostBusySeconds(1)).isNull();
    }

    @Test
    void withoutStatisticsOfTheHostNothingIsKnown() {
        assertThat(new LoadView(STILL, folder.resolve("none")).hostBusySeconds(1))
                .isNull();
    }
}
