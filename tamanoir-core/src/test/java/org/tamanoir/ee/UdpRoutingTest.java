package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Where datagrams may go, and where not. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpRoutingTest {
    private static final String NAME = "org.example.Service";

    private static UdpTestNode start(TransportKind kind, String... hosts) {
        EeConfig config = UdpTestNode.config(kind)
                .listening(
                        List.of(),
                        Arrays.stream(hosts)
                                .map(host -> UdpTestNode.at(host, 0))
                                .toList());
        return UdpTestNode.start(config).service(NAME, (service, packet) -> Verdict.FORWARD);
    }

    private static List<byte[]> packets(PacketBuilder builder, int count) {
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(UdpTestNode.packet(builder, 120));
        }
        return packets;
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void nothingLeavesWithoutARoute(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind, "127.0.0.1");
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            sender.send(node.udp(), packets(UdpTestNode.builder(receiver.address(), NAME, 1), 10));
            sender.send(node.udp(), packets(UdpTestNode.builder(receiver.address(), "", 1), 10));
            sender.send(node.udp(), packets(new PacketBuilder().service(NAME), 10)); // for nowhere
            node.assertDrops(30, Map.of(DropReason.NO_ROUTE, 30L));
            node.deliver("127.0.0.1/32", Transport.SAME);
            List<byte[]> sent = packets(UdpTestNode.builder(receiver.address(), NAME, 1), 10);
            assertThat(sender.pump(node.udp(), sent, receiver)).containsExactlyElementsOf(sent);
            node.routes.remove(Prefix.parse("127.0.0.1/32"));
            sender.send(node.udp(), sent);
            node.assertDrops(50, Map.of(DropReason.NO_ROUTE, 40L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsForTheNodeItselfEndInIt(TransportKind kind) throws Exception {
        for (String bind : List.of("127.0.0.1", "0.0.0.0")) {
            try (UdpTestNode node = start(kind, bind);
                    UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
                node.deliver("0.0.0.0/0", Transport.SAME);
                int port = node.udp().getPort();
                for (String host : List.of("127.0.0.1", "0.0.0.0")) {
                    sender.send(
                            UdpTestNode.at("127.0.0.1", port),
                            packets(UdpTestNode.builder(UdpTestNode.at(host, port), NAME, 1), 5));
                }
                node.assertDrops(10, Map.of(DropReason.LOCAL, 10L));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsOfOtherTypesDoNotGoStraightBack(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind, "127.0.0.1");
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.toHost("10.1.0.0/16", sender.address(), Transport.SAME)
                    .toHost("10.2.0.0/16", receiver.address(), Transport.SAME);
            byte[] back = UdpTestNode.packet(
                    new PacketBuilder().typeId(0x4A4E).destination(UdpTestNode.address("10.1.0.1")), 50);
            byte[] on = UdpTestNode.packet(
                    new PacketBuilder().typeId(0x4A4E).destination(UdpTestNode.address("10.2.0.1")), 50);
            for (int i = 0; i < 10; i++) {
                sender.send(node.udp(), List.of(back, on));
                assertThat(receiver.next()).isEqualTo(on);
            }
            assertThat(sender.isQuiet()).isTrue();
            node.assertDrops(20, Map.of(DropReason.LOOP, 10L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void theHopBudgetEndsALoopOfTwoNodes(TransportKind kind) throws Exception {
        EeConfig config = UdpTestNode.config(kind, FailurePolicy.DROP, 1 << 18, 7);
        try (UdpTestNode one = UdpTestNode.start(config);
                UdpTestNode two = UdpTestNode.start(config);
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
            one.via("10.0.0.0/8", two.udp(), Transport.SAME).service(NAME, (service, packet) -> Verdict.FORWARD);
            two.via("10.0.0.0/8", one.udp(), Transport.SAME).service(NAME, (service, packet) -> Verdict.FORWARD);
            // Filled in by the first node as 7, and as 5, by the sender: that many hops are left after its own.
            sender.send(one.udp(), packets(UdpTestNode.builder(UdpTestNode.at("10.1.1.1", 9), NAME, 1), 4));
            one.balanced(4 * 4);
            two.balanced(4 * 4);
            sender.send(
                    one.udp(),
                    packets(
                            UdpTestNode.builder(UdpTestNode.at("10.1.1.1", 9), NAME, 1)
                                    .hopBudget(5),
                            4));
            one.assertDrops(4 * 4 + 4 * 3, Map.of(DropReason.HOP_BUDGET, 4L));
            two.assertDrops(4 * 4 + 4 * 2, Map.of(DropReason.HOP_BUDGET, 4L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aDatagramThatTheSystemRefusesIsCountedAndOthersLeave(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind, "127.0.0.1");
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("0.0.0.0/0", Transport.SAME);
            // Broadcasts need a permission that the node does not ask for.
            PacketBuilder refused = UdpTestNode.builder(UdpTestNode.at("255.255.255.255", 9), NAME, 1);
            List<byte[]> sent = packets(UdpTestNode.builder(receiver.address(), NAME, 2), 20);
            List<byte[]> mixed = new ArrayList<>();
            for (byte[] packet : sent) {
                mixed.add(packet);
                mixed.add(UdpTestNode.packet(refused, 120));
            }
            sender.send(node.udp(), mixed);
            for (byte[] packet : sent) {
                assertThat(receiver.next()).isEqualTo(packet);
            }
            node.assertDrops(40, Map.of(DropReason.SEND_ERROR, 20L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aNextHopOfTheOtherFamilyIsReachedThroughASocketOfItsOwn(TransportKind kind) throws Exception {
        for (List<String> families : List.of(List.of("127.0.0.1", "::1"), List.of("::1", "127.0.0.1"))) {
            String here = families.get(0);
            String there = families.get(1);
            try (UdpTestNode node = start(kind, here);
                    UdpFarEnd sender = new UdpFarEnd(kind, here);
                    UdpFarEnd receiver = new UdpFarEnd(kind, there)) {
                node.deliver(there + (there.contains(":") ? "/128" : "/32"), Transport.SAME);
                List<byte[]> sent = packets(UdpTestNode.builder(receiver.address(), NAME, 1), 200);
                assertThat(sender.pump(node.udp(), sent, receiver)).containsExactlyElementsOf(sent);
                assertThat(receiver.lastPort()).isNotEqualTo(node.udp().getPort());
                assertThat(node.balanced(200).packetsOut()).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void wildcardBindsTakeAndSendOnTheirFamily(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind, "0.0.0.0", "::")) {
            for (int i = 0; i < 2; i++) {
                String host = i == 0 ? "127.0.0.1" : "::1";
                int port = node.environment.udpAddresses().get(i).getPort();
                try (UdpFarEnd sender = new UdpFarEnd(kind, host);
                        UdpFarEnd receiver = new UdpFarEnd(kind, host)) {
                    node.deliver(host + (i == 0 ? "/32" : "/128"), Transport.SAME);
                    List<byte[]> sent = packets(UdpTestNode.builder(receiver.address(), NAME, 1), 100);
                    assertThat(sender.pump(UdpTestNode.at(host, port), sent, receiver))
                            .containsExactlyElementsOf(sent);
                    assertThat(receiver.lastPort()).isEqualTo(port);
                }
            }
            assertThat(node.balanced(200).packetsOut()).isEqualTo(200);
        }
    }
}
