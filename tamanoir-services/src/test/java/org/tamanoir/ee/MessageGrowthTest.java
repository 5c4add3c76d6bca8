package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageService;
import org.tamanoir.message.Outcome;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.morph.ChainByHand;
import org.tamanoir.transport.TransportKind;

/** Whether a datagram's messages may leave is asked once, before they are counted as having left. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class MessageGrowthTest {
    private static final String NAME = "service";
    private static final int HUB_BYTES = 100;

    /** Knows nothing until the test answers. */
    private static final class Formats implements FormatSource {
        final FormatRegistry known = new FormatRegistry(8, 1 << 20);
        final AtomicReference<@Nullable Consumer<@Nullable Format>> asked = new AtomicReference<>();

        @Override
        public FormatRegistry known() {
            return known;
        }

        @Override
        public void request(FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
            asked.set(then);
        }

        void answer() {
            known.add(ChainByHand.FLIGHT);
            Objects.requireNonNull(asked.get()).accept(ChainByHand.FLIGHT);
        }
    }

    private static final class Bench implements AutoCloseable {
        final UdpTestNode node;
        final UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
        final UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
        final Formats formats = new Formats();

        Bench(int growth, MessageService.Method method) throws Exception {
            UdpBounds bounds = new UdpBounds(growth, UdpBounds.MIN_BYTES, 3, Map.of());
            node = UdpTestNode.start(UdpTestNode.config(TransportKind.NIO).bounding(bounds))
                    .deliver("127.0.0.1/32", Transport.SAME);
            node.services.add(new ServiceDefinition(
                    NAME, () -> new Handling(method, formats), ServiceConfig.EMPTY, FailurePolicy.DROP));
        }

        void send(Packet packet) {
            sender.send(node.udp(), UdpTestNode.bytes(packet));
        }

        Packet flight() {
            return ChainByHand.packet(UdpTestNode.builder(receiver.address(), NAME, 1), 1, HUB_BYTES);
        }

        /** Returns a flight as a run of one item. */
        Packet run() {
            ByteBuffer record = flight().payload();
            ByteBuffer run = ByteBuffer.allocate(8 + record.remaining());
            run.putInt(3 << 24).putInt(record.remaining()).put(record).flip();
            return UdpTestNode.builder(receiver.address(), NAME, 1).build(run);
        }

        long count(String counter) {
            return node.environment.instances().stream()
                    .mapToLong(instance -> instance.counters().getOrDefault(counter, 0L))
                    .sum();
        }

        @Override
        public void close() {
            node.close();
            sender.close();
            receiver.close();
        }
    }

    private static final class Handling extends MessageService {
        private final Method method;
        private final Formats formats;

        Handling(Method method, Formats formats) {
            this.method = method;
            this.formats = formats;
        }

        @Override
        protected FormatSource messageFormats() {
            return formats;
        }

        @Override
        protected Outcome handle(Message message, org.tamanoir.message.Outlet outlet) throws Exception {
            return method.handle(message, outlet);
        }
    }

    private static final MessageService.Method REPLACING = (message, outlet) -> {
        byte[] record = new byte[message.record().length()];
        message.record().memory().get(message.record().start(), record);
        outlet.replace(new Message().wrapLike(message, message.format(), ByteBuffer.wrap(record), 0, record.length));
        return Outcome.FORWARD;
    };

    @Test
    void aPacketThatWaitedForItsFormatIsPaidForOnce() throws Exception {
        try (Bench bench = new Bench(1, REPLACING)) {
            Packet flight = bench.flight();
            bench.send(flight);
            eventually().until(() -> bench.formats.asked.get() != null);
            bench.formats.answer();

            assertThat(UdpTestNode.parsed(bench.receiver.next()).payload()).isEqualTo(flight.payload());
            assertThat(bench.count("messages.out")).isEqualTo(1);
        }
    }

    @Test
    void aPacketThatWaitedForItsFormatAndIsRefusedIsCounted() throws Exception {
        MessageService.Method longer = (message, outlet) -> {
            ByteBuffer record = ChainByHand.packet(
                            UdpTestNode.builder(UdpTestNode.at("127.0.0.1", 1), NAME, 1), 1, 2 * HUB_BYTES)
                    .payload();
            ByteBuffer copy =
                    ByteBuffer.allocate(record.remaining()).put(record).flip();
            outlet.replace(new Message().wrapLike(message, message.format(), copy, 0, copy.remaining()));
            return Outcome.FORWARD;
        };
        try (Bench bench = new Bench(1, longer)) {
            bench.send(bench.flight());
            eventually().until(() -> bench.formats.asked.get() != null);
            bench.formats.answer();

            eventually()
                    .untilAsserted(() ->
                            assertThat(bench.count("messages.dropped.GROWTH")).isEqualTo(1));
            assertThat(bench.count("messages.out")).isZero();
            assertThat(bench.node.balanced(1).drops()).doesNotContainKey(DropReason.AMPLIFICATION);
        }
    }

    /** A copy is as long as the packet, or somewhat longer than a run: not all of them are within four times its bytes. */
    @ParameterizedTest
    @CsvSource({"false, 4", "true, 3"})
    void aPacketThatGoesOnBehindItsCopiesIsAskedFor(boolean inRun, int copies) throws Exception {
        try (Bench bench = new Bench(4, (message, outlet) -> {
            outlet.to((2 << copies) - 1);
            return Outcome.FORWARD;
        })) {
            bench.formats.known.add(ChainByHand.FLIGHT);
            bench.send(inRun ? bench.run() : bench.flight());

            eventually()
                    .untilAsserted(() ->
                            assertThat(bench.count("messages.dropped.GROWTH")).isEqualTo(1));
            assertThat(bench.count("messages.made")).isEqualTo(copies);
            assertThat(bench.count("messages.out")).isEqualTo(copies);
            assertThat(bench.node.balanced(1).drops()).doesNotContainKey(DropReason.AMPLIFICATION);
        }
    }
}
