package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Waiting;

/** Sockets with one other end, several of which one sender sends through. */
class ConnectedUdpTest {
    private static final long LOW = 0xFFFF_7F00_0001L;
    private static final Duration PATIENCE = Waiting.PATIENCE;
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(100);

    static Stream<TransportKind> kinds() {
        return UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE
                ? Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                : Stream.of(TransportKind.NIO);
    }

    private static DatagramSocket far(int port) throws IOException {
        DatagramSocket far = new DatagramSocket(port, LOOPBACK);
        far.setSoTimeout((int) PATIENCE.toMillis());
        return far;
    }

    private static DatagramPacket receive(DatagramSocket at) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[200], 200);
        at.receive(packet);
        return packet;
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void oneSenderSendsThroughEach(TransportKind kind) throws IOException {
        try (DatagramSocket far = far(0)) {
            InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
            try (UdpSocket one = UdpSockets.connect(kind, to);
                    UdpSocket other = UdpSockets.connect(kind, to)) {
                UdpSender sender = one.newSender();
                sender.through(one);
                sender.add(bytes, 0, 10, 0, LOW, far.getLocalPort());
                sender.through(other);
                sender.add(bytes, 0, 20, 0, LOW, far.getLocalPort());
                sender.flush();
                DatagramPacket first = receive(far);
                assertThat(first.getPort()).isEqualTo(one.localAddress().getPort());
                assertThat(first.getLength()).isEqualTo(10);
                DatagramPacket second = receive(far);
                assertThat(second.getPort()).isEqualTo(other.localAddress().getPort());
                assertThat(second.getLength()).isEqualTo(20);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void receivesFromTheOtherEndAlone(TransportKind kind) throws IOException {
        try (DatagramSocket far = far(0);
                DatagramSocket stranger = far(0);
                UdpSocket near = UdpSockets.connect(kind, (InetSocketAddress) far.getLocalSocketAddress())) {
            InetSocketAddress to =
                    new InetSocketAddress(LOOPBACK, near.localAddress().getPort());
            stranger.send(new DatagramPacket(new byte[10], 10, to));
            far.send(new DatagramPacket(new byte[20], 20, to));
            UdpBatch batch = near.newBatch();
            assertThat(near.awaitReadable(PATIENCE)).isTrue();
            assertThat(near.receive(batch)).isEqualTo(1);
            assertThat(batch.end(0) - batch.start(0)).isEqualTo(20);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theErrorOfOneDatagramTakesNoOther(TransportKind kind) throws IOException {
        DatagramSocket gone = far(Ports.free());
        int port = gone.getLocalPort();
        try (UdpSocket near = UdpSockets.connect(kind, new InetSocketAddress(LOOPBACK, port))) {
            gone.close();
            UdpSender sender = near.newSender();
            sender.add(bytes, 0, 10, 0, LOW, port);
            sender.flush(); // The loopback has said that nobody is there before this returns.
            try (DatagramSocket far = far(port)) {
                sender.add(bytes, 0, 20, 0, LOW, port);
                sender.flush();
                assertThat(receive(far).getLength()).isEqualTo(20);
            }
            assertThat(sender.failedPackets()).isZero();
        }
    }
}
