package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.Tap;

/** Packets that go together, since they are alike: at far ends, and in counts, they are what they are one by one. */
class PacketRunsTest extends TcpNodeTesting {
    static final String FICKLE = "fickle";

    /** Does with each packet what the first byte of its payload says. */
    public static class Fickle extends Service {
        static final int FORWARD = 0;
        static final int KINDS = 19;

        @Override
        public Verdict process(Packet packet) throws Exception {
            switch (packet.payloadLength() == 0 ? FORWARD : packet.payloadOctet(0)) {
                case 1 -> packet.setClassOfService(7);
                case 2 -> packet.payload().put(packet.payload().position() + 1, (byte) 99);
                case 3 -> packet.payload().get();
                case 4 -> packet.swapEnds();
                case 5 -> {
                    return drop("as told");
                }
                case 6 -> {
                    return Verdict.CONSUME;
                }
                case 7 -> {
                    return Verdict.REPLY;
                }
                case 8 -> emit(packet.copy());
                case 9 -> packet.setPayload(ByteBuffer.allocate(packet.payloadLength() + 50));
                case 10 -> packet.setPayload(ByteBuffer.allocate(packet.payloadLength()));
                case 11 -> {
                    if (!packet.has(Option.TIMESTAMPS)) {
                        packet.addOption(Option.TIMESTAMPS);
                    }
                }
                case 12 -> throw new IllegalStateException("as told");
                case 13 -> packet.setServiceKey(12345);
                case 14 -> {
                    if (packet.hasInternetDestination()) {
                        // Its second network, seen by nobody but who reads the packet again.
                        packet.buffer().put(packet.optionOffset(Option.DESTINATION) + 5, (byte) 2);
                    }
                }
                case 15 -> packet.setPayload(ByteBuffer.allocate(packet.payloadLength() / 2));
                case 16 -> packet.buffer().put(0, (byte) 9); // No ANEP any more.
                case 17 -> {
                    return forwardTo(InetAddress.getByName("10.2.0.1"), 0);
                }
                case 18 -> {
                    for (int i = 0; i < 6; i++) {
                        emit(packet.copy()); // More than a datagram may cause.
                    }
                }
                default -> {}
            }
            return Verdict.FORWARD;
        }
    }

    static ServiceDefinition fickle() {
        return new ServiceDefinition(FICKLE, Fickle::new, ServiceConfig.EMPTY, FailurePolicy.DROP);
    }

    @AfterEach
    void switchOn() {
        System.clearProperty(PacketRuns.SWITCH);
    }

    /** What a stream has come to. */
    private record Crossed(List<List<String>> at, String back, long in, long out, Map<DropReason, Long> drops) {}

    /** Sends these bytes over one stream to two hosts and an active node, and waits until all has left. */
    private Crossed cross(byte[] packets) throws Exception {
        TestSink first = sink();
        TestSink second = sink();
        TestSink third = sink();
        TestNode node = node(fickle())
                .route("10.1.0.0/16", first.address(), NextHop.Kind.HOST)
                .route("10.2.0.0/16", second.address(), NextHop.Kind.HOST)
                .route("10.3.0.0/16", third.address(), NextHop.Kind.ACTIVE_NODE);
        ByteArrayOutputStream back = new ByteArrayOutputStream();
        try (SocketChannel sender = SocketChannel.open(node.address())) {
            ByteBuffer all = ByteBuffer.wrap(packets);
            while (all.hasRemaining()) {
                sender.write(all);
            }
            sender.shutdownOutput();
            back.writeBytes(sender.socket().getInputStream().readAllBytes());
        }
        node.settle().assertConserved();
        List<List<String>> at = Stream.of(first, second, third)
                .map(sink -> sink.awaitEnds().connections().stream()
                        .map(PacketRunsTest::hex)
                        .sorted() // A branch of the stream has its own: either may come first.
                        .toList())
                .toList();
        return new Crossed(
                at,
                hex(back.toByteArray(), back.size()),
                node.traffic().packetsIn(),
                node.traffic().packetsOut(),
                node.traffic().drops());
    }

    private static String hex(TestSink.Arrivals arrivals) {
        return arrivals.packets().stream()
                .map(packet -> hex(packet.buffer().array(), packet.length()))
                .toList()
                .toString();
    }

    private static String hex(byte[] bytes, int length) {
        return HexFormat.of().formatHex(bytes, 0, length);
    }

    @Test
    void mostOfManyAlikePacketsGoTogether() throws Exception {
        AtomicInteger together = new AtomicInteger();
        ServiceDefinition watching = TestServices.define(FICKLE, () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                boolean isInRun = StackWalker.getInstance()
                        .walk(frames ->
                                frames.anyMatch(frame -> frame.getClassName().equals(PacketRuns.class.getName())));
                together.addAndGet(isInRun ? 1 : 0);
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(watching).toHost(sink.address());
        ByteArrayOutputStream packets = new ByteArrayOutputStream();
        for (int i = 0; i < 5000; i++) {
            packets.writeBytes(UdpTestNode.bytes(TestServices.packets(FICKLE).build(TestServices.number(i))));
        }
        try (SocketChannel sender = connect(node)) {
            sender.write(ByteBuffer.wrap(
                    UdpTestNode.bytes(TestServices.packets(FICKLE).build(TestServices.number(0)))));
            sink.await(1); // Those that wait for the connection to their next hop go one by one.
            ByteBuffer all = ByteBuffer.wrap(packets.toByteArray());
            while (all.hasRemaining()) {
                sender.write(all);
            }
            sender.shutdownOutput();
            node.settle().assertConserved();
        }
        assertThat(together).hasValueGreaterThan(2000); // Reads of a few packets have none.
    }

    /** Each packet for itself. */
    private Crossed crossOneByOne(byte[] packets) throws Exception {
        System.setProperty(PacketRuns.SWITCH, "off");
        return cross(packets);
    }

    static PacketBuilder template(SplittableRandom random) throws Exception {
        PacketBuilder builder = new PacketBuilder()
                .source(InetAddress.getByName("10.2.0.9"))
                .destination(InetAddress.getByName("10." + (1 + random.nextInt(4)) + ".0." + random.nextInt(3)));
        switch (random.nextInt(8)) {
            case 0 -> {}
            case 1 -> builder.serviceKey(4711);
            default -> builder.service(FICKLE);
        }
        if (random.nextBoolean()) {
            builder.classOfService(random.nextInt(256), 0);
        }
        if (random.nextBoolean()) {
            builder.stream(random.nextInt(5));
        }
        if (random.nextInt(3) > 0) {
            builder.hopBudget(new int[] {0, 1, 2, 300}[random.nextInt(4)]);
        }
        if (random.nextInt(4) == 0) {
            builder.destinationPort(1 + random.nextInt(2));
        }
        if (random.nextInt(4) == 0) {
            builder.previousNode(random.nextBoolean());
        }
        if (random.nextInt(6) == 0) {
            builder.option(0x0123, new byte[4]);
        }
        if (random.nextInt(12) == 0) {
            builder.typeId(9);
        }
        if (random.nextBoolean()) {
            builder.checksum();
        }
        return builder;
    }

    /** Flows of alike packets, one after the other or by turns, each packet at times with something of its own. */
    private static byte[] stream(SplittableRandom random, int packets) throws Exception {
        ByteBuffer stream = ByteBuffer.allocate(packets * 512);
        PacketBuilder one = template(random);
        PacketBuilder other = template(random);
        for (int i = 0; i < packets; i++) {
            if (random.nextInt(25) == 0) {
                one = random.nextBoolean() ? other : one;
                other = template(random);
            }
            PacketBuilder turn = random.nextInt(20) == 0 ? other : one;
            byte[] payload = new byte[random.nextInt(3) == 0 ? random.nextInt(200) : 64];
            random.nextBytes(payload);
            if (payload.length > 0) {
                payload[0] = (byte) (random.nextInt(10) == 0 ? random.nextInt(Fickle.KINDS) : Fickle.FORWARD);
            }
            int at = stream.position();
            turn.write(stream, ByteBuffer.wrap(payload));
            if (random.nextInt(20) == 0) {
                stream.put(
                        stream.position() - 1, (byte) random.nextInt()); // Payload, and a checksum that may not hold.
            }
            if (random.nextInt(60) == 0 && stream.position() - at > 12) {
                stream.put(at + 9, (byte) random.nextInt(8)); // The type of its first option.
            }
        }
        byte[] bytes = new byte[stream.position()];
        stream.get(0, bytes);
        return bytes;
    }

    static long[] seeds() {
        return Seeds.ofCommit(PacketRunsTest.class, 6);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void anyMixtureCrossesAsPacketsDoOneByOne(long seed) throws Exception {
        byte[] packets = stream(new SplittableRandom(seed), 4000);
        Crossed together = cross(packets);
        assertThat(together).as("seed %s", seed).isEqualTo(crossOneByOne(packets));
        assertThat(together.drops()).as("seed %s", seed).hasSizeGreaterThan(5);
    }

    @Test
    void aServiceThatCannotBeginIsNotCalled() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        ServiceDefinition broken = TestServices.define(FICKLE, () -> new Service() {
            @Override
            public void init(ServiceConfig config) {
                throw new IllegalStateException("as told");
            }

            @Override
            public Verdict process(Packet packet) {
                calls.incrementAndGet();
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(broken).toHost(sink.address());
        try (SocketChannel sender = SocketChannel.open(node.address())) {
            // The second batch opens the way to the next hop.
            for (byte[] batch : List.of(alike(1, true), alike(20, false), alike(500, true), alike(500, true))) {
                sender.write(ByteBuffer.wrap(batch));
            }
            sender.shutdownOutput();
            sink.await(20);
            node.settle();
        }
        assertThat(node.traffic().drops()).isEqualTo(Map.of(DropReason.SERVICE_FAILURE, 1001L));
        assertThat(calls).hasValue(0);
    }

    /** A service adds an option and takes it back: those behind it are seen as they are. */
    @Test
    void whatAServiceHasUndoneIsNotSeenInTheNextPacket() throws Exception {
        ServiceDefinition undoing = TestServices.define(FICKLE, () -> new Service() {
            private int seen;

            @Override
            public Verdict process(Packet packet) {
                if (packet.has(Option.TIMESTAMPS)) {
                    return drop("a phantom");
                }
                if (++seen == 50) {
                    byte[] before = new byte[packet.length()];
                    packet.buffer().get(0, before);
                    packet.addOption(Option.TIMESTAMPS);
                    packet.setPayload(ByteBuffer.allocate(packet.payloadLength() + before.length - packet.length()));
                    packet.buffer().put(0, before);
                }
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(undoing).toHost(sink.address());
        try (SocketChannel sender = SocketChannel.open(node.address())) {
            sender.write(ByteBuffer.wrap(alike(500, true)));
            sender.shutdownOutput();
            sink.await(500);
        }
        assertThat(node.settle().traffic().drops()).isEmpty();
    }

    @Test
    void aTapThatOpensSeesThePacketsThatComeAfter() throws Exception {
        TestSink sink = sink();
        TestNode node = node(fickle()).toHost(sink.address());
        byte[] batch = alike(500);
        try (SocketChannel sender = SocketChannel.open(node.address())) {
            sender.write(ByteBuffer.wrap(batch));
            sink.await(500);
            try (Tap.View<Tap.Captured> view = node.environment.context.tap().arrivals(500)) {
                sender.write(ByteBuffer.wrap(batch));
                for (int i = 0; i < 500; i++) {
                    assertThat(view.take(Waiting.PATIENCE)).as("packet %s", i).isNotNull();
                }
            }
            sink.await(1000);
        }
        node.settle();
    }

    private static byte[] alike(int packets) throws Exception {
        return alike(packets, true);
    }

    private static byte[] alike(int packets, boolean isServed) throws Exception {
        PacketBuilder builder = new PacketBuilder().destination(InetAddress.getByName("10.1.0.1")).stream(1);
        if (isServed) {
            builder.service(FICKLE);
        }
        ByteBuffer stream = ByteBuffer.allocate(packets * 200);
        for (int i = 0; i < packets; i++) {
            builder.write(stream, ByteBuffer.allocate(50));
        }
        byte[] bytes = new byte[stream.position()];
        stream.get(0, bytes);
        return bytes;
    }
}
