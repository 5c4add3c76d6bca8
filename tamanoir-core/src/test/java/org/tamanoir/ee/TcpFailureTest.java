package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.UdpSocket;

/** Services that throw: what becomes of their packets, and of the streams beside them. */
class TcpFailureTest extends TcpNodeTesting {
    private static final int PACKETS = 300;

    private enum Where {
        INIT,
        PROCESS,
        END_OF_STREAM,
        TIMER,
        CLOSE
    }

    /** Throws in one place; in process for every third packet. */
    private static final class Faulty extends Service {
        private final Where where;

        Faulty(Where where) {
            this.where = where;
        }

        private void failIf(Where here) {
            if (here == where) {
                throw new IllegalStateException("as the test wants it");
            }
        }

        @Override
        public void init(ServiceConfig config) {
            failIf(Where.INIT);
            if (where == Where.TIMER) {
                after(Duration.ZERO, () -> failIf(Where.TIMER));
            }
        }

        @Override
        public Verdict process(Packet packet) {
            if (TestSink.number(packet) % 3 == 2) {
                failIf(Where.PROCESS);
            }
            return Verdict.FORWARD;
        }

        @Override
        public void endOfStream() {
            failIf(Where.END_OF_STREAM);
        }

        @Override
        public void close() {
            failIf(Where.CLOSE);
        }
    }

    private static ServiceDefinition faulty(FailurePolicy policy, Where where) {
        return define("faulty", policy, () -> new Faulty(where));
    }

    private static void send(AnepSender sender, String service) throws IOException {
        PacketBuilder builder = packets(service);
        for (int i = 0; i < PACKETS; i++) {
            sender.send(builder, number(i));
        }
        sender.finish();
    }

    @Test
    void dropsThePacketsThatMadeItThrow() throws IOException {
        TestSink sink = sink();
        TestNode node = node(faulty(FailurePolicy.DROP, Where.PROCESS)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, "faulty");
            sink.await(PACKETS * 2 / 3);
        }
        assertThat(sink.awaitEnds().numbers()).hasSize(PACKETS * 2 / 3).allMatch(n -> n % 3 != 2);
        node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, PACKETS / 3L));
        assertThat(log())
                .filteredOn(line -> line.contains("failed in process: "))
                .hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Where.class,
            names = {"INIT", "PROCESS", "END_OF_STREAM", "CLOSE"})
    void passesAllPacketsOnWherePolicySaysSo(Where where) throws IOException {
        TestSink sink = sink();
        TestNode node = node(faulty(FailurePolicy.PASS, where)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, "faulty");
            sink.await(PACKETS);
        }
        sink.awaitEnds();
        node.assertDrops(Map.of());
        // close() is called behind the last packet, when the sink has seen the end already.
        eventually().until(() -> log().stream().anyMatch(line -> line.contains("service faulty failed in")));
    }

    @Test
    void dropsAllPacketsWhenItCannotBeInitialised() throws IOException {
        TestSink sink = sink();
        TestNode node = node(faulty(FailurePolicy.DROP, Where.INIT)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, "faulty");
            node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, (long) PACKETS));
        }
        assertThat(sink.packets()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Where.class,
            names = {"INIT", "PROCESS", "TIMER"})
    void closesItsStreamAndNoOther(Where where) throws IOException {
        TestSink sink = sink();
        TestNode node = node(faulty(FailurePolicy.CLOSE, where), MARK).toHost(sink.address());
        try (AnepSender good = sender(node);
                AnepSender bad = sender(node)) {
            good.send(packets("mark"), number(0));
            good.flush();
            sink.await(1);
            bad.send(packets("faulty"), number(2));
            bad.flush();
            eventually().until(() -> node.environment.streams().open() == 1);
            for (int i = 1; i < PACKETS; i++) {
                good.send(packets("mark"), number(i));
            }
            good.finish();
            sink.await(PACKETS);
        }
        eventually().until(() -> sink.connections().get(0).endedWell());
        eventually().until(() -> sink.connections().stream().skip(1).allMatch(bad -> bad.fault() != null));
        assertThat(sink.connections().get(0).packets().stream().map(TestSink::number))
                .containsExactlyElementsOf(IntStream.range(0, PACKETS).boxed().toList());
        node.settle();
        node.assertConserved();
        assertThat(node.environment.streams().accepted()).isEqualTo(2);
    }

    @Test
    void aServiceThatCannotBeMadeClosesItsStreamAlone() throws IOException {
        ServiceDefinition impossible = define("impossible", () -> {
            throw new IllegalStateException("no instance today");
        });
        TestSink sink = sink();
        TestNode node = node(impossible, MARK).toHost(sink.address());
        for (int i = 0; i < 3; i++) {
            AnepSender bad = sender(node);
            bad.send(packets("impossible"), number(1));
            bad.flush();
        }
        eventually().until(() -> node.environment.streams().accepted() == 3);
        node.settle();
        try (AnepSender sender = sender(node)) {
            send(sender, "mark");
            sink.await(PACKETS);
        }
        node.settle();
        node.assertConserved();
        assertThat(log())
                .filteredOn(line -> line.contains("failed in its constructor: "))
                .hasSize(1);
    }

    @Test
    void noVerdictIsAFailure() throws IOException {
        ServiceDefinition silent = define("silent", () -> new Service() {
            @Override
            @SuppressWarnings("NullAway")
            public Verdict process(Packet packet) {
                return null;
            }
        });
        TestSink sink = sink();
        TestNode node = node(silent).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("silent"), number(1));
            sender.finish();
            node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L));
        }
        assertThat(silent.health().failures()).isEqualTo(1);
        assertThat(List.copyOf(log())).anyMatch(line -> line.contains("instead of a verdict"));
    }

    @Test
    void anErrorOfTheMachineIsAFailureToo() throws IOException {
        ServiceDefinition deep = define("deep", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                throw new StackOverflowError("as the test wants it");
            }
        });
        TestSink sink = sink();
        TestNode node = node(deep).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("deep"), number(1));
            sender.finish();
            node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L));
        }
        assertThat(List.copyOf(log())).anyMatch(line -> line.contains("StackOverflowError"));
    }
    /** The next hop is over UDP, and there is no memory for the socket that it takes. */
    @Test
    void anErrorInsideEmitThatTheServicePassesOverEndsItsStream() throws IOException {
        ServiceDefinition careless = define("careless", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                try {
                    emit(packet.copy());
                } catch (Throwable e) {
                    return Verdict.CONSUME;
                }
                return Verdict.FORWARD;
            }
        });
        settings.network = network -> new Transport() {
            @Override
            public IoLoop newLoop(BufferPool pool) {
                return network.newLoop(pool);
            }

            @Override
            public IoLoop newParkingLoop(BufferPool pool) {
                return network.newParkingLoop(pool);
            }

            @Override
            public String whyNoParking() {
                return network.whyNoParking();
            }

            @Override
            public UdpSocket bind(InetSocketAddress local) {
                throw new OutOfMemoryError("as the test wants it");
            }

            @Override
            public String explain() {
                return network.explain();
            }
        };
        TestNode node = node(careless);
        node.routes.add(new Route(
                Prefix.parse("0.0.0.0/0"),
                new NextHop(InetAddress.getLoopbackAddress(), 9, NextHop.Transport.UDP, NextHop.Kind.HOST)));
        try (AnepSender sender = sender(node)) {
            sender.send(packets("careless"), number(1));
            sender.finish();
            node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L, DropReason.CONSUMED, 1L));
        }
    }
}
