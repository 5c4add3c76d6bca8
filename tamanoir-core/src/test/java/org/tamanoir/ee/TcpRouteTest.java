package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/** Where packets of a TCP stream go, and when they may not. */
class TcpRouteTest extends TcpNodeTesting {
    private static void send(AnepSender sender, PacketBuilder builder, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            sender.send(builder, number(i));
        }
        sender.flush();
    }

    @Test
    void routesChangeInMidStreamWithoutLoss() throws IOException {
        TestSink first = sink();
        TestSink second = sink();
        TestNode node = node(MARK).toHost(first.address());
        try (AnepSender sender = sender(node)) {
            PacketBuilder builder = packets("mark");
            send(sender, builder, 0, 100);
            first.await(100);
            node.toHost(second.address());
            send(sender, builder, 100, 200);
            second.await(100);
            node.routes.replace(List.of());
            send(sender, builder, 200, 300);
            eventually().until(() -> node.dropped(DropReason.NO_ROUTE) == 100);
            node.toHost(first.address());
            send(sender, builder, 300, 400);
            first.await(200);
            assertThat(node.routes.remove(Prefix.parse("0.0.0.0/0"))).isTrue();
            send(sender, builder, 400, 410);
            eventually().until(() -> node.dropped(DropReason.NO_ROUTE) == 110);
            sender.finish();
        }
        assertThat(first.awaitEnds().numbers()).hasSize(200).doesNotHaveDuplicates();
        assertThat(second.awaitEnds().numbers()).hasSize(100).doesNotHaveDuplicates();
        node.assertDrops(Map.of(DropReason.NO_ROUTE, 110L));
    }

    @Test
    void packetsForTheNodeItselfEndHere() throws IOException {
        TestNode node = node(MARK);
        node.toNode(node);
        try (AnepSender sender = sender(node)) {
            send(sender, packets("mark"), 0, 10);
            sender.finish();
            node.assertDrops(Map.of(DropReason.LOCAL, 10L));
        }
    }

    @Test
    void anExhaustedBudgetEndsPacketsTowardsNodesAlone() throws IOException {
        TestSink sink = sink();
        TestNode second = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).toNode(second);
        try (AnepSender sender = sender(first)) {
            send(sender, packets("mark").hopBudget(1), 0, 10);
            send(sender, packets("mark").hopBudget(2), 10, 20);
            sender.finish();
            sink.await(10);
        }
        assertThat(sink.awaitEnds().packets()).hasSize(10).allMatch(packet -> packet.hopBudget() == 1);
        first.assertDrops(Map.of(DropReason.HOP_BUDGET, 10L));
        second.assertDrops(Map.of());
    }

    @Test
    void aMissingBudgetIsAddedTowardsNodesAlone() throws IOException {
        PacketBuilder without = new PacketBuilder()
                .destination(InetAddress.getLoopbackAddress())
                .service("mark");
        without.classOfService(0, 0);
        TestSink sink = sink();
        TestNode second = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).toNode(second);
        for (TestNode node : new TestNode[] {first, second}) {
            try (AnepSender sender = sender(node)) {
                send(sender, without, 0, 10);
                sender.finish();
                sink.await(node == first ? 10 : 20);
                sink.awaitEnds();
            }
        }
        assertThat(sink.connections().get(0).packets())
                .hasSize(10)
                .allMatch(packet ->
                        packet.hopBudget() == first.environment.context.config().hopBudget());
        assertThat(sink.connections().get(1).packets()).hasSize(10).noneMatch(packet -> packet.has(Option.HOP_BUDGET));
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
    }

    @Test
    void aBudgetThatDoesNotFitEndsThePacket() throws IOException {
        PacketBuilder without = new PacketBuilder()
                .destination(InetAddress.getLoopbackAddress())
                .service("mark");
        without.classOfService(0, 0);
        TestNode second = node(MARK);
        TestNode first = node(MARK).toNode(second);
        try (AnepSender sender = sender(first)) {
            sender.send(without, java.nio.ByteBuffer.allocate(Anep.MAX_PACKET_OCTETS - without.headerLength()));
            sender.finish();
            first.assertDrops(Map.of(DropReason.PACKET_TOO_LONG, 1L));
        }
    }

    @Test
    void theHopBudgetEndsALoopOfRoutes() throws IOException {
        TestNode second = node(MARK);
        TestNode first = node(MARK).toNode(second);
        second.toNode(first);
        try (AnepSender sender = sender(first)) {
            send(sender, packets("mark").hopBudget(7), 0, 10);
            sender.finish();
            eventually()
                    .until(() -> first.dropped(DropReason.HOP_BUDGET) + second.dropped(DropReason.HOP_BUDGET) == 10);
        }
        first.assertDrops(Map.of(DropReason.HOP_BUDGET, 10L));
        second.assertDrops(Map.of());
        assertThat(first.traffic().packetsIn() + second.traffic().packetsIn()).isEqualTo(70);
    }

    @Test
    void directDeliveryTakesAddressAndPortFromThePacket() throws IOException {
        TestSink sink = sink();
        TestSink other = sink();
        TestNode node = node(MARK).route("127.0.0.0/8", null, NextHop.Kind.HOST);
        node.routes.add(new Route(
                Prefix.parse("10.0.0.0/8"),
                new NextHop(other.address().getAddress(), 0, NextHop.Transport.TCP, NextHop.Kind.HOST)));
        try (AnepSender sender = sender(node)) {
            send(sender, packets("mark").destinationPort(sink.address().getPort()), 0, 10);
            PacketBuilder far = packets("mark").destination(InetAddress.getByName("10.9.8.7"));
            send(sender, far.destinationPort(other.address().getPort()), 10, 20);
            PacketBuilder elsewhere = packets("mark").destination(InetAddress.getByName("192.0.2.1"));
            send(sender, elsewhere.destinationPort(other.address().getPort()), 20, 30);
            sender.finish();
            sink.await(10);
            other.await(10);
        }
        assertThat(sink.awaitEnds().numbers()).hasSize(10).allMatch(n -> n < 10);
        assertThat(other.awaitEnds().numbers()).hasSize(10).allMatch(n -> n >= 10);
        node.assertDrops(Map.of(DropReason.NO_ROUTE, 10L));
    }
}
