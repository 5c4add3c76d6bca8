package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Datagrams that go together, since they are alike: at far ends, and in counts, they are what they are one by one. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class DatagramRunsTest {
    /** Sent before the node is waited for: fewer than any socket's buffer takes. */
    private static final int WINDOW = 150;

    @AfterEach
    void switchOn() {
        System.clearProperty(PacketRuns.SWITCH);
    }

    /** Datagrams of one sender that leave it together. */
    private record Burst(int sender, List<byte[]> datagrams) {}

    /** What has come of it: at two hosts and an active node, back at two senders, and what was counted. */
    private record Crossed(List<List<String>> at, TrafficSnapshot traffic) {}

    static Stream<Arguments> seeds() {
        return Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                .flatMap(kind -> LongStream.of(Seeds.ofCommit(DatagramRunsTest.class, 4))
                        .mapToObj(seed -> Arguments.of(kind, seed)));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void anyMixtureCrossesAsDatagramsDoOneByOne(TransportKind kind, long seed) throws Exception {
        List<List<Burst>> windows = windows(new SplittableRandom(seed));
        Crossed together = cross(kind, windows);
        System.setProperty(PacketRuns.SWITCH, "off");
        Crossed oneByOne = cross(kind, windows);
        assertThat(together.traffic).as("seed %s", seed).isEqualTo(oneByOne.traffic);
        assertThat(together.at).as("seed %s", seed).isEqualTo(oneByOne.at);
        assertThat(together.traffic.drops()).as("seed %s", seed).hasSizeGreaterThan(5);
    }

    private static Crossed cross(TransportKind kind, List<List<Burst>> windows) throws Exception {
        List<UdpFarEnd> ends = new ArrayList<>();
        try (UdpTestNode node = UdpTestNode.start(kind)) {
            for (int i = 0; i < 5; i++) {
                ends.add(new UdpFarEnd(kind, "127.0.0.1"));
            }
            node.services.add(PacketRunsTest.fickle());
            node.toHost("10.1.0.0/16", ends.get(0).address(), NextHop.Transport.SAME)
                    .toHost("10.2.0.0/16", ends.get(1).address(), NextHop.Transport.SAME)
                    .via("10.3.0.0/16", ends.get(2).address(), NextHop.Transport.SAME);
            List<List<String>> at = Stream.generate(() -> (List<String>) new ArrayList<String>())
                    .limit(ends.size())
                    .toList();
            int sent = 0;
            for (List<Burst> window : windows) {
                for (Burst burst : window) {
                    ends.get(3 + burst.sender).send(node.udp(), burst.datagrams);
                    sent += burst.datagrams.size();
                }
                node.balanced(sent);
                for (int i = 0; i < ends.size(); i++) {
                    while (!ends.get(i).isQuiet()) {
                        at.get(i).add(HexFormat.of().formatHex(ends.get(i).next()));
                    }
                }
            }
            return new Crossed(at, node.balanced(sent));
        } finally {
            ends.forEach(UdpFarEnd::close);
        }
    }

    /** Returns windows of bursts; the first ones bring up the instance, whose thread reads the port by itself from then on. */
    private static List<List<Burst>> windows(SplittableRandom random) throws Exception {
        List<List<Burst>> windows = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            windows.add(List.of(new Burst(0, alike(1))));
        }
        PacketBuilder one = PacketRunsTest.template(random);
        PacketBuilder other = PacketRunsTest.template(random);
        for (int i = 0; i < 40; i++) {
            List<Burst> window = new ArrayList<>();
            for (int left = WINDOW;
                    left > 0;
                    left -= window.get(window.size() - 1).datagrams.size()) {
                if (random.nextInt(3) == 0) {
                    one = random.nextBoolean() ? other : one;
                    other = PacketRunsTest.template(random);
                }
                window.add(new Burst(random.nextInt(2), burst(random, one, other, 1 + random.nextInt(left))));
            }
            windows.add(window);
        }
        return windows;
    }

    private static List<byte[]> burst(SplittableRandom random, PacketBuilder one, PacketBuilder other, int count) {
        List<byte[]> burst = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[random.nextInt(12) == 0 ? random.nextInt(200) : 64];
            random.nextBytes(payload);
            if (payload.length > 0) {
                payload[0] = (byte)
                        (random.nextInt(15) == 0
                                ? random.nextInt(PacketRunsTest.Fickle.KINDS)
                                : PacketRunsTest.Fickle.FORWARD);
            }
            byte[] datagram =
                    UdpTestNode.bytes((random.nextInt(20) == 0 ? other : one).build(ByteBuffer.wrap(payload)));
            burst.add(random.nextInt(20) == 0 ? spoilt(random, datagram) : datagram);
        }
        return burst;
    }

    private static byte[] spoilt(SplittableRandom random, byte[] datagram) {
        switch (random.nextInt(4)) {
            case 0 -> {
                return Arrays.copyOf(datagram, random.nextInt(datagram.length)); // Cut off, or empty.
            }
            case 1 -> {
                return Arrays.copyOf(datagram, datagram.length + 1 + random.nextInt(80)); // Something behind it.
            }
            case 2 -> datagram[datagram.length - 1] ^= 1; // A checksum that may not hold.
            default -> datagram[9] = (byte) random.nextInt(8); // The type of its first option.
        }
        return datagram;
    }

    @Test
    void aTapThatOpensSeesTheDatagramsThatComeAfter() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1")) {
            node.services.add(PacketRunsTest.fickle());
            node.toHost("10.1.0.0/16", receiver.address(), NextHop.Transport.SAME);
            List<byte[]> datagrams = alike(WINDOW);
            sender.pump(node.udp(), datagrams, receiver);
            try (Tap.View<Tap.Captured> view = node.environment.context.tap().arrivals(WINDOW)) {
                sender.pump(node.udp(), datagrams, receiver);
                for (int i = 0; i < WINDOW; i++) {
                    assertThat(view.take(Waiting.PATIENCE)).as("datagram %s", i).isNotNull();
                }
            }
        }
    }

    @Test
    void aRouteThatChangesTakesTheDatagramsThatComeAfter() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd before = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd after = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1")) {
            node.services.add(PacketRunsTest.fickle());
            List<byte[]> datagrams = alike(WINDOW);
            node.toHost("10.1.0.0/16", before.address(), NextHop.Transport.SAME);
            assertThat(sender.pump(node.udp(), datagrams, before)).containsExactlyElementsOf(datagrams);
            node.toHost("10.1.0.0/24", after.address(), NextHop.Transport.SAME);
            assertThat(sender.pump(node.udp(), datagrams, after)).containsExactlyElementsOf(datagrams);
            eventually().until(() -> node.environment.traffic().packetsOut() == 2 * WINDOW);
        }
    }

    private static List<byte[]> alike(int packets) throws Exception {
        PacketBuilder builder = new PacketBuilder()
                .destination(InetAddress.getByName("10.1.0.1")).stream(1).service(PacketRunsTest.FICKLE);
        return Stream.generate(() -> UdpTestNode.packet(builder, 120))
                .limit(packets)
                .toList();
    }
}
