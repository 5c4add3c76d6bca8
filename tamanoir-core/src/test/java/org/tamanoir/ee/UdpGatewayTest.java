package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.rtp.RtpReport;
import org.tamanoir.rtp.RtpStatus;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Datagrams that are no ANEP through a service to a far side, and its answers. */
class UdpGatewayTest extends TcpNodeTesting {
    private static final int PATIENCE_MS = 20_000;
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    /** Drops what begins with a 0, sends back what begins with a 1, and flips all else. */
    private final ServiceDefinition flip = TestServices.define("flip", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            int length = packet.payloadLength();
            if (length > 0 && packet.payloadOctet(0) <= 1) {
                return packet.payloadOctet(0) == 0 ? Verdict.DROP : Verdict.REPLY;
            }
            for (int i = packet.payloadOffset(); i < packet.payloadOffset() + length; i++) {
                packet.buffer().put(i, (byte) ~packet.buffer().get(i));
            }
            return Verdict.FORWARD;
        }
    });

    private DatagramSocket far;
    private int rtpClockHz;

    static Stream<TransportKind> transports() {
        return kinds();
    }

    @BeforeEach
    void openFarSide() throws IOException {
        far = open();
    }

    @AfterEach
    void closeFarSide() {
        far.close();
    }

    private static DatagramSocket open() throws IOException {
        DatagramSocket socket = new DatagramSocket(0, LOOPBACK);
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }

    private TestNode start(TransportKind kind, String service) throws IOException {
        settings.transport = kind;
        long key = service.isEmpty() ? ServiceKey.NONE : ServiceKey.of(service);
        settings.udpGateways = List.of(new UdpGateway(
                new InetSocketAddress(LOOPBACK, 0),
                (InetSocketAddress) far.getLocalSocketAddress(),
                key,
                3,
                rtpClockHz,
                Anep.DEFAULT_TYPE_ID));
        return node(flip);
    }

    private static InetSocketAddress gateway(TestNode node) {
        return node.environment.gatewayAddresses().get(0);
    }

    private static void send(DatagramSocket from, InetSocketAddress to, byte... bytes) throws IOException {
        from.send(new DatagramPacket(bytes, bytes.length, to));
    }

    private static DatagramPacket receive(DatagramSocket at) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
        at.receive(packet);
        return packet;
    }

    private static byte[] bytes(DatagramPacket packet) {
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    private static byte[] octets(int length, int octet) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) octet);
        return bytes;
    }

    /** What leaves is counted a moment after it is there. */
    private static void conserves(TestNode node) {
        eventually().untilAsserted(node::assertConserved);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void datagramsCrossTheServiceAndEachSendersAnswersComeBackAsTheyAre(TransportKind kind) throws Exception {
        TestNode node = start(kind, "flip");
        try (DatagramSocket one = open();
                DatagramSocket other = open()) {
            send(one, gateway(node), octets(1200, 5));
            DatagramPacket ofOne = receive(far);
            send(other, gateway(node), octets(40_000, 6));
            DatagramPacket ofOther = receive(far);
            assertThat(bytes(ofOne)).isEqualTo(octets(1200, ~5));
            assertThat(bytes(ofOther)).isEqualTo(octets(40_000, ~6));
            assertThat(ofOne.getSocketAddress()).isNotEqualTo(ofOther.getSocketAddress());
            send(far, (InetSocketAddress) ofOther.getSocketAddress(), octets(700, 8));
            send(far, (InetSocketAddress) ofOne.getSocketAddress(), octets(30, 9));
            DatagramPacket answer = receive(one);
            assertThat(bytes(answer)).isEqualTo(octets(30, 9));
            assertThat(answer.getSocketAddress()).isEqualTo(gateway(node));
            assertThat(bytes(receive(other))).isEqualTo(octets(700, 8));
        }
        conserves(node);
        assertThat(node.traffic().dropped()).isZero();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void anEmptyDatagramEndsByName(TransportKind kind) throws Exception {
        TestNode node = start(kind, "flip");
        try (DatagramSocket client = open()) {
            send(client, gateway(node));
            eventually()
                    .untilAsserted(() ->
                            assertThat(node.environment.traffic().drops()).isEqualTo(Map.of(DropReason.SHORT, 1L)));
        }
        conserves(node);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aServiceDropsAndRepliesAndWithoutOneAllGoesOn(TransportKind kind) throws Exception {
        TestNode node = start(kind, "flip");
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 0));
            send(client, gateway(node), octets(100, 1));
            assertThat(bytes(receive(client))).isEqualTo(octets(100, 1));
        }
        conserves(node);
        assertThat(node.environment.traffic().drops()).isEqualTo(Map.of(DropReason.SERVICE, 1L));
        TestNode without = start(kind, "");
        try (DatagramSocket client = open()) {
            send(client, gateway(without), octets(100, 0));
            assertThat(bytes(receive(far))).isEqualTo(octets(100, 0));
        }
        conserves(without);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void answersAreBoundedByWhatTheirSenderHasSent(TransportKind kind) throws Exception {
        TestNode node = start(kind, "flip");
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 5));
            InetSocketAddress flow = (InetSocketAddress) receive(far).getSocketAddress();
            send(far, flow, octets(357, 1)); // 3 * (100 + 28) are 357 + 28, but for 1.
            eventually()
                    .untilAsserted(() -> assertThat(node.environment.traffic().drops())
                            .isEqualTo(Map.of(DropReason.AMPLIFICATION, 1L)));
            send(far, flow, octets(356, 2));
            assertThat(bytes(receive(client))).isEqualTo(octets(356, 2));
        }
        conserves(node);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFloodOfSendersTakesNothingFromAProvenOne(TransportKind kind) throws Exception {
        TestNode node = start(kind, "flip");
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 5));
            InetSocketAddress flow = (InetSocketAddress) receive(far).getSocketAddress();
            send(far, flow, octets(10, 2));
            receive(client);
            send(client, gateway(node), octets(100, 5));
            receive(far);
            for (int i = 0; i < 1100; i++) {
                try (DatagramSocket stranger = open()) {
                    send(stranger, gateway(node), octets(10, 7));
                    receive(far);
                }
            }
            send(far, flow, octets(10, 3));
            assertThat(bytes(receive(client))).isEqualTo(octets(10, 3));
            send(client, gateway(node), octets(100, 5));
            assertThat(receive(far).getSocketAddress()).isEqualTo(flow);
        }
        conserves(node);
    }

    /** RFC 3550: version 2, payload type 0, of SSRC 7. */
    private static byte[] rtp(int sequence) {
        return ByteBuffer.allocate(172)
                .putShort((short) 0x8000)
                .putShort((short) sequence)
                .putInt(160 * sequence)
                .putInt(7)
                .array();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void rtpIsMeasuredWithTheReportsThatComeBackAndOtherDatagramsEnd(TransportKind kind) throws Exception {
        rtpClockHz = 90_000;
        TestNode node = start(kind, "");
        try (DatagramSocket client = open()) {
            for (int sequence : new int[] {65_534, 65_535, 0, 1, 3}) {
                send(client, gateway(node), rtp(sequence));
                assertThat(bytes(receive(far))).isEqualTo(rtp(sequence));
            }
            byte[] lying = rtp(4);
            lying[0] = (byte) 0xA0; // Padding, of as many octets as the last one says: none.
            send(client, gateway(node), lying);
            send(client, gateway(node), rtp(4));
            DatagramPacket last = receive(far);
            assertThat(bytes(last))
                    .as("what lies about its padding is left out")
                    .isEqualTo(rtp(4));
            byte[] report = ByteBuffer.allocate(32)
                    .putInt(0x81C9_0007)
                    .putInt(99)
                    .putInt(7)
                    .putInt(0x4000_0001)
                    .putInt(65_539)
                    .putInt(16)
                    .array();
            send(far, (InetSocketAddress) last.getSocketAddress(), report);
            assertThat(bytes(receive(client))).isEqualTo(report);
            List<RtpStatus> sources = node.environment.rtp().status();
            assertThat(sources).hasSize(1);
            RtpStatus source = sources.get(0);
            assertThat(source.ssrc()).isEqualTo(7);
            assertThat(source.sender()).isEqualTo(client.getLocalSocketAddress());
            assertThat(source.received()).isEqualTo(5);
            assertThat(source.lost()).isEqualTo(1);
            assertThat(source.report()).isEqualTo(new RtpReport(64, 1, 65_539, 16));
        }
        conserves(node);
        node.assertDrops(Map.of(DropReason.RTP, 1L));
    }
}
