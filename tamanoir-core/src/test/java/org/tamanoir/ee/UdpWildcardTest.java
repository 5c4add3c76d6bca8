package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.TransportKind;

/** A node that listens on all addresses: what goes back leaves from the one that was spoken to. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpWildcardTest {
    private static final String NAME = "org.example.Service";
    private static final int WAYS_BACK = 8;
    private static final InetAddress CLIENT = UdpTestNode.address("127.0.0.9");

    private static UdpTestNode node(String host) {
        return UdpTestNode.start(config(UdpTestNode.at(host, 0)));
    }

    private static EeConfig config(InetSocketAddress... udp) {
        return new EeConfig(
                List.of(UdpTestNode.at("127.0.0.1", 0)),
                List.of(udp),
                Anep.DEFAULT_TYPE_ID,
                TransportKind.NATIVE,
                FailurePolicy.DROP,
                64,
                32,
                1 << 20,
                UdpTestNode.PATIENCE,
                UdpTestNode.PATIENCE,
                UdpTestNode.PATIENCE,
                UdpTestNode.PATIENCE);
    }

    /** A sender that takes datagrams from the address alone that it speaks to. */
    private static DatagramSocket connected(InetAddress from, InetAddress host, int port) throws IOException {
        DatagramSocket socket = new DatagramSocket(0, from);
        socket.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
        socket.connect(host, port);
        return socket;
    }

    private static byte[] ask(DatagramSocket client, byte[] question) throws IOException {
        client.send(new DatagramPacket(question, question.length));
        DatagramPacket answer = new DatagramPacket(new byte[65_536], 65_536);
        client.receive(answer);
        return Arrays.copyOf(answer.getData(), answer.getLength());
    }

    private static byte[] packet(InetSocketAddress to, int bytes) {
        PacketBuilder builder = UdpTestNode.builder(to, NAME, 1);
        return UdpTestNode.packet(builder, bytes);
    }

    private static InetSocketAddress of(DatagramSocket socket) {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    @Test
    void anAnswerLeavesFromTheAddressThatWasSpokenTo() throws Exception {
        try (UdpTestNode node = node("0.0.0.0").service(NAME, UdpTestNode.Scripted::answer)) {
            int port = node.udp().getPort();
            for (String host : List.of("127.0.0.1", "127.0.0.2", "127.3.2.1", "127.0.0.2")) {
                try (DatagramSocket client = connected(CLIENT, UdpTestNode.address(host), port)) {
                    assertThat(ask(client, packet(of(client), 200))).hasSize(200);
                }
            }
            node.balanced(4);
        }
    }

    /** One batch holds what many addresses were sent, more than a message's sources have numbers. */
    @Test
    void answersToManyAddressesLeaveFromEach() throws Exception {
        try (UdpTestNode node = node("0.0.0.0").service(NAME, UdpTestNode.Scripted::answer);
                DatagramSocket client = new DatagramSocket(0, CLIENT)) {
            client.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
            byte[] question = packet(of(client), 150);
            for (int i = 1; i <= 100; i++) {
                InetAddress host = InetAddress.getByAddress(new byte[] {127, 0, 1, (byte) i});
                client.send(new DatagramPacket(
                        question, question.length, host, node.udp().getPort()));
            }
            boolean[] answered = new boolean[101];
            for (int i = 1; i <= 100; i++) {
                DatagramPacket answer = new DatagramPacket(new byte[2_000], 2_000);
                client.receive(answer);
                byte[] from = answer.getAddress().getAddress();
                assertThat(from[2]).isEqualTo((byte) 1);
                answered[from[3] & 0xFF] = true;
            }
            for (int i = 1; i <= 100; i++) {
                assertThat(answered[i]).as("127.0.1.%s", i).isTrue();
            }
            node.balanced(100);
        }
    }

    /** The kernel joins what was sent as one (UDP_GRO), and what goes back (UDP_SEGMENT). */
    @Test
    void answersThatLeaveTogetherDoSoToo() throws Exception {
        try (UdpTestNode node = node("0.0.0.0").service(NAME, UdpTestNode.Scripted::answer);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.NATIVE, "127.0.0.9")) {
            InetSocketAddress at = new InetSocketAddress("127.0.0.2", node.udp().getPort());
            byte[] question = packet(sender.address(), 500);
            List<byte[]> answers = sender.pump(at, Collections.nCopies(64, question), sender);
            assertThat(answers).hasSize(64);
            assertThat(sender.lastHost()).isEqualTo(at.getAddress());
            node.balanced(64);
        }
    }

    /** Forwarded, made, sent elsewhere, by a task: all of these go to where a datagram came from. */
    @ParameterizedTest
    @ValueSource(strings = {"forward", "emit", "elsewhere", "later", "held"})
    void whatAServiceSendsBackDoesToo(String how) throws Exception {
        try (UdpTestNode node = node("0.0.0.0").deliver("127.0.0.0/8", Transport.UDP)) {
            node.service(NAME, (service, packet) -> {
                byte[] copy = UdpTestNode.bytes(packet);
                switch (how) {
                    case "forward":
                        return Verdict.FORWARD;
                    case "elsewhere":
                        return service.elsewhere(UdpTestNode.at("127.0.0.9", packet.destinationPort()));
                    case "emit":
                        service.send(UdpTestNode.parsed(copy));
                        return Verdict.DROP;
                    case "held":
                        Suspension held = service.suspend(packet, UdpTestNode.PATIENCE);
                        service.later(Duration.ZERO, () -> held.resume(Verdict.FORWARD));
                        return Verdict.HELD;
                    default:
                        service.send(UdpTestNode.parsed(copy)); // The second finds where the first went.
                        service.later(Duration.ZERO, () -> service.send(UdpTestNode.parsed(copy)));
                        return Verdict.DROP;
                }
            });
            try (DatagramSocket client = connected(
                    CLIENT, UdpTestNode.address("127.0.0.2"), node.udp().getPort())) {
                byte[] question = packet(of(client), 200);
                ask(client, question);
                if (how.equals("later")) {
                    client.receive(new DatagramPacket(new byte[2_000], 2_000));
                }
            }
        }
    }

    /** The first of a node's sockets is not the one that was spoken to. */
    @Test
    void ofTwoSocketsTheOneThatWasSpokenToSendsBack() throws Exception {
        EeConfig two = config(UdpTestNode.at("127.0.0.1", 0), UdpTestNode.at("127.0.0.3", 0));
        try (UdpTestNode node = UdpTestNode.start(two)
                .deliver("127.0.0.0/8", Transport.UDP)
                .service(NAME, (service, packet) -> Verdict.FORWARD)) {
            InetSocketAddress second = node.environment.udpAddresses().get(1);
            try (DatagramSocket client = connected(CLIENT, second.getAddress(), second.getPort())) {
                assertThat(ask(client, packet(of(client), 200))).hasSizeGreaterThanOrEqualTo(200);
            }
        }
    }

    /** And not the one that it spoke to first, nor one that another sender speaks to. */
    @Test
    void ofTwoSocketsTheOneThatWasSpokenToLastSendsBack() throws Exception {
        EeConfig two = config(UdpTestNode.at("127.0.0.1", 0), UdpTestNode.at("127.0.0.3", 0));
        try (UdpTestNode node = UdpTestNode.start(two)
                        .deliver("127.0.0.0/8", Transport.UDP)
                        .service(NAME, (service, packet) -> Verdict.FORWARD);
                DatagramSocket client = new DatagramSocket(0, CLIENT);
                DatagramSocket other = new DatagramSocket(0, CLIENT)) {
            client.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
            byte[] question = packet(of(client), 200);
            InetSocketAddress first = node.environment.udpAddresses().get(0);
            InetSocketAddress second = node.environment.udpAddresses().get(1);
            for (InetSocketAddress to : List.of(second, first, second, first, first, second, second)) {
                client.send(new DatagramPacket(question, question.length, to));
                assertThat(sourceOfNext(client)).isEqualTo(to);
                InetSocketAddress beside = to == first ? second : first;
                other.send(new DatagramPacket(question, question.length, beside));
                assertThat(sourceOfNext(client)).as("nobody has asked").isEqualTo(to);
            }
        }
    }

    /** Returns a service that sends back what it gets, each in the way that its payload's length says. */
    private static UdpTestNode.Step inManyWays() {
        return (service, packet) -> {
            Packet copy = packet.copy();
            byte[] bytes = UdpTestNode.bytes(packet);
            switch (packet.payloadLength() % WAYS_BACK) {
                case 0:
                    return Verdict.FORWARD;
                case 1:
                    return Verdict.REPLY;
                case 2:
                    service.send(copy);
                    return Verdict.CONSUME;
                case 3:
                    Suspension held = service.suspend(packet, UdpTestNode.PATIENCE);
                    service.later(Duration.ZERO, () -> held.resume(Verdict.FORWARD));
                    return Verdict.HELD;
                case 4:
                    service.later(Duration.ZERO, () -> service.send(UdpTestNode.parsed(bytes)));
                    return Verdict.CONSUME;
                default: // Tasks, so that most say nothing but by them.
                    service.later(Duration.ZERO, () -> service.send(copy));
                    return Verdict.CONSUME;
            }
        };
    }

    /** On one socket or two, with the address of a socket or the wildcard, whoever else has spoken to whatever meanwhile. */
    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "0.0.0.0 0.0.0.0", "127.0.0.2 127.0.0.3 127.0.0.4"})
    void whateverLeavesForASenderLeavesFromWhereHeSpokeToLast(String listening) throws Exception {
        Random random = new Random(Seeds.ofCommit(UdpWildcardTest.class));
        InetSocketAddress[] addresses = Arrays.stream(listening.split(" "))
                .map(host -> UdpTestNode.at(host, 0))
                .toArray(InetSocketAddress[]::new);
        List<DatagramSocket> clients = new ArrayList<>();
        try (UdpTestNode node = UdpTestNode.start(config(addresses)).deliver("127.0.0.0/8", Transport.UDP)) {
            node.service(NAME, inManyWays());
            for (int i = 0; i < 16; i++) {
                DatagramSocket client = new DatagramSocket(0, UdpTestNode.address("127.0.0." + (9 + i % 3)));
                client.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
                clients.add(client);
            }
            for (int i = 0; i < 400; i++) {
                DatagramSocket client = clients.get(random.nextInt(clients.size()));
                InetSocketAddress socket = node.environment
                        .udpAddresses()
                        .get(random.nextInt(node.environment.udpAddresses().size()));
                InetSocketAddress to = socket.getAddress().isAnyLocalAddress()
                        ? UdpTestNode.at("127.0.0." + (2 + random.nextInt(3)), socket.getPort())
                        : socket;
                int bytes = 200 + random.nextInt(4 * WAYS_BACK);
                byte[] question = packet(of(client), bytes);
                client.send(new DatagramPacket(question, question.length, to));
                assertThat(sourceOfNext(client))
                        .as("%s: payload of %s", i, bytes)
                        .isEqualTo(to);
            }
        } finally {
            clients.forEach(DatagramSocket::close);
        }
    }

    /** A copy is an answer to the datagram that it is one of, also of a next hop that a route names, and to no other. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCopyLeavesFromWhereItsOriginalWasSentTo(boolean byRoute) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(config(UdpTestNode.at("0.0.0.0", 0), UdpTestNode.at("0.0.0.0", 0)));
                DatagramSocket client = new DatagramSocket(0, CLIENT)) {
            List<Packet> copies = new ArrayList<>();
            if (byRoute) {
                node.via("127.0.0.9/32", of(client), Transport.UDP);
            } else {
                node.deliver("127.0.0.0/8", Transport.UDP);
            }
            node.service(NAME, (service, packet) -> {
                copies.add(0, packet.copy().copy());
                if (copies.size() == 4) {
                    service.later(Duration.ZERO, () -> copies.forEach(service::send));
                }
                return Verdict.CONSUME;
            });
            client.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
            InetSocketAddress[] spokenTo = new InetSocketAddress[4];
            for (int i = 0; i < 4; i++) {
                int port = node.environment.udpAddresses().get(i / 2).getPort();
                InetSocketAddress to = UdpTestNode.at("127.0.0." + (2 + i % 2), port);
                byte[] question = packet(of(client), 200 + i);
                spokenTo[UdpTestNode.parsed(question).payloadLength() % 4] = to;
                client.send(new DatagramPacket(question, question.length, to));
            }
            for (int i = 0; i < 4; i++) {
                DatagramPacket next = new DatagramPacket(new byte[2_000], 2_000);
                client.receive(next);
                Packet copy = UdpTestNode.parsed(Arrays.copyOf(next.getData(), next.getLength()));
                assertThat(next.getSocketAddress()).isEqualTo(spokenTo[copy.payloadLength() % 4]);
            }
        }
    }

    /** Whoever forges a next hop's address decides about nothing but what he causes. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNextHopOfARouteHasNoSayInWhereOthersPacketsLeaveFrom(boolean onWildcard) throws Exception {
        EeConfig config = onWildcard
                ? config(UdpTestNode.at("0.0.0.0", 0))
                : config(UdpTestNode.at("127.0.0.1", 0), UdpTestNode.at("127.77.0.1", 0));
        try (DatagramSocket hop = new DatagramSocket(0, UdpTestNode.address("127.0.0.8"));
                DatagramSocket client = new DatagramSocket(0, CLIENT);
                UdpTestNode node = UdpTestNode.start(config).via("10.9.0.0/16", of(hop), Transport.UDP)) {
            node.service(NAME, (service, packet) -> {
                byte[] copy = UdpTestNode.bytes(packet);
                service.later(Duration.ZERO, () -> service.send(UdpTestNode.parsed(copy)));
                return Verdict.FORWARD;
            });
            hop.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
            byte[] packet = packet(UdpTestNode.at("10.9.0.1", 4000), 200);
            List<InetSocketAddress> sockets = node.environment.udpAddresses();
            int port = sockets.get(sockets.size() - 1).getPort();
            InetSocketAddress forged = UdpTestNode.at("127.77.0.1", port);
            InetSocketAddress usual = onWildcard ? UdpTestNode.at("127.0.0.1", port) : sockets.get(0);
            for (int i = 0; i < 3; i++) {
                hop.send(new DatagramPacket(packet, packet.length, forged));
                assertThat(sourceOfNext(hop)).as("goes back").isEqualTo(forged);
                assertThat(sourceOfNext(hop)).as("by a task").isEqualTo(usual);
                client.send(
                        new DatagramPacket(packet, packet.length, sockets.get(0).getAddress(), usual.getPort()));
                assertThat(sourceOfNext(hop)).as("another's").isEqualTo(usual);
                assertThat(sourceOfNext(hop)).as("another's, by a task").isEqualTo(usual);
            }
        }
    }

    private static InetSocketAddress sourceOfNext(DatagramSocket socket) throws IOException {
        DatagramPacket next = new DatagramPacket(new byte[2_000], 2_000);
        socket.receive(next);
        return (InetSocketAddress) next.getSocketAddress();
    }

    /** What is alike goes together, but for what was sent to another address, though it stands in the same batch. */
    @Test
    void ofABatchEachGoesBackFromWhereItWasSent() throws Exception {
        CountDownLatch isSent = new CountDownLatch(1);
        try (UdpTestNode node = node("0.0.0.0").deliver("127.0.0.0/8", Transport.UDP);
                DatagramSocket client = new DatagramSocket(0, CLIENT)) {
            node.service(NAME, (service, packet) -> {
                if (packet.payloadLength() > 1_000) {
                    isSent.await();
                }
                return Verdict.FORWARD;
            });
            client.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
            for (int i = 0; i < 4; i++) { // Then the service's thread reads the port by itself.
                send(client, "127.0.0.2", node, packet(of(client), 200));
                client.receive(new DatagramPacket(new byte[2_000], 2_000));
            }
            send(client, "127.0.0.2", node, packet(of(client), 1_900)); // Meanwhile all else comes.
            for (int i = 0; i < 40; i++) {
                send(client, "127.0.0." + (2 + i % 2), node, packet(of(client), 200 + i % 2));
            }
            isSent.countDown();
            client.receive(new DatagramPacket(new byte[2_000], 2_000));
            int[] bytes = new int[2];
            for (int i = 0; i < 40; i++) {
                DatagramPacket answer = new DatagramPacket(new byte[2_000], 2_000);
                client.receive(answer);
                int host = answer.getAddress().getAddress()[3];
                bytes[host - 2] += answer.getLength();
                assertThat(answer.getLength() % 2)
                        .as("datagram %s from 127.0.0.%s", i, host)
                        .isEqualTo(host % 2);
            }
            assertThat(bytes).containsExactly(20 * 200, 20 * 201);
            node.balanced(45);
        }
    }

    private static void send(DatagramSocket from, String host, UdpTestNode node, byte[] datagram) throws IOException {
        from.send(new DatagramPacket(
                datagram, datagram.length, UdpTestNode.address(host), node.udp().getPort()));
    }

    @Test
    void ipv6Too() throws Exception {
        try (UdpTestNode node = node("::").service(NAME, UdpTestNode.Scripted::answer)) {
            InetAddress loopback = UdpTestNode.address("::1");
            try (DatagramSocket client =
                    connected(loopback, loopback, node.udp().getPort())) {
                assertThat(ask(client, packet(of(client), 200))).hasSize(200);
            }
            for (InetAddress own :
                    ipv6()) { // Those that this host has; link-local ones are reached with their zone alone.
                try (DatagramSocket client = connected(
                        own.isLinkLocalAddress() ? own : loopback,
                        own,
                        node.udp().getPort())) {
                    assertThat(ask(client, packet(of(client), 200))).hasSize(200);
                }
            }
        }
    }

    private static List<InetAddress> ipv6() throws IOException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(Inet6Address.class::isInstance)
                .toList();
    }

    @Test
    void aGatewaysAnswersLeaveFromWhereEachSenderSpokeTo() throws Exception {
        try (DatagramSocket far = new DatagramSocket(0, UdpTestNode.address("127.0.0.1"))) {
            far.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
            UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NATIVE));
            node.environment.udpGateways(List.of(new UdpGateway(
                    UdpTestNode.at("0.0.0.0", 0), of(far), ServiceKey.NONE, 3, 0, Anep.DEFAULT_TYPE_ID)));
            node.environment.start();
            try (node;
                    DatagramSocket client = new DatagramSocket(0, CLIENT)) {
                client.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
                int port = node.environment.gatewayAddresses().get(0).getPort();
                for (String host : List.of("127.0.0.2", "127.0.0.3")) {
                    byte[] question = host.getBytes(StandardCharsets.US_ASCII);
                    client.send(new DatagramPacket(question, question.length, UdpTestNode.address(host), port));
                }
                DatagramPacket[] came = new DatagramPacket[2];
                for (int i = 0; i < 2; i++) {
                    came[i] = new DatagramPacket(new byte[100], 100);
                    far.receive(came[i]);
                }
                for (int i = 1; i >= 0; i--) { // As they were asked, not as they came last.
                    far.send(new DatagramPacket(came[i].getData(), came[i].getLength(), came[i].getSocketAddress()));
                    DatagramPacket answer = new DatagramPacket(new byte[100], 100);
                    client.receive(answer);
                    assertThat(answer.getAddress().getHostAddress())
                            .isEqualTo(new String(answer.getData(), 0, answer.getLength(), StandardCharsets.US_ASCII));
                }
            }
        }
    }

    @Test
    void aGatewaysServiceThatRepliesDoesToo() throws Exception {
        UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NATIVE));
        node.service(NAME, UdpTestNode.Scripted::answer);
        node.environment.udpGateways(List.of(new UdpGateway(
                UdpTestNode.at("0.0.0.0", 0),
                UdpTestNode.at("127.0.0.1", 9),
                ServiceKey.of(NAME),
                3,
                0,
                Anep.DEFAULT_TYPE_ID)));
        node.environment.start();
        try (node) {
            int port = node.environment.gatewayAddresses().get(0).getPort();
            try (DatagramSocket client = connected(CLIENT, UdpTestNode.address("127.0.0.2"), port)) {
                assertThat(ask(client, new byte[] {1, 2, 3})).containsExactly(1, 2, 3);
            }
        }
    }
}
