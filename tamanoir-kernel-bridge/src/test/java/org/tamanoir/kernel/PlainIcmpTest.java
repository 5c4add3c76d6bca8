package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.kernel.PlainPackets.icmp;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.icmp.IcmpMessage;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;

/** ICMP messages through a router with a node: octets are compared as they are on the wire, in front of it and behind. */
@Tag("once")
@Tag("namespace")
class PlainIcmpTest {
    private static final String V4 = TestNet.CLIENT4 + ", " + TestNet.SERVER4;
    private static final String V6 = TestNet.CLIENT6 + ", " + TestNet.SERVER6;
    private static final String NAME = "org.example.Ping";
    private static final int TOS = 46 << 2;
    private static final int TIMEOUT_MS = (int) Waiting.PATIENCE.toMillis();
    private static final int WORD = 0x1234_0007;
    private static final Set<IcmpType> ALL = EnumSet.allOf(IcmpType.class);

    private static PlainBed bed;

    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void makeNet() throws Exception {
        bed = new PlainBed("plaini");
        bed.run(bed.net().server(), "sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0");
    }

    @AfterAll
    static void removeNet() {
        if (bed != null) {
            bed.close();
        }
    }

    @BeforeEach
    void forget() {
        bed.forget();
    }

    @AfterEach
    void stop() {
        bed.stop();
    }

    private void start(Set<IcmpType> types, FailurePolicy onFailure) throws Exception {
        PlainMatch match = new PlainMatch(
                PlainMatch.Protocol.ICMP, null, null, 0, 65_535, types, PlainMatch.ANY, PlainMatch.ANY, null);
        PlainRule rule = new PlainRule(match, NAME, ServiceKey.of(NAME), 3, onFailure);
        PlainConfig config = new PlainConfig(
                new PlainRules(List.of(rule)),
                List.of(TestNet.ROUTER_CLIENT_DEVICE, TestNet.ROUTER_SERVER_DEVICE),
                PlainConfig.DEFAULT_ALERTS);
        bed.start(config);
    }

    private void serve(BiFunction<Packet, IcmpMessage, Verdict> step) {
        IcmpMessage message = new IcmpMessage();
        bed.services().add(TransitNode.definition(NAME, FailurePolicy.DROP, packet -> {
            String wrong = message.read(packet);
            seen.add(wrong != null ? wrong : message.kind() + " " + packet.destinationPort());
            return step.apply(packet, message);
        }));
    }

    private static Verdict change(Packet packet) {
        byte[] payload = new byte[packet.payloadLength()];
        packet.payload().get(payload);
        if (payload.length > IcmpMessage.HEADER_OCTETS) {
            payload[IcmpMessage.HEADER_OCTETS] ^= 0x55;
        }
        packet.setPayload(ByteBuffer.wrap(payload));
        return Verdict.FORWARD;
    }

    /** Sends a packet, padded as Ethernet asks for. */
    private static void send(byte[] packet) {
        byte[] padded = Arrays.copyOf(packet, Math.max(packet.length, 46));
        bed.send(padded);
    }

    private static List<byte[]> arrive(PlainWire wire, int count, String from) {
        return wire.packets(count, packet -> isFrom(packet, from));
    }

    /** Returns whether it is an ICMP message from this address. */
    private static boolean isFrom(byte[] packet, String address) {
        byte[] bytes = PlainPackets.address(address);
        boolean isV4 = bytes.length == 4;
        int at = isV4 ? 12 : 8;
        return packet[0] >>> 4 == (isV4 ? 4 : 6)
                && packet[isV4 ? 9 : 6] == (isV4 ? PlainPackets.ICMP_V4 : PlainPackets.ICMP_V6)
                && Arrays.equals(packet, at, at + bytes.length, bytes, 0, bytes.length);
    }

    private static byte[] data(int number, int octets) {
        byte[] data = new byte[octets];
        Arrays.fill(data, (byte) number);
        return data;
    }

    private static IcmpType request() {
        return IcmpType.ECHO_REQUEST;
    }

    private static byte[] echo(String from, String to, int hops, byte[] data) {
        return icmp(from, to, request().number(from.indexOf(':') >= 0), 0, WORD, TOS, hops, data);
    }

    @ParameterizedTest
    @CsvSource({V4, V6})
    void messagesGoThroughTheServiceAndOnAsFromARouter(String from, String to) throws Exception {
        serve((packet, message) -> change(packet));
        start(Set.of(request()), FailurePolicy.PASS);
        int longest = 1500 - (from.indexOf(':') < 0 ? 28 : 48);
        List<byte[]> expected = new ArrayList<>();
        for (int octets : new int[] {0, 1, 2, 3, 55, 56, 503, 504, 505, 1015, 1016, 1017, longest - 8, longest}) {
            byte[] data = data(octets, octets);
            send(echo(from, to, 64, data));
            if (octets > 0) {
                data[0] ^= 0x55;
            }
            expected.add(echo(from, to, 63, data));
        }
        List<byte[]> arrived = arrive(bed.server(), expected.size(), from);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(PlainPackets.comparable(arrived.get(i)))
                    .as("message %s", i)
                    .isEqualTo(PlainPackets.comparable(expected.get(i)));
        }
        arrive(bed.client(), expected.size(), to); // The far end answers nothing whose checksum is wrong.
        assertThat(seen).hasSize(expected.size()).containsOnly("ECHO_REQUEST " + (from.indexOf(':') < 0 ? 8 : 128));
        assertThat(bed.balanced(expected.size()).packetsOut()).isEqualTo(expected.size());
        assertThat(bed.plain().status().rules())
                .containsExactly(new PlainTraffic.RuleCount(expected.size(), expected.size()));
    }

    @ParameterizedTest
    @CsvSource({TestNet.SERVER4, TestNet.SERVER6})
    void hostsReachEachOtherThroughTheService(String to) throws Exception {
        serve((packet, message) -> Verdict.FORWARD);
        start(ALL, FailurePolicy.PASS);
        InetAddress far = InetAddress.getByName(to);
        assertThat(bed.net().namespaces().in(bed.net().client(), () -> far.isReachable(TIMEOUT_MS)))
                .isTrue();
        assertThat(seen.stream().map(each -> each.replaceFirst(" .*", ""))).startsWith("ECHO_REQUEST", "ECHO_REPLY");
    }

    @ParameterizedTest
    @CsvSource({TestNet.SERVER4, TestNet.SERVER6})
    void anErrorReachesItsSocketAndSaysWhatItIsAbout(String to) throws Exception {
        Queue<Integer> ports = new ConcurrentLinkedQueue<>();
        serve((packet, message) -> {
            ports.add(message.originalDestinationPort());
            return Verdict.FORWARD;
        });
        start(Set.of(IcmpType.UNREACHABLE), FailurePolicy.PASS);
        try (DatagramSocket socket = bed.net().namespaces().in(bed.net().client(), () -> new DatagramSocket())) {
            socket.setSoTimeout(TIMEOUT_MS);
            socket.connect(new InetSocketAddress(InetAddress.getByName(to), 5555));
            socket.send(new DatagramPacket(new byte[20], 20));
            assertThatThrownBy(() -> socket.receive(new DatagramPacket(new byte[20], 20)))
                    .isInstanceOf(PortUnreachableException.class);
        }
        assertThat(ports).containsExactly(5555);
    }

    @ParameterizedTest
    @CsvSource({V4 + ", 3, 4, 1280", V6 + ", 2, 0, 1280"})
    void aPacketTooBigGoesThrough(String from, String to, int type, int code, int mtu) throws Exception {
        serve((packet, message) -> {
            seen.add("mtu " + message.mtu());
            return Verdict.FORWARD;
        });
        start(Set.of(IcmpType.PACKET_TOO_BIG), FailurePolicy.PASS);
        byte[] original = PlainPackets.udp(to, from, 7000, 5004, 0, 60, new byte[0], data(1, 20));
        send(icmp(from, to, type, code, mtu, 0, 64, original));
        byte[] expected = icmp(from, to, type, code, mtu, 0, 63, original);
        assertThat(PlainPackets.comparable(arrive(bed.server(), 1, from).get(0)))
                .isEqualTo(PlainPackets.comparable(expected));
        assertThat(seen).contains("mtu " + mtu);
    }

    @Test
    void whatIsNotToComeUpIsOctetIdentical() throws Exception {
        serve((packet, message) -> Verdict.DROP);
        start(Set.of(request()), FailurePolicy.DROP);
        List<byte[]> sent = new ArrayList<>();
        for (String[] ends : new String[][] {V4.split(", "), V6.split(", ")}) {
            boolean isIpv6 = ends[0].indexOf(':') >= 0;
            byte[] wrong = echo(ends[0], ends[1], 64, data(1, 1000));
            wrong[wrong.length - 1]++;
            sent.add(wrong);
            sent.add(icmp(ends[0], ends[1], isIpv6 ? 129 : 0, 0, WORD, TOS, 64, data(1, 40))); // type
            sent.add(icmp(ends[0], ends[1], isIpv6 ? 139 : 13, 0, WORD, TOS, 64, data(1, 40))); // no rule can be for it
        }
        byte[] echo4 = echo(TestNet.CLIENT4, TestNet.SERVER4, 64, data(1, 48));
        byte[] message4 = Arrays.copyOfRange(echo4, 20, echo4.length);
        byte[] source4 = PlainPackets.address(TestNet.CLIENT4);
        byte[] destination4 = PlainPackets.address(TestNet.SERVER4);
        sent.add(PlainPackets.ip(source4, destination4, 1, TOS, 64, PlainPackets.ALERT_V4, message4)); // option
        byte[] fragment = echo4.clone();
        fragment[6] = 0x20; // more fragments
        sent.add(PlainPackets.sealed(fragment));
        sent.add(PlainPackets.ip(source4, destination4, 1, TOS, 64, new byte[0], new byte[] {8, 0, -9, -1})); // length
        sent.forEach(PlainIcmpTest::send);
        List<byte[]> arrived = bed.server()
                .packets(sent.size(), packet -> isFrom(packet, TestNet.CLIENT4) || isFrom(packet, TestNet.CLIENT6));
        for (int i = 0; i < sent.size(); i++) {
            assertThat(arrived.get(i)).as("packet %s", i).isEqualTo(PlainPackets.routed(sent.get(i)));
        }
        assertThat(bed.balanced(0).dropped()).isZero();
        assertThat(bed.plain().status().met())
                .containsEntry("up", 0L)
                .containsEntry("checksum", 2L)
                .containsEntry("options", 1L)
                .containsEntry("fragment", 1L)
                .containsEntry("length", 1L);
    }

    @Test
    void whatIsForTheRouterOrHasNoHopLeftIsTheKernels() throws Exception {
        serve((packet, message) -> Verdict.DROP);
        start(ALL, FailurePolicy.DROP);
        send(echo(TestNet.CLIENT4, TestNet.ROUTER4, 64, data(1, 40)));
        send(echo(TestNet.CLIENT6, TestNet.ROUTER6, 64, data(1, 40)));
        assertThat(arrive(bed.client(), 1, TestNet.ROUTER4).get(0)[20]).isZero();
        assertThat(arrive(bed.client(), 1, TestNet.ROUTER6).get(0)[40]).isEqualTo((byte) 129);
        send(echo(TestNet.CLIENT4, TestNet.SERVER4, 1, data(1, 40)));
        assertThat(arrive(bed.client(), 1, TestNet.ROUTER4).get(0)[20]).isEqualTo((byte) 11);
        assertThat(bed.plain().status().met()).containsEntry("local", 2L).containsEntry("hops", 1L);
    }

    @ParameterizedTest
    @CsvSource({V4, V6})
    void aServiceThatFailsPassesMessagesAsTheyCame(String from, String to) throws Exception {
        serve((packet, message) -> {
            packet.payload().putLong(99);
            throw new IllegalStateException("as the test says");
        });
        start(Set.of(request()), FailurePolicy.PASS);
        send(echo(from, to, 64, data(1, 50)));
        assertThat(PlainPackets.comparable(arrive(bed.server(), 1, from).get(0)))
                .isEqualTo(PlainPackets.comparable(echo(from, to, 63, data(1, 50))));
        assertThat(bed.balanced(1).dropped()).isZero();
    }

    @ParameterizedTest
    @CsvSource({V4, V6})
    void aServiceCanAnswerInPlaceOfTheFarEnd(String from, String to) throws Exception {
        boolean isIpv6 = from.indexOf(':') >= 0;
        int reply = IcmpType.ECHO_REPLY.number(isIpv6);
        serve((packet, message) -> {
            packet.payload().put((byte) reply);
            return Verdict.REPLY;
        });
        start(Set.of(request()), FailurePolicy.PASS);
        send(echo(from, to, 64, data(1, 50)));
        assertThat(PlainPackets.comparable(arrive(bed.client(), 1, to).get(0)))
                .isEqualTo(PlainPackets.comparable(icmp(to, from, reply, 0, WORD, TOS, 64, data(1, 50))));
    }

    @Test
    void whatIsNoMessageAnyMoreDoesNotLeave() throws Exception {
        serve((packet, message) -> {
            packet.setPayload(ByteBuffer.allocate(7));
            return Verdict.FORWARD;
        });
        start(Set.of(request()), FailurePolicy.PASS);
        send(echo(TestNet.CLIENT4, TestNet.SERVER4, 64, data(1, 50)));
        assertThat(bed.balanced(1).drops()).isEqualTo(Map.of(DropReason.SEND_ERROR, 1L));
    }
}
