package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.LengthPrefixed;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** What is known of gateways: where they listen, where they lead, who is there, and what has crossed them. */
class GatewayStatusTest extends TcpNodeTesting {
    private static final int PATIENCE_MS = 40_000;
    private static final InetSocketAddress FREE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final byte[] MESSAGE = {0, 0, 0, 2, 'h', 'i'};

    private static GatewayStatus status(TestNode node) {
        List<GatewayStatus> all = node.environment.gatewayStatus();
        assertThat(all).hasSize(1);
        return all.get(0);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void connectionsAreCountedWhileTheyAreOpenAndBehindTheirEnd(TransportKind kind) throws Exception {
        settings.transport = kind;
        try (ServerSocket far = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            far.setSoTimeout(PATIENCE_MS);
            InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
            settings.gateways = List.of(
                    new Gateway(FREE, to, new LengthPrefixed(), ServiceKey.of("mark"), 3, Anep.DEFAULT_TYPE_ID));
            TestNode node = node(TestServices.MARK);
            InetSocketAddress gateway = node.environment.gatewayAddresses().get(0);
            GatewayStatus idle = status(node);
            assertThat(idle.transport()).isEqualTo(Transport.TCP);
            assertThat(idle.address()).isEqualTo(gateway);
            assertThat(idle.to()).isEqualTo(to);
            assertThat(idle.format()).isEqualTo("length-prefixed");
            assertThat(idle.serviceKey()).isEqualTo(ServiceKey.of("mark"));
            assertThat(idle.classOfService()).isEqualTo(3);
            assertThat(idle.open() + idle.begun() + idle.traffic().packetsIn()).isZero();
            for (int connections = 1; connections <= 2; connections++) {
                int begun = connections;
                try (Socket client = new Socket(gateway.getAddress(), gateway.getPort())) {
                    client.setSoTimeout(PATIENCE_MS);
                    client.getOutputStream().write(MESSAGE);
                    try (Socket server = far.accept()) {
                        server.setSoTimeout(PATIENCE_MS);
                        assertThat(server.getInputStream().readNBytes(6)).isEqualTo(MESSAGE);
                        server.getOutputStream().write(MESSAGE);
                        assertThat(client.getInputStream().readNBytes(6)).isEqualTo(MESSAGE);
                        assertThat(node.environment.instances())
                                .extracting(instance -> instance.stream().local())
                                .as("the node's own end")
                                .containsExactly(gateway);
                        eventually().untilAsserted(() -> assertCounts(node, 1, begun, 2L * begun));
                    }
                }
                eventually().untilAsserted(() -> assertCounts(node, 0, begun, 2L * begun));
            }
        }
    }

    private static void assertCounts(TestNode node, long open, long begun, long packets) {
        GatewayStatus now = status(node);
        assertThat(now.open()).isEqualTo(open);
        assertThat(now.begun()).isEqualTo(begun);
        assertThat(now.traffic().packetsIn()).isEqualTo(packets);
        assertThat(now.traffic().packetsOut()).isEqualTo(packets);
        assertThat(now.traffic().bytesIn()).as("octets on the wire").isEqualTo(packets * MESSAGE.length);
        assertThat(now.traffic().bytesOut()).isEqualTo(packets * MESSAGE.length);
        assertThat(now.traffic().dropped()).isZero();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void sendersWhomAServiceAnswersAreCountedWithTheirAnswers(TransportKind kind) throws Exception {
        settings.transport = kind;
        try (DatagramSocket far = open();
                DatagramSocket first = open();
                DatagramSocket second = open()) {
            InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
            settings.udpGateways =
                    List.of(new UdpGateway(FREE, to, ServiceKey.of("answer"), 0, 0, Anep.DEFAULT_TYPE_ID));
            TestNode node = node(TestServices.define("answer", () -> new Service() {
                @Override
                public Verdict process(Packet packet) {
                    return Verdict.REPLY;
                }
            }));
            InetSocketAddress gateway = node.environment.gatewayAddresses().get(0);
            for (DatagramSocket sender : List.of(first, second, first)) {
                sender.send(new DatagramPacket(new byte[100], 100, gateway));
                DatagramPacket answer = new DatagramPacket(new byte[200], 200);
                sender.receive(answer);
                assertThat(answer.getLength()).isEqualTo(100);
            }
            eventually().untilAsserted(() -> {
                GatewayStatus now = status(node);
                assertThat(now.open()).isEqualTo(2);
                assertThat(now.begun()).isEqualTo(2);
                assertThat(now.traffic().packetsOut()).isEqualTo(3);
                assertThat(now.traffic().bytesOut()).isEqualTo(300);
                assertThat(now.traffic().packetsIn()).isEqualTo(3);
                assertThat(now.traffic().bytesIn()).isEqualTo(300);
            });
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void datagramsAreCountedBothWays(TransportKind kind) throws Exception {
        settings.transport = kind;
        try (DatagramSocket far = open();
                DatagramSocket first = open();
                DatagramSocket second = open()) {
            InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
            settings.udpGateways = List.of(new UdpGateway(FREE, to, ServiceKey.of("mark"), 0, 0, Anep.DEFAULT_TYPE_ID));
            TestNode node = node(TestServices.MARK);
            InetSocketAddress gateway = node.environment.gatewayAddresses().get(0);
            for (DatagramSocket sender : List.of(first, second, first)) {
                sender.send(new DatagramPacket(new byte[100], 100, gateway));
                DatagramPacket arrived = new DatagramPacket(new byte[200], 200);
                far.receive(arrived);
                assertThat(arrived.getLength()).isEqualTo(100);
                far.send(new DatagramPacket(new byte[10], 10, arrived.getSocketAddress()));
                sender.receive(new DatagramPacket(new byte[200], 200));
            }
            eventually().untilAsserted(() -> {
                GatewayStatus now = status(node);
                assertThat(now.transport()).isEqualTo(Transport.UDP);
                assertThat(now.address()).isEqualTo(gateway);
                assertThat(now.to()).isEqualTo(to);
                assertThat(now.format()).isEqualTo("datagrams");
                assertThat(now.open()).isEqualTo(2);
                assertThat(now.begun()).isEqualTo(2);
                assertThat(now.traffic().packetsIn()).isEqualTo(6);
                assertThat(now.traffic().packetsOut()).isEqualTo(6);
                assertThat(now.traffic().bytesIn()).isEqualTo(330);
                assertThat(now.traffic().bytesOut()).isEqualTo(330);
            });
        }
    }

    private static DatagramSocket open() throws IOException {
        DatagramSocket socket = new DatagramSocket(FREE);
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }
}
