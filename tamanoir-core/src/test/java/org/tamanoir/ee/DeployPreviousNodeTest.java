package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PreviousNode;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;

/** What nodes write into previous-active-node options. */
class DeployPreviousNodeTest extends TcpNodeTesting {
    /** What the far end gets of this packet; its receiver checks checksums. */
    private Packet cross(@Nullable InetSocketAddress advertised, NextHop.Kind kind, Packet packet) throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).route("0.0.0.0/0", sink.address(), kind);
        node.environment.advertise(advertised);
        try (AnepSender sender = sender(node)) {
            sender.send(packet);
            sender.finish();
        }
        Packet got = sink.await(1).get(0);
        node.assertDrops(Map.of());
        return got;
    }

    private static Packet packet(boolean ipv6, boolean checksum, boolean filled) {
        PacketBuilder builder = packets("mark").previousNode(ipv6);
        Packet packet = (checksum ? builder.checksum() : builder).build(ByteBuffer.allocate(33));
        if (filled) {
            NodeOptions.setPreviousNode(
                    packet, PreviousNode.of(UdpTestNode.at(ipv6 ? "2001:db8::99" : "192.0.2.99", 99)));
        }
        return packet;
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3,    false, 10.1.2.3",
        "2001:db8::7, true,  2001:db8::7",
        "10.1.2.3,    true,  ::",
        "2001:db8::7, false, 0.0.0.0",
        "0.0.0.0,     false, 0.0.0.0",
        "::,          true,  ::",
        "0.0.0.0,     true,  ::"
    })
    void theNextNodeReadsWhereTheCodeServerIs(String advertised, boolean ipv6, String read) throws IOException {
        for (boolean filled : new boolean[] {false, true}) {
            for (boolean checksum : new boolean[] {false, true}) {
                Packet got = cross(
                        UdpTestNode.at(advertised, 4711), NextHop.Kind.ACTIVE_NODE, packet(ipv6, checksum, filled));
                assertThat(got.previousNode()).isEqualTo(UdpTestNode.at(read, 4711));
                assertThat(got.has(Option.CHECKSUM)).isEqualTo(checksum);
                assertThat(got.classOfService()).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void aNodeWithoutCodeServerLeavesNoOtherOne(boolean ipv6) throws IOException {
        Packet got = cross(null, NextHop.Kind.ACTIVE_NODE, packet(ipv6, true, true));
        assertThat(got.previousNode()).isNull();
        int at = got.optionOffset(Option.PREVIOUS_NODE);
        for (int i = 0; i < (ipv6 ? 24 : 12); i++) {
            assertThat(got.buffer().get(at + i)).isZero();
        }
    }

    @Test
    void anOptionOfAnotherSizeIsZeroed() throws IOException {
        byte[] ethernet = ByteBuffer.allocate(16)
                .putInt(Anep.SCHEME_802_3)
                .putLong(0x0200_C0FF_EE01_0000L)
                .putInt(80 << 16)
                .array();
        Packet packet = packets("mark")
                .option(Option.PREVIOUS_NODE.wireType(), ethernet)
                .checksum()
                .build(ByteBuffer.allocate(4));
        Packet got = cross(UdpTestNode.at("10.1.2.3", 4711), NextHop.Kind.ACTIVE_NODE, packet);
        assertThat(got.previousNode()).isNull();
        assertThat(got.buffer().getInt(got.optionOffset(Option.PREVIOUS_NODE))).isZero();
    }

    @Test
    void aHostGetsTheOptionAsItWas() throws IOException {
        Packet got = cross(UdpTestNode.at("10.1.2.3", 4711), NextHop.Kind.HOST, packet(false, true, true));
        assertThat(got.previousNode()).isEqualTo(UdpTestNode.at("192.0.2.99", 99));
    }

    @Test
    void noOptionIsAdded() throws IOException {
        Packet plain = packets("mark").build(ByteBuffer.allocate(4));
        Packet got = cross(UdpTestNode.at("10.1.2.3", 4711), NextHop.Kind.ACTIVE_NODE, plain);
        assertThat(got.has(Option.PREVIOUS_NODE)).isFalse();
        assertThat(got.length()).isEqualTo(plain.length());
    }
}
