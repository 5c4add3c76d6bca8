package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Checksum;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.support.TestNet;

/** Frames with VLAN ID 0, which are no VLAN's: the kernel takes them as the interface's own, and so do levels. */
@Tag("once")
@Tag("namespace")
class PriorityTagTest {
    private static final byte[] PACKET = BpfBed.bytes(BpfBed.packet().checksum(), 50);
    private static final int IPV4 = 20;
    private static final int UDP = 8;

    private TestNet net;
    private PlainWire wire;

    @BeforeEach
    void makeNet() throws Exception {
        BpfBed.require();
        net = new TestNet("bpfp");
        wire = PlainWire.open(net, net.client(), TestNet.CLIENT_DEVICE);
    }

    @AfterEach
    void removeNet() {
        if (wire != null) {
            wire.close();
        }
        if (net != null) {
            net.close();
        }
    }

    static Stream<Arguments> levelsAndTags() {
        return Stream.of(Level.TC, Level.XDP)
                .flatMap(
                        level -> Stream.of("81000000", "8100e000", "88a80000", "88a8000081000000", "81000000".repeat(8))
                                .map(tags -> Arguments.of(level, tags)));
    }

    @ParameterizedTest
    @MethodSource("levelsAndTags")
    void aPriorityTagHidesNothing(Level level, String tags) throws Exception {
        try (BpfBed bed = new BpfBed(net, level).begin(level);
                DatagramSocket node = bed.node()) {
            bed.set(Policy.up());
            wire.send(frame(tags));
            assertThat(BpfBed.receive(node)).isEqualTo(PACKET);

            bed.begin(level);
            bed.set(Policy.drop());
            wire.send(frame(tags));
            bed.send(TestNet.ROUTER4, BpfBed.LAST);
            // The network interfaces' level does not look behind tags in the frame: what is its own goes up.
            List<byte[]> up = BpfBed.receiveUntilLast(node);
            assertThat(up).hasSize(level == Level.XDP ? 1 : 0);
            assertThat(bed.counters().up()).isEqualTo(up.size());
            assertThat(bed.counters().dropped()).isEqualTo(1 - up.size());
            assertThat(bed.cross(TestNet.SERVER4)).isEmpty();
        }
    }

    @Test
    void aFrameOfNothingButTagsEnds() throws Exception {
        try (BpfBed bed = new BpfBed(net, Level.TC).begin(Level.TC)) {
            bed.set(Policy.drop());
            wire.send(frame("81000000".repeat(9)));
            assertThat(bed.cross(TestNet.SERVER4)).isEmpty();
        }
    }

    @Test
    void whatIsBehindATagIsMarkedAndSentOut() throws Exception {
        try (BpfBed bed = new BpfBed(net, Level.TC).begin(Level.TC)) {
            bed.inRouter(() -> {
                bed.set(Policy.forward().markClass(7).fate(new Fate.Redirect(TestNet.ROUTER_SERVER_DEVICE)));
                return null;
            });
            wire.send(frame("81000000"));
            assertThat(bed.cross(TestNet.SERVER4)).hasSize(1);
            assertThat(bed.counters().marked()).isEqualTo(1);
        }
    }

    /** Also behind a priority tag; no such VLAN is there, so that the kernel lets it end. */
    @ParameterizedTest
    @MethodSource("levelsAndTags")
    void framesOfAVlanAreNotLookedAt(Level level, String tags) throws Exception {
        try (BpfBed bed = new BpfBed(net, level).begin(level)) {
            bed.set(Policy.forward());
            wire.send(frame(tags.substring(8) + "81000005"));
            assertThat(bed.cross(TestNet.SERVER4)).isEmpty();
            assertThat(bed.counters().packets()).isZero();
        }
    }

    /** From client to server, without UDP's checksum. */
    private byte[] frame(String tags) throws Exception {
        byte[] between = HexFormat.of().parseHex(tags);
        ByteBuffer frame = ByteBuffer.allocate(12 + between.length + 2 + IPV4 + UDP + PACKET.length);
        frame.put(PlainWire.linkAddress(net, net.router(), TestNet.ROUTER_CLIENT_DEVICE))
                .put(PlainWire.linkAddress(net, net.client(), TestNet.CLIENT_DEVICE))
                .put(between)
                .putShort((short) 0x800);
        int ip = frame.position();
        frame.putShort((short) 0x4500)
                .putShort((short) (IPV4 + UDP + PACKET.length))
                .putInt(0)
                .putShort((short) (64 << 8 | 17))
                .putShort((short) 0)
                .put(InetAddress.getByName(TestNet.CLIENT4).getAddress())
                .put(InetAddress.getByName(TestNet.SERVER4).getAddress());
        frame.putShort(ip + 10, (short) ~Checksum.sum(frame, ip, IPV4));
        frame.putShort((short) 5000).putShort((short) BpfBed.PORT).putShort((short) (UDP + PACKET.length));
        frame.putShort((short) 0).put(PACKET);
        return frame.array();
    }
}
