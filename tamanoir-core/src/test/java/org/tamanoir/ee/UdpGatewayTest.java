package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.rtp.RtpCompanion;
import org.tamanoir.rtp.RtpReport;
import org.tamanoir.rtp.RtpStatus;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Datagrams that are no ANEP through a service to a far side, and its answers. */
class UdpGatewayTest extends UdpGatewayTesting {
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

    private TestNode start(TransportKind kind, String service) throws IOException {
        settings.transport = kind;
        lead((InetSocketAddress) far.getLocalSocketAddress(), service);
        return node(flip);
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

    /** Makes what begins with a 4 longer, 60 octets, and sends back what begins with a 5 as long as its second octet says. */
    private static final ServiceDefinition GROW = TestServices.define("grow", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            boolean replies = packet.payloadOctet(0) == 5;
            packet.setPayload(ByteBuffer.wrap(octets(replies ? packet.payloadOctet(1) : 60, 6)));
            return replies ? Verdict.REPLY : Verdict.FORWARD;
        }
    });

    /** A datagram of 2 octets counts 30, so 90 may go back: 62 and 28. */
    @ParameterizedTest
    @MethodSource("transports")
    void repliesAreBoundedByWhatCame(TransportKind kind) throws Exception {
        settings.transport = kind;
        lead((InetSocketAddress) far.getLocalSocketAddress(), "grow");
        TestNode node = node(GROW);
        try (DatagramSocket client = open()) {
            send(client, gateway(node), (byte) 5, (byte) 63);
            send(client, gateway(node), (byte) 5, (byte) 62);
            assertThat(bytes(receive(client))).isEqualTo(octets(62, 6));
        }
        conserves(node);
        node.assertDrops(Map.of(DropReason.AMPLIFICATION, 1L));
    }

    /** A datagram of 1 octet counts 29, so 87 may go back, whatever its service makes of it. */
    @ParameterizedTest
    @MethodSource("transports")
    void answersAreBoundedByWhatCameBeforeItsService(TransportKind kind) throws Exception {
        settings.transport = kind;
        lead((InetSocketAddress) far.getLocalSocketAddress(), "grow");
        TestNode node = node(GROW);
        try (DatagramSocket client = open()) {
            send(client, gateway(node), (byte) 4);
            DatagramPacket grown = receive(far);
            assertThat(bytes(grown)).isEqualTo(octets(60, 6));
            send(far, (InetSocketAddress) grown.getSocketAddress(), octets(60, 1));
            eventually()
                    .untilAsserted(() ->
                            assertThat(node.dropped(DropReason.AMPLIFICATION)).isEqualTo(1));
            send(far, (InetSocketAddress) grown.getSocketAddress(), octets(59, 2));
            assertThat(bytes(receive(client))).isEqualTo(octets(59, 2));
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

    private static final byte[] GOODBYE =
            ByteBuffer.allocate(8).putInt(0x81CB_0001).putInt(7).array();

    /** A receiver's report of SSRC 7. */
    private static final byte[] REPORT = ByteBuffer.allocate(32)
            .putInt(0x81C9_0007)
            .putInt(99)
            .putInt(7)
            .putInt(0x4000_0001)
            .putInt(65_539)
            .putInt(16)
            .array();

    @ParameterizedTest
    @MethodSource("transports")
    void whatComesByAGatewayForThePortAboveIsOfItsSources(TransportKind kind) throws Exception {
        settings.transport = kind;
        List<DatagramSocket> fars = openPair();
        List<DatagramSocket> clients = openPair();
        List<DatagramSocket> free = openPair();
        settings.udpGateways = List.of(gateway(free.get(0), fars.get(0)), gateway(free.get(1), fars.get(1)));
        free.forEach(DatagramSocket::close);
        TestNode node = node(flip);
        List<InetSocketAddress> gateways = node.environment.gatewayAddresses();
        send(clients.get(0), gateways.get(0), rtp(1));
        send(clients.get(0), gateways.get(0), rtp(2));
        receive(fars.get(0));
        receive(fars.get(0));
        send(clients.get(1), gateways.get(1), GOODBYE);
        DatagramPacket control = receive(fars.get(1));
        send(fars.get(1), (InetSocketAddress) control.getSocketAddress(), REPORT);
        assertThat(bytes(receive(clients.get(1)))).isEqualTo(REPORT);
        assertThat(node.environment.rtp().status())
                .singleElement()
                .matches(source -> source.report() != null && source.hasEnded());
        conserves(node);
        fars.forEach(DatagramSocket::close);
        clients.forEach(DatagramSocket::close);
    }

    private static UdpGateway gateway(DatagramSocket listens, DatagramSocket leadsTo) {
        return new UdpGateway(
                (InetSocketAddress) listens.getLocalSocketAddress(),
                (InetSocketAddress) leadsTo.getLocalSocketAddress(),
                ServiceKey.NONE,
                3,
                90_000,
                Anep.DEFAULT_TYPE_ID);
    }

    /** By the first octet (RFC 7983): STUN, ZRTP, DTLS and TURN share RTP's port, all else is nobody's. */
    @ParameterizedTest
    @MethodSource("transports")
    void whatSharesAPortWithRtpCrossesAndIsCountedApart(TransportKind kind) throws Exception {
        rtpClockHz = 90_000;
        TestNode node = start(kind, "");
        try (DatagramSocket client = open()) {
            int ended = 0;
            InetSocketAddress flow = null;
            for (int first = 0; first < 256; first++) {
                byte[] datagram = octets(1 + first % 30, first);
                send(client, gateway(node), datagram);
                if (first <= 3 || first >= 16 && first <= 79) {
                    DatagramPacket came = receive(far);
                    assertThat(bytes(came)).isEqualTo(datagram);
                    flow = (InetSocketAddress) came.getSocketAddress();
                } else if (first >= 128 && first <= 191) {
                    send(client, gateway(node), rtp(first)); // What begins as RTP, and is none, ends as before.
                    byte[] next = bytes(receive(far));
                    ended += Arrays.equals(next, datagram) ? 0 : 1;
                    assertThat(Arrays.equals(next, datagram) ? bytes(receive(far)) : next)
                            .isEqualTo(rtp(first));
                } else {
                    ended++;
                }
            }
            send(
                    client,
                    gateway(node),
                    new byte[0]); // A keep-alive (RFC 6263, section 4.1), which ends as at any gateway.
            send(far, java.util.Objects.requireNonNull(flow), octets(20, 20));
            assertThat(bytes(receive(client))).isEqualTo(octets(20, 20));
            conserves(node);
            node.assertDrops(Map.of(DropReason.RTP, (long) ended, DropReason.SHORT, 1L));
            assertThat(node.environment.rtp().companions())
                    .isEqualTo(Map.of(
                            RtpCompanion.STUN, 4L,
                            RtpCompanion.ZRTP, 4L,
                            RtpCompanion.DTLS, 45L,
                            RtpCompanion.TURN, 16L));
            assertThat(node.environment.rtp().status()).hasSize(1);
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void strictlyRtpAloneCrosses(TransportKind kind) throws Exception {
        settings.transport = kind;
        InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
        settings.udpGateways = List.of(new UdpGateway(
                new InetSocketAddress(to.getAddress(), 0), to, ServiceKey.NONE, 3, 90_000, true, Anep.DEFAULT_TYPE_ID));
        TestNode node = node(flip);
        try (DatagramSocket client = open()) {
            for (int first : new int[] {0, 16, 20, 64, 80}) {
                send(client, gateway(node), octets(30, first));
            }
            send(client, gateway(node), rtp(1));
            assertThat(bytes(receive(far))).isEqualTo(rtp(1));
        }
        conserves(node);
        node.assertDrops(Map.of(DropReason.RTP, 5L));
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
            send(client, gateway(node), Arrays.copyOf(rtp(4), 11));
            send(client, gateway(node), rtp(4));
            DatagramPacket last = receive(far);
            assertThat(bytes(last))
                    .as("what is shorter than a header is left out")
                    .isEqualTo(rtp(4));
            send(far, (InetSocketAddress) last.getSocketAddress(), REPORT);
            assertThat(bytes(receive(client))).isEqualTo(REPORT);
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
