package org.tamanoir.ee;

import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.support.Ports;
import org.tamanoir.transport.TransportKind;

/** A far side, and what is sent to it through a gateway for UDP. */
abstract class UdpGatewayTesting extends TcpNodeTesting {
    static final int PATIENCE_MS = 40_000;
    static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    DatagramSocket far;
    int rtpClockHz;

    static Stream<TransportKind> transports() {
        return kinds();
    }

    @BeforeEach
    void openFarSide() throws IOException {
        far = new DatagramSocket(Ports.free(), LOOPBACK);
        far.setSoTimeout(PATIENCE_MS);
    }

    @AfterEach
    void closeFarSide() {
        far.close();
    }

    static DatagramSocket open() throws IOException {
        DatagramSocket socket = new DatagramSocket(0, LOOPBACK);
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }

    /** Opens two with one port above the other's, as RTP and its RTCP have. */
    static List<DatagramSocket> openPair() throws IOException {
        for (int tries = 0; ; tries++) {
            DatagramSocket below = open();
            try {
                DatagramSocket above = new DatagramSocket(below.getLocalPort() + 1, LOOPBACK);
                above.setSoTimeout(PATIENCE_MS);
                return List.of(below, above);
            } catch (IOException | IllegalArgumentException e) {
                below.close();
                if (tries == 100) {
                    throw e;
                }
            }
        }
    }

    /** Has nodes that start from now on lead there through this service, if it is one. */
    final void lead(InetSocketAddress to, String service) {
        long key = service.isEmpty() ? ServiceKey.NONE : ServiceKey.of(service);
        InetSocketAddress listen = new InetSocketAddress(to.getAddress(), 0);
        settings.udpGateways = List.of(new UdpGateway(listen, to, key, 3, rtpClockHz, Anep.DEFAULT_TYPE_ID));
    }

    static InetSocketAddress gateway(TestNode node) {
        return node.environment.gatewayAddresses().get(0);
    }

    static void send(DatagramSocket from, InetSocketAddress to, byte... bytes) throws IOException {
        from.send(new DatagramPacket(bytes, bytes.length, to));
    }

    static DatagramPacket receive(DatagramSocket at) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
        at.receive(packet);
        return packet;
    }

    static byte[] bytes(DatagramPacket packet) {
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    static byte[] octets(int length, int octet) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) octet);
        return bytes;
    }

    /** What leaves is counted a moment after it is there. */
    static void conserves(TestNode node) {
        eventually().untilAsserted(node::assertConserved);
    }
}
