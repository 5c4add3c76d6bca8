package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.packets;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * Receivers of copies of a TCP stream, of which one fails: the others get everything. Those that take nothing are in
 * virtual time: {@link org.tamanoir.sim}.
 */
class FanOutTest extends TcpNodeTesting {
    /** Together far more than sockets hold. */
    private static final int PACKETS = 400;

    private static final int PACKET_BYTES = 60_000;

    /** Sends each packet to all of these, whose sockets may take all the time that a test has. */
    @FanOut(patienceMs = 600_000)
    private static final class Copies extends Service {
        private final List<InetSocketAddress> receivers;

        Copies(List<InetSocketAddress> receivers) {
            this.receivers = receivers;
        }

        @Override
        public Verdict process(Packet packet) {
            for (InetSocketAddress each : receivers.subList(1, receivers.size())) {
                emitTo(each.getAddress(), each.getPort(), packet);
            }
            return forwardTo(receivers.get(0).getAddress(), receivers.get(0).getPort());
        }
    }

    /** Sends a stream to all of these, and returns the node. */
    private TestNode send(InetSocketAddress... receivers) throws Exception {
        ServiceDefinition copies = new ServiceDefinition(
                "copies",
                "",
                () -> new Copies(List.of(receivers)),
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.NONE,
                Dispatch.STREAM,
                ServiceTraits.of(Copies.class));
        TestNode node = node(copies);
        node.routes.add(
                new Route(Prefix.parse("127.0.0.0/8"), new NextHop(null, 0, Transport.SAME, NextHop.Kind.HOST)));
        try (AnepSender sender = sender(node)) {
            for (int i = 0; i < PACKETS; i++) {
                sender.send(packets("copies"), ByteBuffer.allocate(PACKET_BYTES).putInt(0, i));
            }
            sender.finish();
        }
        return node;
    }

    private static void assertWhole(TestSink sink) {
        sink.await(PACKETS);
        sink.awaitEnds();
        assertThat(sink.numbers()).isEqualTo(IntStream.range(0, PACKETS).boxed().toList());
    }

    @Test
    void oneThatCannotBeReachedIsLetGoAlone() throws Exception {
        TestSink first = sink();
        TestSink second = sink();
        TestNode node = send(first.address(), nobody(), second.address());
        assertWhole(first);
        assertWhole(second);
        node.settle();
        TrafficSnapshot now = node.traffic();
        assertThat(now.drops()).containsEntry(DropReason.NEXT_HOP_UNREACHABLE, (long) PACKETS);
    }

    @Test
    void oneThatBreaksIsLetGoAlone() throws Exception {
        TestSink first = sink();
        TestSink second = sink();
        ServerSocket broken = keep(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        InetSocketAddress address = (InetSocketAddress) broken.getLocalSocketAddress();
        Future<?> breaking = Waiting.async(() -> {
            try (Socket once = broken.accept()) {
                broken.close(); // Whoever tries again is refused.
                once.setSoLinger(true, 0);
                return once.getInputStream().readNBytes(100_000).length;
            }
        });
        TestNode node = send(first.address(), address, second.address());
        assertWhole(first);
        assertWhole(second);
        assertThat(breaking.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(100_000);
        node.settle();
        // What was on its way is lost with the connection, or nothing was when it broke.
        assertThat(node.traffic().drops().keySet())
                .isNotEmpty()
                .isSubsetOf(DropReason.NEXT_HOP_LOST, DropReason.NEXT_HOP_UNREACHABLE);
    }
}
