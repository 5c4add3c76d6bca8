package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.cluster.element.Aggregator.Drop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** Distributor and aggregator on real sockets, with units that a test plays. */
class ElementEndsTest {
    private static final int UNITS = 3;
    /** Of each three, one has a packet for path 0, two for path 1, all for path 2. */
    private static final int ROUNDS = 300;

    private static final int PACKETS = 2 * ROUNDS;
    /** Longer than any pause of the machine. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private final List<AutoCloseable> open = new ArrayList<>();
    private DatagramSocket source;
    private DatagramSocket sink;

    @BeforeEach
    void openEnds() throws IOException {
        source = opened(Sockets.open());
        sink = opened(Sockets.open());
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        open.add(closeable);
        return closeable;
    }

    private Aggregator.Settings aggregator() {
        return Aggregator.between(Sockets.loopback(Sockets.FREE), Sockets.address(sink))
                .deadline(LONG);
    }

    private static byte[] datagram(int number) {
        byte[] bytes = new byte[8 + number * 13 % 1_424];
        new Random(number).nextBytes(bytes);
        ByteBuffer.wrap(bytes).putInt(number);
        return bytes;
    }

    private static byte[] packet(long round, int path, int flags, String text) {
        ByteBuffer bytes = ByteBuffer.allocate(200);
        new PacketBuilder().stream(1).round(round, path, flags).write(bytes, ByteBuffer.wrap(text.getBytes()));
        byte[] packet = new byte[bytes.position()];
        bytes.get(0, packet);
        return packet;
    }

    private static void end(Aggregator aggregator, CompletableFuture<Void> running) throws Exception {
        aggregator.stop();
        running.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(aggregator.failure()).isNull();
        long dropped =
                aggregator.drops().values().stream().mapToLong(Long::longValue).sum();
        assertThat(aggregator.sentPackets() + dropped).as("in = out + dropped").isEqualTo(aggregator.packets());
        assertThat(aggregator.order().held()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatUnitsReorderLeavesAsItCame(TransportKind kind) throws Exception {
        List<DatagramSocket> units = new ArrayList<>();
        List<Unit> paths = new ArrayList<>();
        for (int path = 0; path < UNITS; path++) {
            units.add(opened(Sockets.open()));
            paths.add(new Unit(path, Sockets.address(units.get(path)), path + 1));
        }
        Sprayer sprayer = Sprayer.over(paths)
                .distribution(Distribution.EXACT)
                .transportKind(kind)
                .open();
        Distributor distributor = opened(new Distributor(
                Sockets.loopback(Sockets.FREE), kind, sprayer, Distributor.Key.SOURCE, Distributor.Membership.ALL));
        Aggregator aggregator =
                opened(aggregator().exact(UNITS).transportKind(kind).open());
        CompletableFuture<Void> distributing = Waiting.async(distributor::run);
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);

        for (int i = 0; i < PACKETS; i++) {
            Sockets.send(source, datagram(i), distributor.address());
        }
        Waiting.eventually().until(() -> distributor.packets() == PACKETS);
        distributor.stop();
        distributing.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(sprayer.sentPackets()).isEqualTo(PACKETS + sprayer.markers());
        // One unit after another: as far apart as can be.
        for (int path = UNITS - 1; path >= 0; path--) {
            for (byte[] packet : Sockets.receive(units.get(path), ROUNDS)) {
                Sockets.send(units.get(path), packet, aggregator.address());
            }
        }

        for (int i = 0; i < PACKETS; i++) {
            assertThat(Sockets.receive(sink)).as("datagram %d", i).isEqualTo(datagram(i));
        }
        end(aggregator, aggregating);
        assertThat(aggregator.drops()).containsOnlyKeys(Drop.MARKER);
        assertThat(aggregator.order()).isEqualTo(new Aggregator.Order(0, 0, 0, 0, 0));
    }

    /** The distributor starts anew while a unit stands still, whose backlog comes afterwards. */
    @Test
    void whatAUnitHeldOfAnEarlierStartIsLate() throws Exception {
        int rounds = 40;
        List<DatagramSocket> units = List.of(opened(Sockets.open()), opened(Sockets.open()));
        Aggregator aggregator = opened(aggregator().exact(2).open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);
        List<Unit> paths =
                List.of(new Unit(0, Sockets.address(units.get(0)), 1), new Unit(1, Sockets.address(units.get(1)), 1));
        List<byte[]> backlog = new ArrayList<>();
        int number = 0;
        for (int start = 0; start < 2; start++) {
            try (Sprayer sprayer =
                    Sprayer.over(paths).distribution(Distribution.EXACT).open()) {
                for (int i = 0; i < 2 * rounds; i++) {
                    sprayer.send(ByteBuffer.wrap(datagram(number++)));
                }
            }
            for (byte[] packet : Sockets.receive(units.get(0), rounds)) {
                Sockets.send(units.get(0), packet, aggregator.address());
            }
            backlog.addAll(Sockets.receive(units.get(1), rounds));
        }

        for (byte[] packet : backlog.subList(rounds, 2 * rounds)) {
            Sockets.send(units.get(1), packet, aggregator.address());
        }
        for (byte[] packet : backlog.subList(0, rounds)) {
            Sockets.send(units.get(1), packet, aggregator.address());
        }

        for (int i = 0; i < 2 * rounds; i += 2) {
            assertThat(Sockets.receive(sink)).as("datagram %d", i).isEqualTo(datagram(i));
        }
        for (int i = 2 * rounds; i < number; i++) {
            assertThat(Sockets.receive(sink)).as("datagram %d", i).isEqualTo(datagram(i));
        }
        Waiting.eventually().until(() -> aggregator.packets() == 4 * rounds);
        end(aggregator, aggregating);
        assertThat(aggregator.drops()).isEqualTo(Map.of(Drop.LATE, (long) rounds));
        assertThat(aggregator.order()).isEqualTo(new Aggregator.Order(0, 0, 0, 0, 1));
    }

    @Test
    void aDeadPathCostsItsOwnPacketsAlone() throws Exception {
        Aggregator aggregator =
                opened(aggregator().exact(2).deadline(Duration.ofMillis(1)).open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);

        for (int round = 1; round <= 100; round++) {
            Sockets.send(source, packet(round, 1, 0, "round " + round), aggregator.address());
        }

        for (int round = 1; round <= 100; round++) {
            assertThat(new String(Sockets.receive(sink))).isEqualTo("round " + round);
        }
        end(aggregator, aggregating);
        assertThat(aggregator.order().timeouts()).isEqualTo(3);
    }

    @Test
    void withoutOrderPacketsLeaveAsTheyCome() throws Exception {
        Aggregator aggregator = opened(aggregator().open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);

        Sockets.send(source, packet(2, 0, 0, "second"), aggregator.address());
        Sockets.send(source, packet(1, 1, 1, ""), aggregator.address());
        Sockets.send(source, packet(1, 0, 0, "first"), aggregator.address());

        assertThat(new String(Sockets.receive(sink))).isEqualTo("second");
        assertThat(new String(Sockets.receive(sink))).isEqualTo("first");
        end(aggregator, aggregating);
        assertThat(aggregator.drops()).isEqualTo(Map.of(Drop.MARKER, 1L));
    }

    @Test
    void packetsAreLeftWholeWhereThatIsAskedFor() throws Exception {
        Aggregator aggregator = opened(aggregator().exact(1).anep().open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);
        byte[] packet = packet(1, 0, 0, "whole");

        Sockets.send(source, packet, aggregator.address());

        assertThat(Sockets.receive(sink)).isEqualTo(packet);
        end(aggregator, aggregating);
    }

    @Test
    void whatCannotBeOrderedIsDroppedUnderItsReason() throws Exception {
        Aggregator aggregator = opened(aggregator().exact(2).largest(100).open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);

        Sockets.send(source, new byte[] {1, 2, 3}, aggregator.address());
        Sockets.send(source, packet(0, 0, 0, "round 0"), aggregator.address());
        Sockets.send(source, packet(-1, 0, 0, "round -1"), aggregator.address());
        Sockets.send(source, packet(1, 2, 0, "path 2"), aggregator.address());
        Sockets.send(source, packet(1, 0, 0, "long ".repeat(20)), aggregator.address());
        Sockets.send(source, packet(5, 0, 0, "good"), aggregator.address());
        Sockets.send(source, packet(5, 0, 0, "twice"), aggregator.address());
        Sockets.send(source, packet(Long.MAX_VALUE, 1, 0, "no round either"), aggregator.address());

        Waiting.eventually().until(() -> aggregator.packets() == 8);
        end(aggregator, aggregating);
        assertThat(new String(Sockets.receive(sink))).isEqualTo("good");
        assertThat(aggregator.drops())
                .isEqualTo(Map.of(
                        Drop.MALFORMED, 1L, Drop.NO_ROUND, 3L, Drop.NO_PATH, 1L, Drop.TOO_LONG, 1L, Drop.LATE, 1L));
    }

    @Test
    void strangersAreNotLetIn() throws Exception {
        Aggregator aggregator =
                opened(aggregator().from(List.of(Prefix.parse("10.0.0.0/8"))).open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);

        Sockets.send(source, packet(1, 0, 0, "a"), aggregator.address());

        Waiting.eventually().until(() -> aggregator.packets() == 1);
        end(aggregator, aggregating);
        assertThat(aggregator.drops()).isEqualTo(Map.of(Drop.NOT_ALLOWED, 1L));
    }

    @Test
    void noiseAndRandomRoundsAreSurvived() throws Exception {
        Aggregator aggregator = opened(
                aggregator().exact(3).depth(16).deadline(Duration.ofMillis(1)).open());
        CompletableFuture<Void> aggregating = Waiting.async(aggregator::run);
        Random random = new Random(16);
        int sent = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            Sockets.send(
                    source,
                    random.nextBoolean()
                            ? bytes
                            : packet(
                                    random.nextLong() >>> random.nextInt(64),
                                    random.nextInt(4),
                                    random.nextInt(8),
                                    "x"),
                    aggregator.address());
            sent++;
            if (sent % 500 == 0) { // what the socket's buffer holds
                int all = sent;
                Waiting.eventually().until(() -> aggregator.packets() == all);
            }
        }

        end(aggregator, aggregating);
        assertThat(aggregator.packets()).isEqualTo(20_000);
        assertThat(aggregator.sentPackets()).isPositive();
    }

    @Test
    void datagramsThatFindNoUnitAreCounted() throws Exception {
        InetSocketAddress nobody = Sockets.address(sink);
        Sprayer sprayer = Sprayer.over(List.of(new Unit(0, nobody, 0))).open();
        Distributor distributor = opened(new Distributor(
                Sockets.loopback(Sockets.FREE),
                TransportKind.AUTO,
                sprayer,
                Distributor.Key.PICTURE,
                Distributor.Membership.ALL));
        CompletableFuture<Void> distributing = Waiting.async(distributor::run);

        Sockets.send(source, datagram(1), distributor.address());
        Waiting.eventually().until(() -> distributor.packets() == 1);
        distributor.stop();
        distributing.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(distributor.withoutUnit()).isEqualTo(1);
        assertThat(sprayer.sentPackets()).isZero();
    }
}
