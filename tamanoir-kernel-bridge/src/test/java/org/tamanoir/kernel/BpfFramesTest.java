package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.TestNet;

/** Frames that no socket sends, given to the programs by the kernel's test run. */
@Tag("once")
@Tag("namespace")
class BpfFramesTest {
    private static final long SEED = Seeds.ofCommit(BpfFramesTest.class);
    private static final int RANDOM_FRAMES = Seeds.scaled(4_000);
    private static final int LINK = 14;
    private static final int IPV4 = 20;
    private static final int UDP = 8;
    private static final int CLASS_AT = 8 + 12 + 4;
    private static final int ON_TC = -1;
    private static final int ON_XDP = 2;

    private static TestNet net;
    private static BpfBed bed;
    /** Link address of the interface that the programs are at. */
    private static byte[] own;

    @BeforeAll
    static void makeNet() throws Exception {
        BpfBed.require();
        net = new TestNet("bpff");
        bed = new BpfBed(net, Level.XDP);
        own = PlainWire.linkAddress(net, net.router(), TestNet.ROUTER_CLIENT_DEVICE);
    }

    @AfterAll
    static void removeNet() throws Exception {
        if (bed != null) {
            bed.close();
        }
        if (net != null) {
            net.close();
        }
    }

    static Stream<Level> levels() {
        return Stream.of(Level.TC, Level.XDP);
    }

    @ParameterizedTest
    @MethodSource("levels")
    void ipOptionsAreStridden(Level level) throws Exception {
        bed.begin(level);
        bed.set(Policy.forward().markClass(77));
        for (int optionBytes : new int[] {0, 4, 40}) {
            byte[] frame = ipv4(BpfBed.bytes(BpfBed.packet(), 30), optionBytes);
            byte[] out = run(level, frame);
            int udp = LINK + IPV4 + optionBytes;
            assertThat(out[udp + UDP + CLASS_AT]).isEqualTo((byte) 77);
            assertThat(udpSum(out, udp))
                    .as("sum with " + optionBytes + " bytes of options")
                    .isEqualTo(0xffff);
            out[udp + UDP + CLASS_AT] = frame[udp + UDP + CLASS_AT];
            out[udp + 6] = frame[udp + 6];
            out[udp + 7] = frame[udp + 7];
            assertThat(out).isEqualTo(frame);
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    void aMissingUdpChecksumStaysAway(Level level) throws Exception {
        bed.begin(level);
        bed.set(Policy.forward().markClass(77));
        byte[] frame = ipv4(BpfBed.bytes(BpfBed.packet(), 30), 0);
        int udp = LINK + IPV4;
        frame[udp + 6] = 0;
        frame[udp + 7] = 0;
        byte[] expected = frame.clone();
        expected[udp + UDP + CLASS_AT] = 77;
        assertThat(run(level, frame)).isEqualTo(expected);
    }

    /** One of 65,536 checksums looks as if it were yet to be computed: it still is kept right. */
    @ParameterizedTest
    @MethodSource("levels")
    void noChecksumIsTakenForAnother(Level level) throws Exception {
        bed.begin(level);
        bed.set(Policy.forward().markClass(77));
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 30);
        int udp = LINK + IPV4;
        for (int filler = 0; filler < 0x10000; filler += 251) {
            packet[packet.length - 2] = (byte) (filler >>> 8);
            packet[packet.length - 1] = (byte) filler;
            byte[] out = run(level, ipv4(packet, 0));
            assertThat(udpSum(out, udp)).isEqualTo(0xffff);
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    void tagsExtensionHeadersAndBrokenLengthsAreLeftAlone(Level level) throws Exception {
        bed.begin(level);
        bed.set(Policy.drop());
        byte[] plain = ipv4(BpfBed.bytes(BpfBed.packet(), 30), 0);
        byte[] tagged = new byte[plain.length + 4];
        System.arraycopy(plain, 0, tagged, 0, 12);
        tagged[12] = (byte) 0x81;
        tagged[15] = 5;
        System.arraycopy(plain, 12, tagged, 16, plain.length - 12);
        assertThat(run(level, tagged)).isEqualTo(tagged);
        byte[] broken = plain.clone();
        broken[LINK + IPV4 + 4] = (byte) 0xff;
        assertThat(run(level, broken)).isEqualTo(broken);
        byte[] otherPort = plain.clone();
        otherPort[LINK + IPV4 + 3]++;
        assertThat(run(level, otherPort)).isEqualTo(otherPort);
        byte[] extended = ipv6WithHopByHop(BpfBed.bytes(BpfBed.packet(), 30));
        assertThat(run(level, extended)).isEqualTo(extended);
        assertThat(bed.met(Abi.MET_SEEN)).isZero();
    }

    /** A promiscuous interface and a bridge's port let them in; the kernel routes none of them. */
    @ParameterizedTest
    @MethodSource("levels")
    void framesToOthersAndToAllAreLeftAlone(Level level) throws Exception {
        bed.begin(level);
        bed.set(Policy.drop());
        for (String address : List.of("020000000077", "ffffffffffff", "01005e000001", "333300000001")) {
            byte[] frame = ipv4(BpfBed.bytes(BpfBed.packet(), 30), 0);
            System.arraycopy(HexFormat.of().parseHex(address), 0, frame, 0, 6);
            assertThat(run(level, frame)).as(address).isEqualTo(frame);
        }
        assertThat(bed.met(Abi.MET_SEEN)).isZero();
    }

    @ParameterizedTest
    @MethodSource("levels")
    void randomFramesGoOnUntouched(Level level) throws Exception {
        bed.begin(level);
        bed.set(Policy.forward());
        Random random = new Random(SEED);
        for (int i = 0; i < RANDOM_FRAMES; i++) {
            byte[] packet = BpfBed.bytes(BpfBed.packet().checksum(), random.nextInt(300));
            byte[] frame = ipv4(packet, 4 * random.nextInt(11));
            for (int changes = random.nextInt(6); changes > 0; changes--) {
                frame[12 + random.nextInt(frame.length - 12)] = (byte) random.nextInt();
            }
            byte[] cut = Arrays.copyOf(frame, LINK + 40 + random.nextInt(frame.length - LINK - 39));
            assertThat(run(level, cut)).as("seed " + SEED + ", frame " + i).isEqualTo(cut);
        }
        bed.assertAllIsCounted();
        assertThat(bed.met(Abi.MET_SEEN)).isPositive();
    }

    static Stream<Arguments> levelsAndPolicies() throws UnknownHostException {
        Policy rules = Policy.forward()
                .markClass(77)
                .rules(
                        List.of(
                                Rule.number(true, Rule.Subject.CLASS, Rule.Comparison.ABOVE, 100),
                                Rule.number(true, Rule.Subject.STREAM, Rule.Comparison.ABOVE, 6),
                                Rule.number(true, Rule.Subject.SIZE, Rule.Comparison.BELOW, 60),
                                Rule.prefix(true, Rule.Subject.SOURCE, address("10.9.0.0"), 16),
                                Rule.prefix(true, Rule.Subject.DESTINATION, address("10.9.0.0"), 16)),
                        false);
        Flow stream = new Flow(Flow.Protocol.UDP, null, null, 5L);
        Flow source = new Flow(Flow.Protocol.UDP, address("10.71.1.2"), null, null);
        Flow destination = new Flow(Flow.Protocol.UDP, null, address("10.71.2.2"), null);
        Policy three = Policy.forward().markClass(3);
        return Stream.of(
                        Map.of(Flow.ANY, Policy.forward().markClass(77)),
                        Map.of(Flow.ANY, rules),
                        Map.of(Flow.ANY, three, stream, Policy.drop()),
                        Map.of(Flow.ANY, three, source, Policy.drop()),
                        Map.of(destination, three),
                        Map.of(stream, three))
                .flatMap(policies -> Stream.of(Level.TC, Level.XDP).map(level -> Arguments.of(level, policies)));
    }

    /** Programs remember packets: no answer may be another's. Where two bits change, the memo stays the same one. */
    @ParameterizedTest
    @MethodSource("levelsAndPolicies")
    void packetsThatDifferInABitAreNotTakenForAlike(Level level, Map<Flow, Policy> policies) throws Exception {
        bed.begin(level);
        byte[] plain =
                ipv4(BpfBed.bytes(BpfBed.packet().source(address("10.8.1.1")).destination(address("10.8.1.2")), 9), 0);
        List<byte[]> changed = new ArrayList<>();
        for (int bit = 0; bit < plain.length * 8; bit++) {
            for (int other : new int[] {bit, bit + 32, bit + 64}) {
                byte[] frame = flipped(plain, bit);
                changed.add(other == bit || other >= plain.length * 8 ? frame : flipped(frame, other));
            }
        }
        byte[] shorterThanItsHeader = plain.clone();
        shorterThanItsHeader[LINK + IPV4 + 5] = UDP + 20;
        shorterThanItsHeader[LINK + IPV4 + UDP + 7] = 20;
        changed.add(shorterThanItsHeader);
        long[] start = counts(policies.size());
        List<Ran> expected = new ArrayList<>();
        for (byte[] frame : changed) {
            forget(policies);
            expected.add(testRun(level, frame));
        }
        long[] apart = counts(policies.size());
        for (int i = 0; i < changed.size(); i++) {
            testRun(level, plain);
        }
        long[] alike = counts(policies.size());
        for (int i = 0; i < changed.size(); i++) {
            forget(policies);
            testRun(level, plain);
            assertThat(testRun(level, changed.get(i))).as("change %d", i).isEqualTo(expected.get(i));
        }
        long[] inTurns = counts(policies.size());
        for (int i = 0; i < start.length; i++) {
            assertThat(inTurns[i] - alike[i]).as("count %d", i).isEqualTo(apart[i] - start[i] + alike[i] - apart[i]);
        }
        bed.assertAllIsCounted();
    }

    /** A change of policies lets programs look at each packet anew. */
    private static void forget(Map<Flow, Policy> policies) throws LevelException {
        int slot = BpfBed.SLOT;
        for (Map.Entry<Flow, Policy> each : policies.entrySet()) {
            bed.set(slot++, each.getKey(), each.getValue(), false);
        }
    }

    /** All that the level has met, then what policies of the first slots have done. */
    private static long[] counts(int slots) throws LevelException {
        LongStream counts = Arrays.stream(bed.driver().met());
        for (int i = 0; i < slots; i++) {
            LevelCounters counters = bed.counters(BpfBed.SLOT + i);
            counts = LongStream.concat(
                    counts,
                    LongStream.concat(
                            LongStream.of(
                                    counters.packets(),
                                    counters.up(),
                                    counters.on(),
                                    counters.dropped(),
                                    counters.bytes(),
                                    counters.marked(),
                                    counters.unmarked()),
                            Arrays.stream(counters.ruleDrops())));
        }
        return counts.toArray();
    }

    private static byte[] flipped(byte[] frame, int bit) {
        byte[] flipped = frame.clone();
        flipped[bit / 8] ^= (byte) (1 << bit % 8);
        return flipped;
    }

    private static InetAddress address(String address) throws UnknownHostException {
        return InetAddress.getByName(address);
    }

    private static byte[] ipv4(byte[] packet, int optionBytes) {
        int header = IPV4 + optionBytes;
        ByteBuffer frame = ByteBuffer.allocate(LINK + header + UDP + packet.length);
        frame.position(12);
        frame.putShort((short) 0x800);
        frame.put((byte) (0x40 | header / 4)).put((byte) 0).putShort((short) (header + UDP + packet.length));
        frame.putInt(0).put((byte) 64).put((byte) 17).putShort((short) 0);
        frame.putInt(0x0a470102).putInt(0x0a470202);
        frame.put(new byte[optionBytes]);
        putUdp(frame, packet);
        int udp = LINK + header;
        int sum = ~udpSum(frame.array(), udp) & 0xffff;
        frame.putShort(udp + 6, (short) (sum == 0 ? 0xffff : sum));
        return frame.array();
    }

    private static byte[] ipv6WithHopByHop(byte[] packet) {
        ByteBuffer frame = ByteBuffer.allocate(LINK + 40 + 8 + UDP + packet.length);
        frame.position(12);
        frame.putShort((short) 0x86dd).putInt(0x60000000).putShort((short) (8 + UDP + packet.length));
        frame.put((byte) 0).put((byte) 64).put(new byte[32]);
        frame.put((byte) 17).put((byte) 0).put(new byte[] {1, 4, 0, 0, 0, 0});
        putUdp(frame, packet);
        return frame.array();
    }

    private static void putUdp(ByteBuffer frame, byte[] packet) {
        frame.putShort((short) 5000).putShort((short) BpfBed.PORT).putShort((short) (UDP + packet.length));
        frame.putShort((short) 0).put(packet);
    }

    /** One's complement sum of an IPv4 datagram with its pseudo header; 0xffff if its checksum is right. */
    private static int udpSum(byte[] frame, int udp) {
        ByteBuffer bytes = ByteBuffer.wrap(frame);
        int length = bytes.getShort(udp + 4) & 0xffff;
        long sum = 17 + length;
        for (int at = LINK + 12; at < LINK + IPV4; at += 2) {
            sum += bytes.getShort(at) & 0xffff;
        }
        for (int at = udp; at < udp + length; at += 2) {
            sum += at + 1 < udp + length ? bytes.getShort(at) & 0xffff : (bytes.get(at) & 0xff) << 8;
        }
        while (sum >>> 16 != 0) {
            sum = (sum >>> 16) + (sum & 0xffff);
        }
        return (int) sum;
    }

    /** What a program says of a frame, and the frame after it, in hexadecimal digits. */
    private record Ran(int verdict, String frame) {}

    /** The frame after the program, which has to let it go on. */
    private static byte[] run(Level level, byte[] frame) throws LevelException {
        Ran ran = testRun(level, frame);
        assertThat(ran.verdict).isEqualTo(level == Level.TC ? ON_TC : ON_XDP);
        return HexFormat.of().parseHex(ran.frame);
    }

    /**
     * Gives a frame to the program. Traffic control's gets it as from loopback, whose link address is zeros, XDP's from
     * nowhere: a frame to zeros is one to the node for both.
     *
     * <pre>
     *   struct bpf_test_run_opts   size 8, in 8, out 8, bytes in 4, out 4, context in 8, out 8, bytes 4, 4,
     *                              result 4, repeat 4, duration 4, flags 4, processor 4, batch 4
     * </pre>
     */
    private static Ran testRun(Level level, byte[] given) throws LevelException {
        byte[] frame = given.clone();
        boolean isOwn = level == Level.XDP && Arrays.equals(frame, 0, own.length, new byte[own.length], 0, own.length);
        if (isOwn) {
            System.arraycopy(own, 0, frame, 0, own.length);
        }
        int program = level == Level.TC
                ? bed.tc.program()
                : java.util.Objects.requireNonNull(bed.xdp).program();
        int room = frame.length + 256;
        try (Memory options = new Memory(80);
                Memory in = new Memory(frame.length);
                Memory out = new Memory(room)) {
            options.clear();
            in.write(0, frame, 0, frame.length);
            options.setLong(0, 80);
            options.setLong(8, Pointer.nativeValue(in));
            options.setLong(16, Pointer.nativeValue(out));
            options.setInt(24, frame.length);
            options.setInt(28, room);
            options.setInt(60, 1);
            int error = LibBpf.bpf_prog_test_run_opts(program, Pointer.nativeValue(options));
            if (error < 0) {
                throw new LevelException("test run: " + BpfLibC.error(error));
            }
            // Metadata comes before the frame, whose length does not change.
            int metadata = options.getInt(28) - frame.length;
            byte[] result = out.getByteArray(metadata, frame.length);
            if (isOwn) {
                assertThat(result).startsWith(own);
                System.arraycopy(given, 0, result, 0, own.length);
            }
            return new Ran(options.getInt(56), HexFormat.of().formatHex(result));
        }
    }
}
