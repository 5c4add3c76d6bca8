package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.TransitNode.PORT;
import static org.tamanoir.kernel.TransitNode.at;
import static org.tamanoir.kernel.TransitNode.number;
import static org.tamanoir.kernel.TransitNode.packet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Datagrams to another host come up to a node on their way, and go on. */
@Tag("namespace")
class TransitUdpTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";
    private static final String BOTH = "10.71.1.2, 10.71.2.2, 10.71.1.1";
    private static final String IPV6 = "fd71:1::2, fd71:2::2, fd71:1::1";

    private static TestNet net;

    @BeforeAll
    static void link() {
        TransitNode.require();
        net = new TestNet("transit");
        TransitNode.sendUp(net);
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
        }
    }

    private static List<byte[]> packets(String service, int count, int bytes) {
        return IntStream.range(0, count)
                .mapToObj(i -> packet(service, i, bytes))
                .toList();
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void whatAServiceForwardsGoesOnWithItsOwnEndsAndOneHopLess(String client, String server, String router)
            throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), client, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start();
                Tap.View<Tap.Captured> arrivals = node.environment.tap().arrivals(300)) {
            List<byte[]> sent = packets(NAME, 300, 200);
            sender.send(receiver.address(), sent);
            List<TransitEnd.Datagram> received = receiver.receive(300);
            assertThat(received).extracting(TransitEnd.Datagram::bytes).containsExactlyElementsOf(sent);
            assertThat(received).extracting(TransitEnd.Datagram::from).containsOnly(at(client, 7001));
            assertThat(received).extracting(TransitEnd.Datagram::hopsLeft).containsOnly(63);
            TrafficSnapshot traffic = node.balanced(300);
            assertThat(traffic.packetsOut()).isEqualTo(300);
            assertThat(traffic.drops()).isEmpty();
            node.assertSettled(1, 300);
            Tap.Captured seen = Objects.requireNonNull(arrivals.take(Waiting.PATIENCE));
            assertThat(seen.peer()).isEqualTo(at(client, 7001));
            assertThat(seen.local()).isEqualTo(receiver.address());
        }
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void anAnswerComesFromWhereThePacketWasToGo(String client, String server, String router) throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), client, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.REPLY).start()) {
            sender.send(receiver.address(), packets(NAME, 50, 300));
            List<TransitEnd.Datagram> answers = sender.receive(50);
            assertThat(answers).extracting(each -> number(each.bytes())).containsExactlyElementsOf(numbers(50));
            assertThat(answers).extracting(TransitEnd.Datagram::from).containsOnly(at(server, PORT));
            assertThat(node.balanced(50).drops()).isEmpty();
            node.assertSettled(1, 50);
            assertThat(receiver.waiting()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void theLastHopEndsAPacketAndTheTrafficClassStays(String client, String server, String router) throws Exception {
        Namespaces namespaces = net.namespaces();
        namespaces.run(
                net.client(),
                "nft add table inet ends; nft add chain inet ends out \"{ type route hook output priority 0 ; }\"; "
                        + "nft add rule inet ends out udp sport 7002 ip dscp set 46; "
                        + "nft add rule inet ends out udp sport 7002 ip6 dscp set 46; "
                        + "nft add rule inet ends out udp sport 7003 ip ttl set 1; "
                        + "nft add rule inet ends out udp sport 7003 ip6 hoplimit set 1; "
                        + "nft add rule inet ends out udp sport 7004 ip ttl set 2; "
                        + "nft add rule inet ends out udp sport 7004 ip6 hoplimit set 2");
        try (TransitEnd classed = TransitEnd.open(net, net.client(), client, 7002);
                TransitEnd last = TransitEnd.open(net, net.client(), client, 7003);
                TransitEnd lastButOne = TransitEnd.open(net, net.client(), client, 7004);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start()) {
            classed.send(receiver.address(), packets(NAME, 3, 200));
            last.send(receiver.address(), packets(NAME, 3, 200));
            lastButOne.send(receiver.address(), packets(NAME, 3, 200));
            List<TransitEnd.Datagram> received = receiver.receive(6);
            assertThat(received.subList(0, 3))
                    .extracting(TransitEnd.Datagram::trafficClass)
                    .containsOnly(46 << 2);
            assertThat(received.subList(3, 6))
                    .extracting(TransitEnd.Datagram::hopsLeft)
                    .containsOnly(1);
            assertThat(node.balanced(9).drops()).isEqualTo(Map.of(DropReason.HOP_BUDGET, 3L));
            node.assertSettled(3, 3);
            node.assertSettled(4, 3);
        } finally {
            namespaces.run(net.client(), "nft delete table inet ends");
        }
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void datagramsThatTheKernelJoinedComeUpAndGoOnOneByOne(String client, String server, String router)
            throws Exception {
        Namespaces namespaces = net.namespaces();
        String devices =
                "ethtool -K " + TestNet.CLIENT_DEVICE + " tx %1$s gso %1$s tx-udp-segmentation %1$s >/dev/null";
        namespaces.run(net.client(), devices.formatted("on"));
        try (TransitEnd sender = TransitEnd.open(net, net.client(), client, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start()) {
            List<byte[]> sent = new ArrayList<>(packets(NAME, 400, 300));
            sent.add(packet(NAME, 400, 299));
            sender.send(receiver.address(), sent);
            List<TransitEnd.Datagram> received = receiver.receive(401);
            assertThat(received).extracting(TransitEnd.Datagram::bytes).containsExactlyElementsOf(sent);
            assertThat(node.balanced(401).drops()).isEmpty();
            node.assertSettled(1, 401);
        } finally {
            namespaces.run(net.client(), devices.formatted("off"));
        }
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void whatIsTooLongForTheWayOnEnds(String client, String server, String router) throws Exception {
        Namespaces namespaces = net.namespaces();
        String device = "ip link set " + TestNet.ROUTER_SERVER_DEVICE + " mtu ";
        namespaces.run(net.router(), device + 1300);
        try (TransitEnd sender = TransitEnd.open(net, net.client(), client, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start()) {
            List<byte[]> mixed = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                mixed.add(packet(NAME, i, i % 2 == 0 ? 1400 : 1200));
            }
            sender.send(receiver.address(), mixed);
            assertThat(receiver.receive(10))
                    .extracting(each -> number(each.bytes()))
                    .containsExactly(1, 3, 5, 7, 9, 11, 13, 15, 17, 19);
            assertThat(node.balanced(20).drops()).isEqualTo(Map.of(DropReason.PACKET_TOO_LONG, 10L));
            node.assertSettled(1, 20);
        } finally {
            namespaces.run(net.router(), device + 1500);
        }
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void whatIsAddressedToTheNodeGoesByRoute(String client, String server, String router) throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), client, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, 4000);
                TransitNode node = new TransitNode(net)
                        .route("203.0.113.0/24", receiver.address())
                        .service(NAME, p -> Verdict.FORWARD)
                        .start()) {
            sender.send(at(router, PORT), packets(NAME, 20, 300));
            List<TransitEnd.Datagram> received = receiver.receive(20);
            assertThat(received).extracting(each -> number(each.bytes())).containsExactlyElementsOf(numbers(20));
            assertThat(received).extracting(each -> each.from().getPort()).containsOnly(PORT);
            assertThat(node.balanced(20).drops()).isEmpty();
            node.assertSettled(1, 20);
        }
    }

    @Test
    void whatAServiceSendsElsewhereGoesByRoute() throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, 4000);
                TransitNode node = new TransitNode(net)
                        .route("203.0.113.0/24", receiver.address())
                        .elsewhere(NAME, at("203.0.113.9", 9))
                        .start()) {
            sender.send(at(TestNet.SERVER4, PORT), packets(NAME, 20, 300));
            assertThat(receiver.receive(20))
                    .extracting(each -> each.from().getPort())
                    .containsOnly(PORT);
            assertThat(node.balanced(20).drops()).isEmpty();
            node.assertSettled(1, 20);
        }
    }

    @Test
    void whatNamesNoServiceOrIsOfAnotherTypeGoesOnAsItCame() throws Exception {
        byte[] plain = packet("", 1, 200);
        byte[] foreign = {1, 0, 0x12, 0x34, 0, 2, 0, 11, 1, 2, 3}; // Type ID 0x1234, no options, 3 bytes of payload
        try (TransitEnd sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start()) {
            sender.send(receiver.address(), List.of(plain, foreign, plain));
            assertThat(receiver.receive(3))
                    .extracting(TransitEnd.Datagram::bytes)
                    .containsExactly(plain, foreign, plain);
            assertThat(node.balanced(3).drops()).isEmpty();
            node.assertSettled(1, 3);
        }
    }

    @Test
    void aFlowKeepsItsOrderAndNothingIsLostUnderLoad() throws Exception {
        int rounds = 200;
        try (TransitEnd sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start()) {
            int next = 0;
            for (int round = 0; round < rounds; round++) {
                List<byte[]> batch = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    batch.add(packet(NAME, next + i, 150 + round));
                }
                sender.send(receiver.address(), batch);
                for (TransitEnd.Datagram each : receiver.receive(100)) {
                    assertThat(number(each.bytes())).isEqualTo(next++);
                }
            }
            TrafficSnapshot traffic = node.balanced(100L * rounds);
            assertThat(traffic.packetsOut()).isEqualTo(100L * rounds);
            node.assertSettled(1, 100 * rounds);
            assertThat(node.levels.lost.get()).isZero();
        }
    }

    @Test
    void levelsThatCannotBeAttachedLeaveTheNodeAsItIs() throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, 4000);
                TransitNode node = new TransitNode(
                                net, TransitNode.config(1 << 20, TransportKind.NATIVE), "no level: as the test says")
                        .route("203.0.113.0/24", receiver.address())
                        .service(NAME, p -> Verdict.FORWARD)
                        .start()) {
            sender.send(at(TestNet.ROUTER4, PORT), packets(NAME, 5, 300));
            receiver.receive(5);
            assertThat(node.levels.calls.get()).isZero();
        }
    }

    @Test
    void socketsOfNioLeaveLevelsUnattached() throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, 4000);
                TransitNode node = new TransitNode(net, TransitNode.config(1 << 20, TransportKind.NIO), "")
                        .route("203.0.113.0/24", receiver.address())
                        .service(NAME, p -> Verdict.FORWARD)
                        .start()) {
            assertThat(node.levels.udp).isEmpty();
            sender.send(at(TestNet.ROUTER4, PORT), packets(NAME, 5, 300));
            receiver.receive(5);
        }
    }

    @Test
    void levelsAreClosedFirstWhenTheNodeStops() throws Exception {
        TransitNode node =
                new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start();
        assertThat(node.levels.udp).containsExactly(at("0.0.0.0", PORT), at("::", PORT));
        assertThat(node.levels.closed).isFalse();
        node.close();
        assertThat(node.levels.closed).isTrue();
    }
}
