package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;

/** What traffic control's level alone does, and how it comes and goes. */
@Tag("once")
@Tag("namespace")
class TcDriverTest {
    /** A program that is not the node's, where the build has put it. */
    private static final String FOREIGN = "target/native/bpf/segments.bpf.o";

    private static final String DEVICE = TestNet.ROUTER_CLIENT_DEVICE;
    private static final int OTHER_INSTANCE = 9;
    private static final Flow TCP = new Flow(Flow.Protocol.TCP, null, null, null);

    private static TestNet net;
    private static BpfBed bed;

    @BeforeAll
    static void makeNet() throws Exception {
        BpfBed.require();
        net = new TestNet("bpft");
        bed = new BpfBed(net, Level.TC);
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

    @ParameterizedTest
    @ValueSource(strings = {TestNet.SERVER4, TestNet.SERVER6})
    void everyThirdPacketGoesUp(String server) throws Exception {
        bed.begin(Level.TC);
        try (DatagramSocket node = bed.node()) {
            bed.set(Policy.forward().share(Share.every(3)).markClass(1));
            byte[][] packets = new byte[10][];
            Arrays.setAll(packets, i -> BpfBed.bytes(BpfBed.packet(), i));
            assertThat(bed.cross(server, packets))
                    .extracting(bytes -> bytes.length - packets[0].length)
                    .containsExactly(0, 1, 3, 4, 6, 7, 9);
            for (int i : new int[] {2, 5, 8}) {
                assertThat(BpfBed.receive(node)).isEqualTo(packets[i]);
            }
            assertThat(bed.counters().up()).isEqualTo(3);
            assertThat(bed.counters().marked()).isEqualTo(7);
            assertThat(bed.state()).isEqualTo(new AbiDecoder.State(10, 3, 0));
            bed.assertAllIsCounted();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TestNet.SERVER4, TestNet.SERVER6})
    void theFirstGoUpAndLaterOnesWhileOneIsStillUp(String server) throws Exception {
        bed.begin(Level.TC);
        try (DatagramSocket node = bed.node()) {
            bed.set(Policy.forward().share(Share.first(5)));
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
            assertThat(bed.cross(server, packet, packet, packet, packet, packet, packet, packet))
                    .isEmpty();
            for (int i = 0; i < 7; i++) {
                BpfBed.receive(node);
            }
            bed.driver().settled(BpfBed.SLOT, 6);
            assertThat(bed.cross(server, packet)).isEmpty();
            BpfBed.receive(node);
            bed.driver().settled(BpfBed.SLOT, 2);
            assertThat(bed.cross(server, packet, packet)).hasSize(2);
            assertThat(bed.counters().up()).isEqualTo(8);
            assertThat(bed.counters().on()).isEqualTo(2);
        }
    }

    @Test
    void whatIsToGoUpGoesOnWhileNoNodeIsThere() throws Exception {
        bed.begin(Level.TC, BpfBed.TYPE_ID, true);
        bed.set(Policy.up());
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
        assertThat(bed.cross(TestNet.SERVER4, packet)).containsExactly(packet);
        assertThat(bed.cross(TestNet.SERVER6, packet)).containsExactly(packet);
        assertThat(bed.met(Abi.MET_ABSENT)).isEqualTo(2);
        assertThat(bed.counters().packets()).isZero();
        assertThat(bed.state().up()).isZero();
    }

    @Test
    void packetsWithoutAPolicyGoUpIfTheyAreTo() throws Exception {
        bed.begin(Level.TC, BpfBed.TYPE_ID, true);
        try (DatagramSocket node = bed.node()) {
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
            bed.send(TestNet.SERVER4, packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            assertThat(bed.met(Abi.MET_NO_POLICY)).isEqualTo(1);
        }
        bed.begin(Level.TC);
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
        assertThat(bed.cross(TestNet.SERVER4, packet)).hasSize(1);
    }

    @Test
    void aDestinationOfAnotherFamilyIsLeftToTheNode() throws Exception {
        bed.begin(Level.TC);
        try (DatagramSocket node = bed.node()) {
            bed.set(Policy.forward()
                    .fate(new Fate.To(new InetSocketAddress(InetAddress.getByName(TestNet.SERVER4), 4000))));
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
            bed.send(TestNet.SERVER6, packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            assertThat(bed.counters().up()).isEqualTo(1);
        }
    }

    @Test
    void policiesOfOtherLevelsAreLeftToThem() throws Exception {
        bed.begin(Level.TC);
        bed.set(BpfBed.SLOT, Flow.ANY, AbiEncoder.policy(BpfBed.SLOT, Level.MODULE, Policy.drop(), false));
        byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
        assertThat(bed.cross(TestNet.SERVER4, packet)).containsExactly(packet);
        assertThat(bed.met(Abi.MET_OTHER_LEVEL)).isEqualTo(1);
        bed.assertAllIsCounted();
    }

    /** They stay joined on a virtual interface that says it can cut them. */
    @Test
    void datagramsThatTheKernelJoinedGoUpAndCountEach() throws Exception {
        bed.begin(Level.TC);
        String device = "ethtool -K " + TestNet.CLIENT_DEVICE;
        net.namespaces().run(net.client(), device + " tx on tx-udp-segmentation on >/dev/null");
        try (DatagramSocket node = bed.node()) {
            bed.set(Policy.drop());
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 100);
            int count = 5;
            ByteBuffer joined = ByteBuffer.allocate(count * packet.length);
            for (int i = 0; i < count; i++) {
                joined.put(packet);
            }
            net.namespaces().in(net.client(), () -> {
                SegmentSender.send(TestNet.SERVER4, BpfBed.PORT, joined.array(), packet.length);
                return null;
            });
            for (int i = 0; i < count; i++) {
                assertThat(BpfBed.receive(node)).isEqualTo(packet);
            }
            assertThat(bed.met(Abi.MET_AGGREGATED)).isEqualTo(count);
            assertThat(bed.counters().up()).isEqualTo(count);
            assertThat(bed.state().pending()).isEqualTo(count);
            bed.assertAllIsCounted();
        } finally {
            net.namespaces().run(net.client(), device + " tx off tx-udp-segmentation off >/dev/null");
        }
    }

    /** Sends datagrams as one (UDP_SEGMENT). */
    private static final class SegmentSender {
        private static final int SOL_UDP = 17;
        private static final int UDP_SEGMENT = 103;

        static {
            Native.register(SegmentSender.class, Platform.C_LIBRARY_NAME);
        }

        private SegmentSender() {}

        static native int connect(int fd, byte[] address, int bytes);

        static native int setsockopt(int fd, int level, int option, int[] value, int bytes);

        static void send(String to, int port, byte[] bytes, int segment) throws Exception {
            int fd = LibC.socket(LibC.AF_INET, LibC.SOCK_DGRAM | LibC.SOCK_CLOEXEC, 0);
            try {
                ByteBuffer address = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
                address.putShort((short) LibC.AF_INET)
                        .order(ByteOrder.BIG_ENDIAN)
                        .putShort((short) port);
                address.put(InetAddress.getByName(to).getAddress());
                assertThat(connect(fd, address.array(), 16)).isZero();
                assertThat(setsockopt(fd, SOL_UDP, UDP_SEGMENT, new int[] {segment}, Integer.BYTES))
                        .isZero();
                assertThat(LibC.send(fd, bytes, bytes.length, 0)).isEqualTo(bytes.length);
            } finally {
                LibC.close(fd);
            }
        }
    }

    @Test
    void connectionsGoUpOrOnOrEndAsAWhole() throws Exception {
        bed.begin(Level.TC);
        ServerSocket server = listen(net.server());
        ServerSocket node = listen(net.router());
        try (server;
                node) {
            connect(TestNet.SERVER4).close();
            server.accept().close();
            assertThat(bed.met(Abi.MET_CONNECTIONS)).isEqualTo(1);
            assertThat(bed.met(Abi.MET_NO_POLICY)).isEqualTo(1);

            bed.set(BpfBed.SLOT, TCP, Policy.up(), false);
            connect(TestNet.ROUTER4).close();
            node.accept().close();
            connect(TestNet.ROUTER6).close();
            node.accept().close();
            assertThat(bed.counters().up()).isEqualTo(2);

            bed.set(BpfBed.SLOT, TCP, Policy.forward().share(Share.every(2)), false);
            connect(TestNet.SERVER6).close();
            server.accept().close();
            connect(TestNet.ROUTER4).close();
            node.accept().close();
            assertThat(bed.counters().up()).isEqualTo(3);
            assertThat(bed.counters().on()).isEqualTo(1);

            bed.set(BpfBed.SLOT, TCP, Policy.drop(), false);
            // Closed before its end: the kernel would begin again and again, and count that in tests that follow.
            try (SocketChannel unanswered = net.namespaces().in(net.client(), SocketChannel::open)) {
                unanswered.configureBlocking(false);
                assertThat(unanswered.connect(new InetSocketAddress(TestNet.SERVER4, BpfBed.PORT)))
                        .isFalse();
                eventually()
                        .untilAsserted(
                                () -> assertThat(bed.counters().dropped()).isPositive());
            }
        }
    }

    private static ServerSocket listen(String namespace) throws Exception {
        return net.namespaces().in(namespace, () -> {
            ServerSocket listener = new ServerSocket(BpfBed.PORT);
            listener.setSoTimeout(BpfBed.PATIENCE_MS);
            return listener;
        });
    }

    private static Socket connect(String to) throws Exception {
        return net.namespaces().in(net.client(), () -> {
            Socket socket = new Socket();
            socket.connect(new InetSocketAddress(InetAddress.getByName(to), BpfBed.PORT), BpfBed.PATIENCE_MS);
            return socket;
        });
    }

    @Test
    void mapsAndProgramArePinnedAndGoWithTheNode() throws Exception {
        Path pins = pins(OTHER_INSTANCE);
        TcDriver driver = attached();
        try {
            assertThat(driver.detail()).isEqualTo("tc on " + TestNet.ROUTER_SERVER_DEVICE);
            assertThat(names(pins))
                    .contains("tmn_tc", "tmn_policies", "tmn_states", "clsact-" + index(TestNet.ROUTER_SERVER_DEVICE));
            assertThat(filters(TestNet.ROUTER_SERVER_DEVICE)).contains("tmn_tc");
        } finally {
            close(driver);
        }
        assertThat(pins).doesNotExist();
        assertThat(qdiscs(TestNet.ROUTER_SERVER_DEVICE)).doesNotContain("clsact");
        close(driver);
    }

    @Test
    void whatAKilledNodeLeftIsRemovedByInstance() throws Exception {
        bed.begin(Level.TC);
        TcDriver left = attached();
        int none = bed.inRouter(() -> TcDriver.removeLeftBehind(OTHER_INSTANCE + 1));
        assertThat(none).isZero();
        int removed = bed.inRouter(() -> TcDriver.removeLeftBehind(OTHER_INSTANCE));
        assertThat(removed).isEqualTo(1 + 8 + 1);
        assertThat(pins(OTHER_INSTANCE)).doesNotExist();
        assertThat(qdiscs(TestNet.ROUTER_SERVER_DEVICE)).doesNotContain("clsact");
        assertThat(filters(DEVICE)).contains("tmn_tc");
        close(left);
    }

    @Test
    void foreignFiltersAndTheirQdiscStay() throws Exception {
        String device = TestNet.ROUTER_SERVER_DEVICE;
        TcDriver driver = attached();
        try {
            net.namespaces()
                    .run(
                            net.router(),
                            "tc filter add dev " + device + " egress prio 9 bpf direct-action obj " + FOREIGN
                                    + " sec tc");
            close(driver);
            assertThat(qdiscs(device)).contains("clsact");
            assertThat(net.namespaces().run(net.router(), "tc filter show dev " + device + " egress"))
                    .contains("segments.bpf.o");
            assertThat(filters(device)).doesNotContain("tmn_tc");
            // One that was there before stays although it is empty.
            net.namespaces().run(net.router(), "tc filter del dev " + device + " egress prio 9");
            close(attached());
            assertThat(qdiscs(device)).contains("clsact");
        } finally {
            net.namespaces().run(net.router(), "tc qdisc del dev " + device + " clsact");
        }
    }

    @Test
    void interfacesThatAreNotThereAreNamed() {
        assertThatThrownBy(() -> bed.inRouter(() -> new TcDriver(OTHER_INSTANCE, List.of("nowhere0"))))
                .isInstanceOf(LevelException.class)
                .hasMessage("network interface nowhere0 does not exist: name one that \"ip link\" shows");
    }

    /** What comes in through a port of a bridge comes in through the bridge again. */
    @Test
    void interfacesThroughWhichAPacketComesTwiceAreRefused() {
        net.namespaces()
                .batch(
                        net.router(),
                        "link add upper type bridge",
                        "link add lower type veth peer name other",
                        "link set lower master upper",
                        "link add link other name shared type macvlan");
        try {
            assertThatThrownBy(() -> bed.inRouter(() -> new TcDriver(OTHER_INSTANCE, List.of("upper", "lower"))))
                    .isInstanceOf(LevelException.class)
                    .hasMessage("packets that come in through lower come in through upper again, and policies would act"
                            + " on them twice: name one of the two");
            assertThatThrownBy(() -> bed.inRouter(() -> new TcDriver(OTHER_INSTANCE, List.of("other", "shared"))))
                    .isInstanceOf(LevelException.class)
                    .hasMessageStartingWith("packets that come in through other come in through shared again");
        } finally {
            net.namespaces().batch(net.router(), "link del lower", "link del upper");
        }
    }

    /** Of interfaces that became a bridge's port while packets came in. */
    @Test
    void aPacketThatIsSentUpTwiceIsCountedOnce() throws Exception {
        try (TestNet other = new TestNet("bpfb")) {
            other.namespaces().batch(other.router(), "link add br0 type bridge", "link set br0 up");
            onTwo(other);
        }
    }

    private static void onTwo(TestNet other) throws Exception {
        try (BpfBed two = new BpfBed(other, Level.TC, List.of(DEVICE, "br0"))) {
            two.begin(Level.TC);
            other.namespaces()
                    .batch(
                            other.router(),
                            "link set " + DEVICE + " master br0",
                            "addr flush dev " + DEVICE,
                            "addr add " + TestNet.ROUTER4 + "/24 dev br0");
            try (DatagramSocket node = two.node()) {
                two.set(Policy.up());
                byte[] packet = BpfBed.bytes(BpfBed.packet(), 3);
                two.send(TestNet.SERVER4, packet);
                assertThat(BpfBed.receive(node)).isEqualTo(packet);
                assertThat(two.state()).isEqualTo(new AbiDecoder.State(0, 1, 0));
            }
        }
    }

    @Test
    void twoNodesWorkSideBySide() throws Exception {
        bed.begin(Level.TC);
        TcDriver other = bed.inRouter(() -> new TcDriver(OTHER_INSTANCE, List.of(DEVICE)));
        try {
            bed.inRouter(() -> {
                other.attach(AbiEncoder.hook(
                        AbiEncoder.upMark(OTHER_INSTANCE), BpfBed.TYPE_ID, Set.of(4444), Set.of(), false));
                return null;
            });
            bed.set(Policy.forward());
            assertThat(bed.cross(TestNet.SERVER4, BpfBed.bytes(BpfBed.packet(), 3)))
                    .hasSize(1);
            assertThat(bed.counters().on()).isEqualTo(1);
            assertThat(other.met()[Abi.MET_SEEN]).isZero();
        } finally {
            close(other);
        }
        assertThat(bed.cross(TestNet.SERVER4, BpfBed.bytes(BpfBed.packet(), 3))).hasSize(1);
        assertThat(bed.counters().on()).isEqualTo(2);
    }

    private static TcDriver attached() throws Exception {
        return bed.inRouter(() -> {
            TcDriver driver = new TcDriver(OTHER_INSTANCE, List.of(TestNet.ROUTER_SERVER_DEVICE));
            ByteBuffer hook = AbiEncoder.hook(
                    AbiEncoder.upMark(OTHER_INSTANCE), BpfBed.TYPE_ID, Set.of(BpfBed.PORT), Set.of(), false);
            driver.attach(hook);
            return driver;
        });
    }

    private static void close(TcDriver driver) throws Exception {
        bed.inRouter(() -> {
            driver.close();
            return null;
        });
    }

    private static Path pins(int instance) {
        return Path.of("/sys/fs/bpf/tamanoir-" + Namespaces.inode(net.router()) + "-" + instance);
    }

    private static List<String> names(Path folder) throws Exception {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        }
    }

    private static int index(String device) throws Exception {
        return bed.inRouter(() -> LibC.if_nametoindex(device));
    }

    private static String filters(String device) {
        return net.namespaces().run(net.router(), "tc filter show dev " + device + " ingress");
    }

    private static String qdiscs(String device) {
        return net.namespaces().run(net.router(), "tc qdisc show dev " + device);
    }
}
