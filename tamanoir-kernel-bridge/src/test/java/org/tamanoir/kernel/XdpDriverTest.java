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
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.support.TestNet;

/** How the network interfaces' level comes and goes. */
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
            bed.driver().proceed();
            boolean decides = bed.driver().whyNot() == null;
            byte[] second = BpfBed.bytes(BpfBed.packet(), 2);
            tap.datagram(second);
            bed.send(TestNet.ROUTER4, BpfBed.LAST);
            assertThat(BpfBed.receiveUntilLast(node)).containsExactly(decides ? new byte[0][] : new byte[][] {second});
            assertThat(bed.counters().dropped()).isEqualTo(decides ? 1 : 0);
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
