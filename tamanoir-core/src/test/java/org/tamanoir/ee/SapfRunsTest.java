package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.routing.NextHop;
import org.tamanoir.sapf.Sapf;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.sapf.SapfStatistics;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.MovableClock;
import org.tamanoir.support.Seeds;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/**
 * Packets that come with a selector and leave with one where they lie: at far ends, and in counts, they are what they are
 * as whole packets, one by one.
 */
@ExtendWith(UdpTestNode.NoLeaks.class)
class SapfRunsTest {
    /** Sent before the node is waited for: fewer than any socket's buffer takes. */
    private static final int WINDOW = 120;

    private static final int RECEIVERS = 3;
    private static final long MANY_KINDS = 1;
    private static final SapfSettings ACCEPTING = new SapfSettings(true, List.of(), Duration.ofMinutes(10));

    @AfterEach
    void switchOn() {
        System.clearProperty(PacketRuns.SWITCH);
    }

    /** What has come of it: at two hosts and an active node, back at two senders, and what was counted. */
    private record Crossed(
            List<List<String>> at, long in, long made, Map<DropReason, Long> drops, SapfStatistics sapf) {}

    /** Processes nothing while a window is sent, so that packets of one window lie together however fast the node is. */
    private static final class Gated extends PacketRunsTest.Fickle {
        private final Semaphore gate;

        Gated(Semaphore gate) {
            this.gate = gate;
        }

        @Override
        public Verdict process(Packet packet) throws Exception {
            gate.acquire();
            gate.release();
            return super.process(packet);
        }
    }

    static Stream<Arguments> seeds() {
        return Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                .flatMap(kind -> LongStream.of(Seeds.ofCommit(SapfRunsTest.class, 4))
                        .mapToObj(seed -> Arguments.of(kind, seed)));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void anyMixtureCrossesAsWholePacketsDoOneByOne(TransportKind kind, long seed) throws Exception {
        List<List<List<byte[]>>> windows = windows(new SplittableRandom(seed));
        Crossed together = cross(kind, windows);
        System.setProperty(PacketRuns.SWITCH, "off");
        Crossed oneByOne = cross(kind, windows);
        assertThat(together.at).as("seed %s", seed).isEqualTo(oneByOne.at);
        assertThat(together.in).as("seed %s", seed).isEqualTo(oneByOne.in);
        assertThat(together.made).as("seed %s", seed).isEqualTo(oneByOne.made);
        assertThat(together.drops).as("seed %s", seed).isEqualTo(oneByOne.drops);
        assertThat(oneByOne.sapf.packetsSwapped()).isZero();
    }

    /** What a seed draws may lack one of these; that of this test has them all. */
    @Test
    void aMixtureIsDroppedForManyReasonsAndCrossesWhereItLies() throws Exception {
        Crossed together = cross(TransportKind.AUTO, windows(new SplittableRandom(MANY_KINDS)));
        assertThat(together.drops).hasSizeGreaterThan(4);
        assertThat(together.sapf.packetsIn()).as("came with a selector").isGreaterThan(together.in / 2);
        assertThat(together.sapf.packetsOut()).as("left with one").isGreaterThan(together.in / 4);
        assertThat(together.sapf.packetsSwapped()).as("where they lie").isGreaterThan(together.in / 10);
    }

    @Test
    void whatLosesItsSelectorInTheMiddleLeavesWhole() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        Duration lifetime = Duration.ofHours(1); // The node's services are not stuck before.
        MovableClock clock = new MovableClock();
        AtomicBoolean isOver = new AtomicBoolean();
        try (UdpFarEnd receiver = end(kind, new SapfSettings(true, List.of(), lifetime));
                UdpTestNode node = new UdpTestNode(UdpTestNode.config(kind), clock)) {
            node.environment.stuckAfter(lifetime.multipliedBy(2));
            node.environment.sapf(new SapfSettings(true, List.of(receiver.address()), Duration.ofMinutes(10)));
            node.environment.start();
            node.toHost("10.1.0.0/16", receiver.address(), NextHop.Transport.SAME)
                    .service(PacketRunsTest.FICKLE, (service, packet) -> {
                        if (isOver.getAndSet(false)) {
                            clock.advance(lifetime);
                        }
                        return Verdict.FORWARD;
                    });
            PacketBuilder flow = new PacketBuilder()
                    .destination(InetAddress.getByName("10.1.0.1"))
                    .service(PacketRunsTest.FICKLE);
            List<byte[]> packets = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                packets.add(UdpTestNode.bytes(flow.build(ByteBuffer.allocate(64).put(0, (byte) i))));
            }
            try (UdpFarEnd sender = end(kind, new SapfSettings(false, List.of(node.udp()), Duration.ofMinutes(10)))) {
                int sent = 0;
                while (swapped(node) == 0) { // Both have their selectors then.
                    assertThat(sent).as("packets, and none by selectors").isLessThan(100 * packets.size());
                    assertThat(sender.pump(node.udp(), packets, receiver)).containsExactlyElementsOf(packets);
                    sent += packets.size();
                    node.balanced(sent);
                    assertThat(sender.isQuiet()).isTrue();
                    assertThat(receiver.isQuiet()).isTrue();
                }
                long before = swapped(node);
                isOver.set(true);
                assertThat(sender.pump(node.udp(), packets, receiver)).containsExactlyElementsOf(packets);
                assertThat(swapped(node)).as("with a selector that is over").isEqualTo(before);
                node.balanced(sent + packets.size());
            }
        }
    }

    private static long swapped(UdpTestNode node) {
        return Objects.requireNonNull(node.environment.sapfStatistics()).packetsSwapped();
    }

    private static UdpFarEnd end(TransportKind kind, SapfSettings settings) throws Exception {
        Sapf sapf = new Sapf(settings, 8, Anep.DEFAULT_TYPE_ID, System::nanoTime, new Tap());
        return new UdpFarEnd(
                sapf.over(UdpSockets.bind(kind, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))));
    }

    private static Crossed cross(TransportKind kind, List<List<List<byte[]>>> windows) throws Exception {
        List<UdpFarEnd> ends = new ArrayList<>();
        for (int i = 0; i < RECEIVERS; i++) {
            ends.add(end(kind, ACCEPTING));
        }
        List<InetSocketAddress> receivers =
                ends.stream().map(UdpFarEnd::address).toList();
        try (UdpTestNode node = new UdpTestNode(UdpTestNode.config(kind))) {
            node.environment.sapf(new SapfSettings(true, receivers, Duration.ofMinutes(10)));
            node.environment.start();
            SapfSettings asking = new SapfSettings(false, List.of(node.udp()), Duration.ofMinutes(10));
            ends.add(end(kind, asking));
            ends.add(end(kind, asking));
            Semaphore gate = new Semaphore(1);
            node.services.add(new ServiceDefinition(
                    PacketRunsTest.FICKLE, () -> new Gated(gate), ServiceConfig.EMPTY, FailurePolicy.DROP));
            node.toHost("10.1.0.0/16", receivers.get(0), NextHop.Transport.SAME)
                    .toHost("10.2.0.0/16", receivers.get(1), NextHop.Transport.SAME)
                    .via("10.3.0.0/16", receivers.get(2), NextHop.Transport.SAME);
            List<List<String>> at = Stream.generate(() -> (List<String>) new ArrayList<String>())
                    .limit(ends.size())
                    .toList();
            int sent = 0;
            for (List<List<byte[]>> window : windows) {
                gate.acquire();
                try {
                    for (int i = 0; i < window.size(); i++) {
                        ends.get(RECEIVERS + i % 2).send(node.udp(), window.get(i));
                        sent += window.get(i).size();
                    }
                } finally {
                    gate.release();
                }
                node.balanced(sent);
                for (int i = 0; i < ends.size(); i++) {
                    while (!ends.get(i).isQuiet()) {
                        at.get(i).add(HexFormat.of().formatHex(ends.get(i).next()));
                    }
                }
            }
            TrafficSnapshot all = node.balanced(sent);
            return new Crossed(
                    at,
                    all.packetsIn(),
                    all.packetsMade(),
                    all.drops(),
                    Objects.requireNonNull(node.environment.sapfStatistics()));
        } finally {
            ends.forEach(UdpFarEnd::close);
        }
    }

    /** Returns windows of bursts, of the senders by turns. */
    private static List<List<List<byte[]>>> windows(SplittableRandom random) throws Exception {
        List<PacketBuilder> flows = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            flows.add(flow(random));
        }
        PacketBuilder served = new PacketBuilder()
                .destination(InetAddress.getByName("10.1.0.1"))
                .service(PacketRunsTest.FICKLE);
        List<List<List<byte[]>>> windows = new ArrayList<>();
        for (int i = 0; i < 4; i++) { // They bring up the instance, whose thread reads the port by itself from then on.
            windows.add(List.of(List.of(UdpTestNode.packet(served, 120))));
        }
        for (int i = 0; i < 60; i++) {
            List<List<byte[]>> window = new ArrayList<>();
            for (int left = WINDOW;
                    left > 0;
                    left -= window.get(window.size() - 1).size()) {
                window.add(burst(random, flows, 1 + random.nextInt(left)));
            }
            windows.add(window);
        }
        return windows;
    }

    /** Returns a flow whose packets have all the same header. */
    private static PacketBuilder flow(SplittableRandom random) throws Exception {
        PacketBuilder builder = new PacketBuilder()
                .source(InetAddress.getByName("10.2.0.9"))
                .destination(InetAddress.getByName("10." + (1 + random.nextInt(4)) + ".0." + random.nextInt(3)));
        switch (random.nextInt(8)) {
            case 0 -> {}
            case 1 -> builder.serviceKey(4711);
            default -> builder.service(PacketRunsTest.FICKLE);
        }
        if (random.nextBoolean()) {
            builder.classOfService(random.nextBoolean() ? 7 : 8, 0);
        }
        if (random.nextInt(4) > 0) {
            builder.hopBudget(new int[] {0, 1, 2, 300}[random.nextInt(4)]);
        }
        if (random.nextInt(4) == 0) {
            builder.previousNode(random.nextBoolean());
        }
        if (random.nextInt(6) == 0) {
            builder.option(0x0123, new byte[4]);
        }
        return builder;
    }

    private static List<byte[]> burst(SplittableRandom random, List<PacketBuilder> flows, int count) {
        PacketBuilder one = flows.get(random.nextInt(flows.size()));
        PacketBuilder other = flows.get(random.nextInt(flows.size()));
        boolean isQuiet = random.nextInt(3) > 0;
        List<byte[]> burst = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[random.nextInt(12) == 0 ? random.nextInt(200) : 64];
            random.nextBytes(payload);
            if (payload.length > 0) {
                payload[0] = (byte)
                        (!isQuiet && random.nextInt(10) == 0
                                ? random.nextInt(PacketRunsTest.Fickle.KINDS)
                                : PacketRunsTest.Fickle.FORWARD);
            }
            PacketBuilder flow = random.nextInt(20) == 0 ? other : one;
            burst.add(UdpTestNode.bytes(flow.build(ByteBuffer.wrap(payload))));
        }
        return burst;
    }
}
