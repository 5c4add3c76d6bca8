package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.Mark;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;

/** What both BPF levels do alike with real packets. */
@Tag("once")
@Tag("namespace")
class BpfPoliciesTest {
    private static final int HEADER = 8 + 12 + 8 + 16;
    private static final int CLASS_AT = 8 + 12 + 4;

    private static TestNet net;
    private static BpfBed bed;

    @BeforeAll
    static void makeNet() throws Exception {
        BpfBed.require();
        net = new TestNet("bpfp");
        // Native XDP hands a redirected packet to an interface that reads packets in batches alone.
        net.namespaces().run(net.server(), "ethtool -K " + TestNet.SERVER_DEVICE + " gro on");
        bed = new BpfBed(net, Level.XDP);
    }

    @AfterAll
    static void removeNet() throws IOException {
        if (bed != null) {
            bed.close();
        }
        if (net != null) {
            net.close();
        }
    }

    static Stream<Arguments> levelsAndServers() {
        return Stream.of(Level.TC, Level.XDP)
                .flatMap(level ->
                        Stream.of(TestNet.SERVER4, TestNet.SERVER6).map(server -> Arguments.of(level, server)));
    }

    static Stream<Level> levels() {
        return Stream.of(Level.TC, Level.XDP);
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void forwardingCountsAndLeavesBytesAlone(Level level, String server) throws Exception {
        bed.begin(level);
        bed.set(Policy.forward());
        byte[] small = BpfBed.bytes(BpfBed.packet(), 0);
        byte[] large = BpfBed.bytes(BpfBed.packet(), 1001);
        assertThat(bed.cross(server, large, small, large)).containsExactly(large, small, large);
        assertThat(bed.counters())
                .isEqualTo(new LevelCounters(
                        3, 0, 3, 0, 3 * HEADER + 2002, 0, 0, HEADER, HEADER + 1001, new long[Policy.MAX_RULES + 1]));
        assertThat(bed.met(Abi.MET_POLICY)).isEqualTo(3);
        assertThat(bed.met(Abi.MET_TYPE_ID)).isEqualTo(1);
        bed.assertAllIsCounted();
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void markingTheClassKeepsAllElseAndBothChecksumsRight(Level level, String server) throws Exception {
        bed.begin(level);
        bed.set(Policy.forward().markClass(200));
        byte[] plain = BpfBed.bytes(BpfBed.packet(), 33);
        byte[] summed = BpfBed.bytes(BpfBed.packet().checksum(), 33);
        byte[] long_ = BpfBed.bytes(BpfBed.packet().checksum(), 1300);
        byte[] without = BpfBed.bytes(new PacketBuilder().typeId(BpfBed.TYPE_ID).serviceKey(BpfBed.KEY), 33);
        List<byte[]> received = bed.cross(server, plain, summed, long_, without);
        assertThat(received).hasSize(4);
        byte[] expected = plain.clone();
        expected[CLASS_AT] = (byte) 200;
        assertThat(received.get(0)).isEqualTo(expected);
        for (byte[] packet : received.subList(1, 3)) {
            assertThat(packet[CLASS_AT]).isEqualTo((byte) 200);
            assertThat(Checksum.sum(ByteBuffer.wrap(packet), 0, packet.length)).isEqualTo(0xFFFF);
        }
        assertThat(received.get(3)).isEqualTo(without);
        assertThat(bed.counters().marked()).isEqualTo(3);
        assertThat(bed.counters().unmarked()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void bytesAnywhereInTheHeaderCanBeMarked(Level level, String server) throws Exception {
        bed.begin(level);
        byte[] plain = BpfBed.bytes(BpfBed.packet(), 7);
        for (int bytes : new int[] {1, 2, 4}) {
            for (int at : new int[] {36, 36 + bytes, HEADER - bytes}) {
                long value = 0xA1B2C3D4L >>> (32 - 8 * bytes);
                bed.set(Policy.forward().mark(new Mark.At(at, bytes, value)));
                byte[] expected = plain.clone();
                for (int i = 0; i < bytes; i++) {
                    expected[at + i] = (byte) (value >>> 8 * (bytes - 1 - i));
                }
                assertThat(bed.cross(server, plain)).as(bytes + " at " + at).containsExactly(expected);
            }
        }
        bed.set(Policy.forward().mark(new Mark.At(HEADER, 4, 1)));
        assertThat(bed.cross(server, plain)).containsExactly(plain);
        assertThat(bed.counters().marked()).isEqualTo(9);
        assertThat(bed.counters().unmarked()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void droppedPacketsEndAndAreCounted(Level level, String server) throws Exception {
        bed.begin(level);
        bed.set(Policy.drop());
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 10);
        assertThat(bed.cross(server, packet, packet)).isEmpty();
        assertThat(bed.counters().dropped()).isEqualTo(2);
        bed.remove(Flow.ANY);
        assertThat(bed.cross(server, packet)).hasSize(1);
        assertThat(bed.met(Abi.MET_NO_POLICY)).isEqualTo(1);
        bed.assertAllIsCounted();
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void theFirstRuleThatIsMetDecides(Level level, String server) throws Exception {
        InetAddress inside = InetAddress.getByName("10.9.1.1");
        InetAddress inside6 = InetAddress.getByName("2001:db8:1::1");
        bed.begin(level);
        bed.set(Policy.forward()
                .rules(
                        List.of(
                                Rule.number(true, Rule.Subject.SIZE, Rule.Comparison.ABOVE, 500),
                                Rule.number(false, Rule.Subject.CLASS, Rule.Comparison.EQUAL, 9),
                                Rule.prefix(true, Rule.Subject.SOURCE, InetAddress.getByName("10.9.0.0"), 16),
                                Rule.prefix(true, Rule.Subject.DESTINATION, InetAddress.getByName("2001:db8:1::"), 48),
                                Rule.number(false, Rule.Subject.STREAM, Rule.Comparison.BELOW, 100)),
                        true));
        byte[] tooLong = BpfBed.bytes(BpfBed.packet(), 500);
        byte[] spared = BpfBed.bytes(packet(9, 1).source(inside), 0);
        byte[] fromInside = BpfBed.bytes(packet(8, 1).source(inside), 0);
        byte[] toInside = BpfBed.bytes(packet(8, 1).destination(inside6), 0);
        byte[] passes = BpfBed.bytes(packet(8, 99), 0);
        byte[] meetsNone = BpfBed.bytes(packet(8, 100), 0);
        assertThat(bed.cross(server, tooLong, spared, fromInside, toInside, passes, meetsNone))
                .containsExactly(spared, passes);
        long[] byRules = new long[Policy.MAX_RULES + 1];
        byRules[0] = 1;
        byRules[2] = 1;
        byRules[3] = 1;
        byRules[Policy.MAX_RULES] = 1;
        assertThat(bed.counters().ruleDrops()).isEqualTo(byRules);
        assertThat(bed.counters().dropped()).isEqualTo(4);
        assertThat(bed.counters().on()).isEqualTo(2);
    }

    private static PacketBuilder packet(int classOfService, int stream) {
        return new PacketBuilder()
                .typeId(BpfBed.TYPE_ID).serviceKey(BpfBed.KEY).classOfService(classOfService, 0).stream(stream);
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void packetsGoToAnotherAddressAndPort(Level level, String server) throws Exception {
        boolean isIpv6 = server.contains(":");
        String other = isIpv6 ? "fd71:2::3" : "10.71.2.3";
        net.namespaces()
                .run(
                        net.server(),
                        "ip addr replace " + other + (isIpv6 ? "/64 nodad" : "/24") + " dev " + TestNet.SERVER_DEVICE);
        DatagramSocket aside = net.namespaces()
                .in(net.server(), () -> new DatagramSocket(new InetSocketAddress(InetAddress.getByName(other), 4000)));
        bed.begin(level);
        try (aside) {
            aside.setSoTimeout(BpfBed.PATIENCE_MS);
            bed.set(Policy.forward()
                    .markClass(3)
                    .fate(new Fate.To(new InetSocketAddress(InetAddress.getByName(other), 4000))));
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 21);
            assertThat(bed.cross(server, packet)).isEmpty();
            byte[] expected = packet.clone();
            expected[CLASS_AT] = 3;
            assertThat(BpfBed.receive(aside)).isEqualTo(expected);
            assertThat(bed.counters().on()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void packetsLeaveThroughTheInterfaceThatAPolicyNames(Level level, String server) throws Exception {
        bed.begin(level);
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 21);
        bed.cross(server, packet); // neighbours are known after this
        Policy redirect = Policy.forward().markClass(3).fate(new Fate.Redirect(TestNet.ROUTER_SERVER_DEVICE));
        ByteBuffer policy = bed.inRouter(() -> AbiEncoder.policy(BpfBed.SLOT, level, redirect, false));
        bed.set(BpfBed.SLOT, Flow.ANY, policy);
        // What the kernel's own routing forwards ends.
        net.namespaces()
                .run(
                        net.router(),
                        "nft add table inet t; nft \"add chain inet t f { type filter hook forward priority 0;"
                                + " policy drop; }\"");
        try {
            bed.send(server, BpfBed.LAST, packet);
            byte[] expected = packet.clone();
            expected[CLASS_AT] = 3;
            assertThat(BpfBed.receive(bed.server)).isEqualTo(expected);
            assertThat(bed.counters().on()).isEqualTo(1);
        } finally {
            net.namespaces().run(net.router(), "nft delete table inet t");
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    void theMostSpecificPolicyDecides(Level level) throws Exception {
        InetAddress client = InetAddress.getByName(TestNet.CLIENT4);
        InetAddress server = InetAddress.getByName(TestNet.SERVER4);
        List<Flow> fromLeast = List.of(
                Flow.ANY,
                new Flow(Flow.Protocol.UDP, client, null, null),
                new Flow(Flow.Protocol.UDP, null, server, null),
                new Flow(Flow.Protocol.UDP, client, server, null),
                new Flow(Flow.Protocol.UDP, null, null, 5L),
                new Flow(Flow.Protocol.UDP, client, server, 5L));
        bed.begin(level);
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 0);
        bed.set(100, new Flow(Flow.Protocol.UDP, server, null, null), Policy.drop(), false);
        bed.set(101, new Flow(Flow.Protocol.UDP, null, null, 6L), Policy.drop(), false);
        for (int i = 0; i < fromLeast.size(); i++) {
            bed.set(i + 1, fromLeast.get(i), Policy.forward().markClass(i + 1), false);
            assertThat(bed.cross(TestNet.SERVER4, packet).get(0)[CLASS_AT]).isEqualTo((byte) (i + 1));
        }
        for (int i = fromLeast.size() - 1; i > 0; i--) {
            bed.remove(fromLeast.get(i));
            assertThat(bed.cross(TestNet.SERVER4, packet).get(0)[CLASS_AT]).isEqualTo((byte) i);
        }
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void malformedPacketsGoOnUntouchedEachInItsCounter(Level level, String server) throws Exception {
        int typeId = 0x4a4e;
        Map<String, Integer> vectors = new LinkedHashMap<>();
        vectors.put("02004a4e00020008", Abi.MET_VERSION);
        vectors.put("01004a4e000200", Abi.MET_SHORT);
        vectors.put("01004a4e00010008", Abi.MET_HEADER_LENGTH);
        vectors.put("01004a4e0002000761626364", Abi.MET_HEADER_LENGTH);
        vectors.put("01004a4e0002004061626364", Abi.MET_TRUNCATED);
        vectors.put("01004a4e0003000c00010000", Abi.MET_OPTION_LENGTH);
        vectors.put("01004a4e0005001400010004000000010a000102", Abi.MET_OPTION_LENGTH);
        vectors.put(
                "01004a4e000a002d00010003000000010a00010200020003000000010a00020700030002598f000068656c6c6e",
                Abi.MET_CHECKSUM);
        vectors.put("01004a4e000400100001000200000001", Abi.MET_OPTION_FORMAT);
        vectors.put("01004a4e0002000a61626364", Abi.MET_NO_KEY);
        vectors.put("01004a4e000300104777000164617461", Abi.MET_OPTION);
        vectors.put("0100001200020008", Abi.MET_TYPE_ID);
        vectors.put(
                "01004a4e000a002d00010003000000010a00010200020003000000010a00020700030002598f000068656c6c6f",
                Abi.MET_NO_KEY);
        bed.begin(level, typeId, true);
        bed.set(Policy.drop());
        for (Map.Entry<String, Integer> vector : vectors.entrySet()) {
            byte[] bytes = HexFormat.of().parseHex(vector.getKey());
            long before = bed.met(vector.getValue());
            bed.send(server, bytes);
            assertThat(BpfBed.receive(bed.server)).isEqualTo(bytes);
            assertThat(bed.met(vector.getValue())).as(vector.getKey()).isEqualTo(before + 1);
        }
        assertThat(bed.met(Abi.MET_SEEN)).isEqualTo(vectors.size());
        bed.assertAllIsCounted();
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void fragmentsGoOnUntouched(Level level, String server) throws Exception {
        bed.begin(level);
        bed.set(Policy.drop());
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 4000);
        assertThat(bed.cross(server, packet)).containsExactly(packet);
        assertThat(bed.met(Abi.MET_FRAGMENT)).isEqualTo(3);
        assertThat(bed.met(Abi.MET_SEEN)).isEqualTo(1);
    }

    /** Values that differ in each byte, so that a packet of two policies would show. */
    @ParameterizedTest
    @MethodSource("levels")
    void aChangeUnderLoadLosesNothingAndMixesNothing(Level level) throws Exception {
        int batches = 100;
        int batch = 50;
        bed.begin(level);
        Policy one = Policy.forward().mark(new Mark.At(32, 4, 0x11111111L));
        Policy two = Policy.forward().mark(new Mark.At(36, 4, 0x22222222L));
        bed.set(one);
        AtomicBoolean goesOn = new AtomicBoolean(true);
        AtomicInteger changes = new AtomicInteger();
        CompletableFuture<Void> storm = Waiting.async(() -> {
            while (goesOn.get()) {
                bed.set(changes.getAndIncrement() % 2 == 0 ? two : one);
            }
        });
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 64);
        byte[][] packets = new byte[batch][];
        Arrays.fill(packets, packet);
        byte[] markedOne = marked(packet, 32, 0x11);
        byte[] markedTwo = marked(packet, 36, 0x22);
        try {
            eventually().until(() -> changes.get() > 1 || storm.isDone());
            for (int i = 0; i < batches; i++) {
                List<byte[]> received = bed.cross(TestNet.SERVER4, packets);
                assertThat(received).hasSize(batch);
                assertThat(received)
                        .allMatch(bytes -> Arrays.equals(bytes, markedOne) || Arrays.equals(bytes, markedTwo));
            }
        } finally {
            goesOn.set(false);
        }
        storm.get(BpfBed.PATIENCE_MS, TimeUnit.MILLISECONDS);
        assertThat(bed.counters().marked()).isEqualTo((long) batches * batch);
    }

    private static byte[] marked(byte[] packet, int at, int octet) {
        byte[] marked = packet.clone();
        Arrays.fill(marked, at, at + 4, (byte) octet);
        return marked;
    }

    @ParameterizedTest
    @MethodSource("levels")
    void tenThousandPoliciesAreFoundAndRemoved(Level level) throws Exception {
        int policies = 10_000;
        bed.begin(level);
        for (int i = 1; i <= policies; i++) {
            bed.set(
                    i,
                    new Flow(Flow.Protocol.UDP, null, null, (long) i),
                    Policy.forward().markClass(i & 255),
                    false);
        }
        for (int stream : new int[] {1, 77, policies}) {
            byte[] packet = BpfBed.bytes(packet(0, stream), 0);
            assertThat(bed.cross(TestNet.SERVER4, packet).get(0)[CLASS_AT]).isEqualTo((byte) stream);
            assertThat(bed.counters(stream).marked()).isEqualTo(1);
        }
        for (int i = 1; i <= policies; i++) {
            bed.remove(new Flow(Flow.Protocol.UDP, null, null, (long) i));
        }
        bed.cross(TestNet.SERVER4, BpfBed.bytes(packet(0, 77), 0));
        assertThat(bed.met(Abi.MET_NO_POLICY)).isEqualTo(1);
    }

    /** What comes up has the client's address, and what XDP leaves to traffic control's program comes up too. */
    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void anOrderedPolicyWaitsUntilWhatWentUpHasSettled(Level level, String server) throws Exception {
        bed.begin(level);
        try (DatagramSocket node = bed.node()) {
            bed.set(BpfBed.SLOT, Flow.ANY, Policy.forward().markClass(3), true);
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 12);
            assertThat(bed.cross(server, packet, packet)).isEmpty();
            DatagramPacket up = new DatagramPacket(new byte[2048], 2048);
            node.receive(up);
            assertThat(Arrays.copyOf(up.getData(), up.getLength())).isEqualTo(packet);
            assertThat(up.getAddress())
                    .isEqualTo(InetAddress.getByName(server.contains(":") ? TestNet.CLIENT6 : TestNet.CLIENT4));
            assertThat(up.getPort()).isEqualTo(bed.client.getLocalPort());
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            assertThat(bed.state().pending()).isEqualTo(2);
            bed.driver().settled(BpfBed.SLOT, 1);
            assertThat(bed.cross(server, packet)).isEmpty();
            bed.driver().settled(BpfBed.SLOT, 2);
            assertThat(bed.cross(server, packet)).hasSize(1);
            assertThat(bed.counters().up()).isEqualTo(3);
            assertThat(bed.counters().on()).isEqualTo(1);
            assertThat(bed.state().pending()).isZero();
        }
    }

    /** Whatever its policy says: so all keys of one begin to go up in one step. */
    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void allPacketsOfASlotThatIsHeldGoUp(Level level, String server) throws Exception {
        bed.begin(level);
        try (DatagramSocket node = bed.node()) {
            bed.set(Policy.forward().markClass(3));
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 12);
            assertThat(bed.cross(server, packet)).hasSize(1);
            bed.driver().settled(BpfBed.SLOT, -UsedSlot.HOLD);
            assertThat(bed.cross(server, packet, packet)).isEmpty();
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            bed.driver().settled(BpfBed.SLOT, UsedSlot.HOLD);
            assertThat(bed.cross(server, packet)).hasSize(1);
            assertThat(bed.counters().up()).isEqualTo(2);
            assertThat(bed.counters().on()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @MethodSource("levelsAndServers")
    void packetsToTheHostItselfGoUp(Level level, String server) throws Exception {
        boolean isIpv6 = server.contains(":");
        InetAddress router = InetAddress.getByName(isIpv6 ? TestNet.ROUTER6 : TestNet.ROUTER4);
        bed.begin(level);
        try (DatagramSocket node = bed.node()) {
            bed.driver().locals(AbiEncoder.addresses(List.of(router)));
            bed.set(Policy.forward().markClass(3));
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 12);
            bed.send(router.getHostAddress(), packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            assertThat(bed.counters().up()).isEqualTo(1);
            bed.set(Policy.drop());
            bed.send(router.getHostAddress(), packet, BpfBed.LAST);
            assertThat(BpfBed.receiveUntilLast(node)).isEmpty();
            assertThat(bed.counters().dropped()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    void bytesBehindThePacketAndLongSumsGoUp(Level level) throws Exception {
        bed.begin(level);
        try (DatagramSocket node = bed.node()) {
            bed.set(Policy.drop());
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 12);
            byte[] trailer = Arrays.copyOf(packet, packet.length + 3);
            bed.send(TestNet.SERVER4, trailer);
            assertThat(BpfBed.receive(node)).isEqualTo(trailer);
            PacketBuilder wide = packet(0, 5);
            for (int i = 0; i < Abi.MAX_OPTIONS; i++) {
                wide.option(0x0100 + i, new byte[0]);
            }
            byte[] complex = BpfBed.bytes(wide, 0);
            bed.send(TestNet.SERVER4, complex);
            assertThat(BpfBed.receive(node)).isEqualTo(complex);
            assertThat(bed.met(Abi.MET_TRAILER)).isEqualTo(1);
            assertThat(bed.met(Abi.MET_COMPLEX)).isEqualTo(1);
            bed.assertAllIsCounted();
        }
    }
}
