package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Ports;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Packets that come over one transport and go on over the other. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class CrossingTest {
    private static final String NAME = "org.example.Service";
    private static final InetSocketAddress FAR = UdpTestNode.at("10.1.1.1", 7);
    /** Packets in flight at once. */
    private static final int WINDOW = 100;

    private static UdpTestNode start(TransportKind kind) {
        return UdpTestNode.start(kind).service(NAME, (service, packet) -> Verdict.FORWARD);
    }

    private static AnepReceiver listen(InetSocketAddress at, PacketHandler handler) throws IOException {
        return AnepReceiver.on(at).tcp().start(() -> handler);
    }

    private static InetSocketAddress free() {
        return UdpTestNode.at("127.0.0.1", 0);
    }

    private static List<byte[]> packets(PacketBuilder builder, int count, int bytes) {
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(UdpTestNode.packet(builder, bytes));
        }
        return packets;
    }

    private static void awaitSize(List<?> list, int size) {
        eventually().until(() -> list.size() >= size);
    }

    /** Sends datagrams in windows to the node, and waits for each window at the receiver. */
    private static void pump(UdpFarEnd sender, InetSocketAddress node, List<byte[]> sent, List<byte[]> received) {
        for (int at = 0; at < sent.size(); at += WINDOW) {
            int end = Math.min(sent.size(), at + WINDOW);
            int expected = received.size() + end - at;
            sender.send(node, sent.subList(at, end));
            awaitSize(received, expected);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aStreamGoesOnAsDatagrams(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind);
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            node.deliver("127.0.0.1/32", Transport.UDP);
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), NAME, 1);
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                sent.add(UdpTestNode.packet(builder, i % 500 == 499 ? 65_507 : 100 + i % 7));
            }
            for (int at = 0; at < sent.size(); at += WINDOW) {
                for (byte[] packet : sent.subList(at, at + WINDOW)) {
                    sender.send(UdpTestNode.parsed(packet));
                }
                sender.flush();
                for (byte[] packet : sent.subList(at, at + WINDOW)) {
                    assertThat(receiver.next()).isEqualTo(packet);
                }
            }
            sender.finish();
            assertThat(node.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void datagramsGoOnAsAStream(TransportKind kind) throws Exception {
        List<byte[]> received = new CopyOnWriteArrayList<>();
        try (AnepReceiver receiver = listen(free(), (packet, peer) -> received.add(UdpTestNode.bytes(packet)));
                UdpTestNode node = start(kind);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.TCP);
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), NAME, 1);
            List<byte[]> sent = packets(builder, 1_950, 150);
            sent.addAll(packets(builder, 10, 65_507));
            pump(sender, node.udp(), sent.subList(0, 1_950), received);
            for (int i = 1_950; i < sent.size(); i++) {
                pump(sender, node.udp(), sent.subList(i, i + 1), received);
            }
            assertThat(received).containsExactlyElementsOf(sent);
            assertThat(receiver.statistics().connections()).isEqualTo(1);
            assertThat(node.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void twoNodesCanCarryDatagramsOverTcpBetweenThem(TransportKind kind) throws Exception {
        // The first ends first: it holds the connection that the second serves.
        try (UdpTestNode second = start(kind);
                UdpTestNode first = start(kind);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            first.via("127.0.0.1/32", second.tcp(), Transport.TCP);
            second.deliver("127.0.0.1/32", Transport.UDP);
            PacketBuilder builder =
                    UdpTestNode.builder(receiver.address(), NAME, 1).hopBudget(9);
            List<byte[]> sent = packets(builder, 1_000, 120);
            List<byte[]> received = sender.pump(first.udp(), sent, receiver);
            for (int i = 0; i < sent.size(); i++) {
                Packet expected = UdpTestNode.parsed(sent.get(i));
                NodeOptions.setHopBudget(expected, 8);
                assertThat(received.get(i)).isEqualTo(UdpTestNode.bytes(expected));
            }
            assertThat(first.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
            assertThat(second.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsTooLongForADatagramEndAndTheStreamGoesOn(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind);
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                AnepSender sender = AnepSender.tcp(node.tcp())) {
            node.deliver("127.0.0.1/32", Transport.UDP).via("10.1.0.0/16", receiver.address(), Transport.UDP);
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), NAME, 1);
            PacketBuilder withoutBudget = UdpTestNode.builder(FAR, NAME, 2);
            List<byte[]> good = packets(builder, 3, 65_507);
            for (byte[] packet : good) {
                sender.send(UdpTestNode.parsed(UdpTestNode.packet(builder, 65_508)));
                sender.send(UdpTestNode.parsed(UdpTestNode.packet(builder, 65_535)));
                // The budget that it must get makes it too long: for UDP, and for any transport.
                sender.send(UdpTestNode.parsed(UdpTestNode.packet(withoutBudget, 65_500)));
                sender.send(UdpTestNode.parsed(UdpTestNode.packet(withoutBudget, 65_535)));
                sender.send(UdpTestNode.parsed(packet));
                sender.flush();
                assertThat(receiver.next()).isEqualTo(packet);
            }
            sender.finish();
            node.assertDrops(15, Map.of(DropReason.PACKET_TOO_LONG, 12L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void trafficResumesWhenANextHopThatWasDownComesBack(TransportKind kind) throws Exception {
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", Ports.free());
        List<byte[]> received = new CopyOnWriteArrayList<>();
        PacketHandler handler = (packet, peer) -> received.add(UdpTestNode.bytes(packet));
        try (UdpTestNode node = start(kind);
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
            node.toHost("10.1.0.0/16", address, Transport.TCP);
            PacketBuilder builder = UdpTestNode.builder(FAR, NAME, 1);
            List<byte[]> lost = packets(builder, 60, 100);
            sender.send(node.udp(), lost.subList(0, 30));
            node.assertDrops(30, Map.of(DropReason.NEXT_HOP_UNREACHABLE, 30L));
            sender.send(node.udp(), lost.subList(30, 60));
            node.assertDrops(60, Map.of(DropReason.NEXT_HOP_UNREACHABLE, 60L));
            long probes = 0;
            for (int life = 0; life < 2; life++) {
                received.clear();
                try (AnepReceiver receiver = listen(address, handler)) {
                    probes += probeUntilArrived(node, sender, builder, received);
                    // A flow of its own: probes may still be under way.
                    int stream = 2 + life;
                    List<byte[]> sent = packets(UdpTestNode.builder(FAR, NAME, stream), 300, 100);
                    pump(sender, node.udp(), sent, received);
                    eventually()
                            .untilAsserted(
                                    () -> assertThat(ofStream(received, stream)).containsExactlyElementsOf(sent));
                    probes += sent.size();
                    assertThat(receiver.openConnections()).isEqualTo(1);
                }
                // The node learns of the end by sending; what is refused from then on is counted.
                long unreachable = node.environment.traffic().dropped();
                probes += probeUntilDropped(node, sender, builder, unreachable);
            }
            TrafficSnapshot traffic = node.balanced(60 + probes);
            assertThat(traffic.drops().keySet()).isSubsetOf(DropReason.NEXT_HOP_UNREACHABLE, DropReason.NEXT_HOP_LOST);
        }
    }

    private static List<byte[]> ofStream(List<byte[]> packets, int stream) {
        return packets.stream()
                .filter(packet -> UdpTestNode.parsed(packet).streamId() == stream)
                .toList();
    }

    /** Sends single packets until one has arrived; returns how many were sent. */
    private static long probeUntilArrived(
            UdpTestNode node, UdpFarEnd sender, PacketBuilder builder, List<byte[]> received) {
        long in = node.environment.traffic().packetsIn();
        long[] sent = {0};
        eventually().untilAsserted(() -> {
            sender.send(node.udp(), UdpTestNode.packet(builder, 100));
            node.balanced(in + ++sent[0]);
            assertThat(received).isNotEmpty();
        });
        return sent[0];
    }

    private static long probeUntilDropped(UdpTestNode node, UdpFarEnd sender, PacketBuilder builder, long before) {
        long in = node.environment.traffic().packetsIn();
        long[] sent = {0};
        eventually().untilAsserted(() -> {
            sender.send(node.udp(), UdpTestNode.packet(builder, 100));
            node.balanced(in + ++sent[0]);
            assertThat(node.environment.traffic().dropped()).isGreaterThan(before);
        });
        return sent[0];
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aNextHopThatNeverReadsFillsABoundedQueue(TransportKind kind) throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.setReceiveBufferSize(4_096);
            server.bind(free());
            try (UdpTestNode node = start(kind);
                    UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
                node.toHost("10.1.0.0/16", (InetSocketAddress) server.getLocalSocketAddress(), Transport.TCP)
                        .service("org.example.Echo", UdpTestNode.Scripted::answer);
                PacketBuilder builder = UdpTestNode.builder(FAR, NAME, 1);
                long sent = 0;
                long full = 0;
                try (Socket connection = firstConnection(server, node, sender, builder)) {
                    sent++;
                    byte[] marker = UdpTestNode.packet(UdpTestNode.builder(FAR, "org.example.Echo", 2), 100);
                    while (full < 200 && sent < 20_000) {
                        sender.send(node.udp(), packets(builder, 20, 8_000));
                        sender.send(node.udp(), marker);
                        sender.next(); // what was sent before has been read
                        sent += 21;
                        full = node.environment.traffic().drops().getOrDefault(DropReason.OUTPUT_FULL, 0L);
                    }
                    assertThat(full).isGreaterThanOrEqualTo(200);
                    long expected = sent;
                    eventually().untilAsserted(() -> {
                        TrafficSnapshot now = node.environment.traffic();
                        assertThat(now.packetsIn()).isEqualTo(expected);
                        UdpTestNode.assertBalance(now);
                        // The sender outruns the service's thread at times.
                        assertThat(now.drops().keySet()).isSubsetOf(DropReason.OUTPUT_FULL, DropReason.INBOX_FULL);
                        assertThat(now.held()).isBetween(1L, 2 * 256 * 1024 / 8_000L);
                    });
                    connection.setSoLinger(true, 0);
                }
                TrafficSnapshot after = node.balanced(sent);
                assertThat(after.drops()).containsKeys(DropReason.OUTPUT_FULL, DropReason.NEXT_HOP_LOST);
                assertThat(after.drops().keySet())
                        .isSubsetOf(DropReason.OUTPUT_FULL, DropReason.INBOX_FULL, DropReason.NEXT_HOP_LOST);
            }
        }
    }

    private static Socket firstConnection(
            ServerSocket server, UdpTestNode node, UdpFarEnd sender, PacketBuilder builder) throws IOException {
        sender.send(node.udp(), UdpTestNode.packet(builder, 100));
        server.setSoTimeout((int) UdpTestNode.PATIENCE.toMillis());
        return server.accept();
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatATcpNextHopSendsBackGoesWhereItsDestinationSays(TransportKind kind) throws Exception {
        List<byte[]> third = new CopyOnWriteArrayList<>();
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                AnepReceiver other = listen(free(), (packet, peer) -> third.add(UdpTestNode.bytes(packet)));
                AnepReceiver hop = listen(free(), (packet, peer) -> {
                    // To the sender, over another TCP connection that is opened for it, and to nowhere.
                    long sequence = packet.sequence();
                    for (String to : List.of("127.0.0.1", "10.2.2.2", "10.3.3.3")) {
                        int port = to.startsWith("127") ? sender.address().getPort() : 9;
                        PacketBuilder back = UdpTestNode.builder(UdpTestNode.at(to, port), "", 5)
                                .nextSequence(sequence);
                        peer.reply(back.build(ByteBuffer.allocate(20)));
                    }
                });
                UdpTestNode node = start(kind)) {
            node.deliver("127.0.0.1/32", Transport.UDP)
                    .toHost("10.1.0.0/16", hop.address(), Transport.TCP)
                    .toHost("10.2.0.0/16", other.address(), Transport.TCP);
            List<byte[]> sent = packets(UdpTestNode.builder(FAR, NAME, 1), 500, 100);
            List<byte[]> answers = sender.pump(node.udp(), sent, sender);
            awaitSize(third, sent.size());
            for (int i = 0; i < sent.size(); i++) {
                assertThat(UdpTestNode.parsed(answers.get(i)).sequence()).isEqualTo(i);
                assertThat(UdpTestNode.parsed(third.get(i)).sequence()).isEqualTo(i);
            }
            node.assertDrops(4L * sent.size(), Map.of(DropReason.NO_ROUTE, (long) sent.size()));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsOfOtherTypesThatANextHopSendsBackDoNotLoop(TransportKind kind) throws Exception {
        PacketBuilder foreign = new PacketBuilder().typeId(0x4A4E).destination(UdpTestNode.address("10.1.1.1"));
        PacketBuilder back = new PacketBuilder().typeId(0x4A4E).destination(UdpTestNode.address("10.4.4.4"));
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                AnepReceiver hop = AnepReceiver.on(free()).tcp().start(() -> (packet, peer) -> {
                    peer.reply(packet);
                    peer.reply(back.build(ByteBuffer.allocate(9)));
                });
                UdpTestNode node = start(kind)) {
            node.toHost("10.1.0.0/16", hop.address(), Transport.TCP)
                    .toHost("10.4.0.0/16", sender.address(), Transport.UDP);
            byte[] packet = UdpTestNode.packet(foreign, 60);
            for (int i = 0; i < 20; i++) {
                sender.send(node.udp(), packet);
                assertThat(UdpTestNode.parsed(sender.next()).payloadLength()).isEqualTo(9);
            }
            node.assertDrops(60, Map.of(DropReason.LOOP, 20L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aNextHopThatSendsBackNoPacketsIsLeftAndTriedAnew(TransportKind kind) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
                UdpTestNode node = start(kind);
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
            node.toHost("10.1.0.0/16", (InetSocketAddress) server.getLocalSocketAddress(), Transport.TCP);
            PacketBuilder builder = UdpTestNode.builder(FAR, NAME, 1);
            try (Socket connection = firstConnection(server, node, sender, builder)) {
                connection.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes("US-ASCII"));
                connection.getInputStream().readNBytes(100);
                assertThat(connection.getInputStream().read()).isEqualTo(-1);
            }
            node.assertDrops(2, Map.of(DropReason.VERSION, 1L));
            long in = 2;
            boolean accepted = false;
            server.setSoTimeout(20);
            for (int i = 0; !accepted && i < 2_000; i++) {
                sender.send(node.udp(), UdpTestNode.packet(builder, 100));
                in++;
                try {
                    server.accept().close();
                    accepted = true;
                } catch (SocketTimeoutException e) {
                    // Not yet: the node waits between attempts.
                }
            }
            assertThat(accepted).as("a second connection").isTrue();
            node.balanced(in);
        }
    }
}
