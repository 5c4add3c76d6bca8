package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.DatagramSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.support.TestNet;

/** How the network interfaces' level comes and goes. */
@Tag("once")
@Tag("namespace")
class XdpDriverTest {
    private TestNet net;

    @BeforeEach
    void makeNet() {
        BpfBed.require();
        net = new TestNet("bpfx");
    }

    @AfterEach
    void removeNet() {
        if (net != null) {
            net.close();
        }
    }

    @Test
    void itIsNativeWhereTheDriverCan() throws Exception {
        try (BpfBed bed = new BpfBed(net, Level.XDP).begin(Level.XDP)) {
            assertThat(bed.driver().detail()).isEqualTo("xdp on rc (native)");
            assertThat(link("rc")).contains("prog/xdp ");
        }
        assertThat(link("rc")).doesNotContain("prog/xdp");
    }

    @Test
    void itIsGenericElse() throws Exception {
        net.namespaces()
                .run(
                        net.router(),
                        "ip link add br0 type bridge; ip link set rc master br0; ip addr flush dev rc;"
                                + "ip addr add 10.71.1.1/24 dev br0; ip addr add fd71:1::1/64 dev br0 nodad;"
                                + "ip link set br0 up");
        try (BpfBed bed = new BpfBed(net, Level.XDP, "br0").begin(Level.XDP)) {
            assertThat(bed.driver().detail()).isEqualTo("xdp on br0 (generic)");
            bed.set(Policy.forward().markClass(6));
            byte[] packet = BpfBed.bytes(BpfBed.packet().checksum(), 50);
            for (String server : List.of(TestNet.SERVER4, TestNet.SERVER6)) {
                assertThat(bed.cross(server, packet)).hasSize(1);
            }
            assertThat(bed.counters().marked()).isEqualTo(2);
            bed.set(Policy.drop());
            assertThat(bed.cross(TestNet.SERVER4, packet)).isEmpty();
        }
    }

    /** The kernel copies frames for XDP then, and traffic control's program gets them without link header. */
    @ParameterizedTest
    @ValueSource(strings = {"bridge", "macvlan"})
    void trafficControlSeesAllBehindItsGenericMode(String kind) throws Exception {
        upper(kind);
        try (BpfBed bed = new BpfBed(net, Level.XDP, "up0").begin(Level.TC);
                DatagramSocket node = bed.node()) {
            bed.begin(Level.XDP);
            byte[] packet = BpfBed.bytes(BpfBed.packet().checksum(), 50);
            for (Level level : List.of(Level.TC, Level.XDP)) {
                bed.begin(level);
                bed.set(Policy.forward().markClass(6));
                for (String server : List.of(TestNet.SERVER4, TestNet.SERVER6)) {
                    assertThat(bed.cross(server, packet)).hasSize(1);
                }
                assertThat(bed.counters().marked()).isEqualTo(2);
                assertThat(bed.counters().packets()).isEqualTo(2);
                bed.set(Policy.drop());
                assertThat(bed.cross(TestNet.SERVER4, packet)).isEmpty();
                assertThat(bed.counters().dropped()).isEqualTo(1);
                assertThat(bed.tc.counters(BpfBed.SLOT)).isEqualTo(bed.driver().counters(BpfBed.SLOT));
            }
            bed.begin(Level.TC);
            bed.set(Policy.up());
            bed.send(TestNet.SERVER4, packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            bed.begin(Level.XDP, BpfBed.TYPE_ID, true);
            bed.send(TestNet.SERVER4, packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
        }
    }

    /** Longer ones than traffic control's program can give their link header back. */
    @ParameterizedTest
    @ValueSource(strings = {"bridge", "macvlan"})
    void longFramesGoUpThere(String kind) throws Exception {
        net.namespaces().batch(net.client(), "link set " + TestNet.CLIENT_DEVICE + " mtu 65535");
        net.namespaces().batch(net.router(), "link set " + TestNet.ROUTER_CLIENT_DEVICE + " mtu 65535");
        upper(kind);
        net.namespaces().batch(net.router(), "link set up0 mtu 65535");
        try (BpfBed bed = new BpfBed(net, Level.XDP, "up0").begin(Level.TC);
                DatagramSocket node = bed.node()) {
            bed.set(Policy.drop());
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 30_000);
            bed.send(TestNet.SERVER4, packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
        }
    }

    /** Puts an interface with the router's addresses over that towards the client. */
    private void upper(String kind) throws Exception {
        String device = TestNet.ROUTER_CLIENT_DEVICE;
        net.namespaces()
                .batch(
                        net.router(),
                        kind.equals("bridge")
                                ? "link add up0 type bridge"
                                : "link add up0 link rc type macvlan mode bridge",
                        kind.equals("bridge") ? "link set rc master up0" : "link show rc",
                        "addr flush dev " + device,
                        "addr add " + TestNet.ROUTER4 + "/24 dev up0",
                        "addr add " + TestNet.ROUTER6 + "/64 dev up0 nodad",
                        "link set up0 up");
        net.namespaces()
                .neighbour(
                        net.client(),
                        TestNet.CLIENT_DEVICE,
                        net.router(),
                        kind.equals("bridge") ? device : "up0",
                        TestNet.ROUTER4,
                        TestNet.ROUTER6);
    }

    @Test
    void anInterfaceThatHasAnotherProgramIsRefusedInOneLine() throws Exception {
        try (BpfBed first = new BpfBed(net, Level.XDP).begin(Level.XDP)) {
            assertThat(first.driver().detail()).contains("native");
            assertThatThrownBy(() -> first.inRouter(() -> {
                        TcDriver tc = new TcDriver(10, List.of("rc"));
                        try (tc;
                                XdpDriver second = new XdpDriver(10, List.of("rc"), tc)) {
                            second.attach(AbiEncoder.hook(
                                    AbiEncoder.upMark(10),
                                    BpfBed.TYPE_ID,
                                    java.util.Set.of(1),
                                    java.util.Set.of(),
                                    false));
                            return null;
                        }
                    }))
                    .isInstanceOf(LevelException.class)
                    .hasMessage("xdp on rc: another XDP program is there; take it away or leave the interface out");
        }
    }

    /** Where this interface's driver hands no metadata on, packets go on coming up. */
    @Test
    void itDecidesWhenAFrameHasShownThatItsWordArrives() throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/net/tun")), "needs /dev/net/tun");
        try (Tap tap = Tap.in(net);
                BpfBed bed = new BpfBed(net, Level.XDP, Tap.NAME).begin(Level.XDP);
                DatagramSocket node = bed.node()) {
            assertThat(bed.driver().whyNot())
                    .isEqualTo(
                            "xdp on tap0: nothing of what XDP writes in front of frames has come to tc: no frame has"
                                    + " come in yet, or the driver has no room for it; then leave the interface out, or use tc");
            bed.set(Policy.drop());
            byte[] first = BpfBed.bytes(BpfBed.packet(), 1);
            tap.datagram(first);
            assertThat(BpfBed.receive(node)).isEqualTo(first);
            assertThat(bed.counters().up()).isEqualTo(1);
            assertThat(bed.driver().whyNot()).as("a question changes nothing").isNotNull();
            proceed(bed);
            boolean decides = bed.driver().whyNot() == null;
            byte[] second = BpfBed.bytes(BpfBed.packet(), 2);
            tap.datagram(second);
            bed.send(TestNet.ROUTER4, BpfBed.LAST);
            assertThat(BpfBed.receiveUntilLast(node)).containsExactly(decides ? new byte[0][] : new byte[][] {second});
            assertThat(bed.counters().dropped()).isEqualTo(decides ? 1 : 0);
        }
    }

    private static void proceed(BpfBed bed) throws Exception {
        bed.inRouter(() -> {
            bed.driver().proceed();
            return null;
        });
    }

    /** Frames to another address are not its own; until it knows a new one, they go up. */
    @Test
    void itFollowsTheLinkAddressOfItsInterface() throws Exception {
        try (BpfBed bed = new BpfBed(net, Level.XDP).begin(Level.XDP);
                DatagramSocket node = bed.node()) {
            bed.set(Policy.drop());
            net.namespaces()
                    .batch(net.router(), "link set " + TestNet.ROUTER_CLIENT_DEVICE + " address 02:00:00:00:00:77");
            net.namespaces()
                    .neighbour(
                            net.client(),
                            TestNet.CLIENT_DEVICE,
                            net.router(),
                            TestNet.ROUTER_CLIENT_DEVICE,
                            TestNet.ROUTER4,
                            TestNet.ROUTER6);
            byte[] packet = BpfBed.bytes(BpfBed.packet(), 50);
            bed.send(TestNet.SERVER4, packet);
            assertThat(BpfBed.receive(node)).isEqualTo(packet);
            proceed(bed);
            bed.send(TestNet.SERVER4, packet);
            bed.send(TestNet.ROUTER4, BpfBed.LAST);
            assertThat(BpfBed.receiveUntilLast(node)).isEmpty();
            assertThat(bed.counters().dropped()).isEqualTo(1);
        }
    }

    @Test
    void trafficControlLooksForNoWordsOfAProgramThatIsGone() throws Exception {
        try (BpfBed bed = new BpfBed(net, Level.XDP).begin(Level.XDP)) {
            assertThat(front(bed)).isNotZero();
            bed.driver().close();
            assertThat(front(bed)).isZero();
        }
    }

    private static int front(BpfBed bed) throws LevelException {
        int hints = bed.tc.tables().descriptors().get("tmn_hints");
        return new BpfMap("tmn_hints", hints, Integer.BYTES, BpfHints.SIZE)
                .get(BpfMap.number(0))
                .getInt(12);
    }

    private String link(String device) {
        return net.namespaces().run(net.router(), "ip -d link show dev " + device);
    }
}
