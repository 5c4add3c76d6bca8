package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.support.Tiers;

/** What sockets tell of datagrams in transit, and raw sockets that send them. */
@Tag("namespace")
class UdpTransitTest {

    private static UdpSocket open(String host) throws IOException {
        UdpTesting.assumeNative();
        UdpSocket socket = UdpSockets.bind(TransportKind.NATIVE, new InetSocketAddress(InetAddress.getByName(host), 0));
        String whyNot = "";
        try {
            socket.receiveInTransit();
            TransitSockets.open().close();
        } catch (IOException e) {
            whyNot = String.valueOf(e.getMessage());
        }
        if (!whyNot.isEmpty()) {
            socket.close();
        }
        Tiers.require("namespace", whyNot.isEmpty(), whyNot);
        return socket;
    }

    private static long low(String host) throws IOException {
        return UdpAddress.low(InetAddress.getByName(host));
    }

    private static int receive(UdpSocket socket, UdpBatch batch) throws IOException {
        assertThat(socket.awaitReadable(UdpTesting.PATIENCE)).isTrue();
        return socket.receive(batch);
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0, 127.0.0.5", "::, ::1"})
    void aMessageTellsWhereItWasSentAlsoWhenItWasJoined(String any, String host) throws Exception {
        try (UdpSocket receiver = open(any);
                UdpSocket sender = open(host)) {
            UdpBatch batch = receiver.newBatch();
            UdpSender sending = sender.newSender();
            ByteBuffer data = UdpTesting.pattern(5000);
            int port = receiver.localAddress().getPort();
            for (int i = 0; i < 10; i++) {
                sending.add(data, 100 * i, 100, 0, low(host), port);
            }
            sending.flush();
            assertThat(sending.lastError()).isEmpty();
            int datagrams = 0;
            while (datagrams < 10) {
                int messages = receive(receiver, batch);
                for (int m = 0; m < messages; m++) {
                    assertThat(batch.destinationHigh(m)).isZero();
                    assertThat(batch.destinationLow(m)).isEqualTo(low(host));
                    assertThat(batch.hopsLeft(m)).isEqualTo(64);
                    assertThat(batch.trafficClass(m)).isZero();
                    assertThat(batch.mark(m)).isZero();
                    assertThat(batch.segmentBytes(m)).isEqualTo(100);
                    datagrams += (batch.end(m) - batch.start(m)) / 100;
                }
            }
            assertThat(datagrams).isEqualTo(10);
            assertThat(receiver.takeOverflows()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1, 127.0.0.9", "::1, ::1"})
    void aDatagramArrivesFromWhereItsHeaderSays(String host, String from) throws Exception {
        int[] lengths = {0, 1, 7, 8, 100, 1201, 65_000, 3};
        try (UdpSocket receiver = open(host);
                TransitSockets sockets = TransitSockets.open()) {
            UdpBatch batch = receiver.newBatch();
            TransitSender sender = sockets.newSender(host.contains(":"));
            ByteBuffer data = UdpTesting.pattern(130_000);
            sender.from(0, low(from), 1234)
                    .to(0, low(host), receiver.localAddress().getPort());
            for (int length : lengths) {
                sender.add(data, length, length, 17, 0x28);
            }
            sender.flush();
            assertThat(sender.lastError()).isEmpty();
            assertThat(sender.sentPackets()).isEqualTo(lengths.length);
            int next = 0;
            while (next < lengths.length) {
                int messages = receive(receiver, batch);
                for (int m = 0; m < messages; m++) {
                    int length = lengths[next++];
                    assertThat(batch.end(m) - batch.start(m)).isEqualTo(length);
                    assertThat(batch.buffer(m).slice(batch.start(m), length)).isEqualTo(data.slice(length, length));
                    assertThat(batch.addressLow(m)).isEqualTo(low(from));
                    assertThat(batch.port(m)).isEqualTo(1234);
                    assertThat(batch.hopsLeft(m)).isEqualTo(17);
                    assertThat(batch.trafficClass(m)).isEqualTo(0x28);
                }
            }
        }
    }

    @Test
    void moreThanABatchGoesInOrderAndWhatIsTooLongIsCounted() throws Exception {
        try (UdpSocket receiver = open("127.0.0.1");
                TransitSockets sockets = TransitSockets.open()) {
            UdpBatch batch = receiver.newBatch();
            TransitSender sender = sockets.newSender(false);
            ByteBuffer data = ByteBuffer.allocateDirect(70_000);
            sender.from(0, low("127.0.0.1"), 1234)
                    .to(0, low("127.0.0.1"), receiver.localAddress().getPort());
            for (int i = 0; i < 200; i++) {
                data.putInt(4 * i, i);
                sender.add(data, 4 * i, i % 100 == 50 ? 65_508 : 4, 64, 0);
            }
            sender.flush();
            assertThat(sender.sentPackets()).isEqualTo(198);
            assertThat(sender.sentBytes()).isEqualTo(198 * 4);
            assertThat(sender.tooLongPackets()).isEqualTo(2);
            assertThat(sender.failedPackets()).isZero();
            assertThat(sender.lastError()).contains("65508", "65507");
            int next = 0;
            while (next < 200) {
                int messages = receive(receiver, batch);
                for (int m = 0; m < messages; m++) {
                    next += next % 100 == 50 ? 1 : 0;
                    assertThat(batch.buffer(m).getInt(batch.start(m))).isEqualTo(next++);
                }
            }
        }
    }

    @Test
    void aClosedSocketFailsWhatIsSent() throws Exception {
        open("127.0.0.1").close();
        TransitSockets sockets = TransitSockets.open();
        TransitSender sender = sockets.newSender(false);
        sockets.close();
        sender.from(0, low("127.0.0.1"), 1).to(0, low("127.0.0.1"), 2);
        sender.add(ByteBuffer.allocateDirect(8), 0, 8, 64, 0);
        sender.flush();
        assertThat(sender.failedPackets()).isEqualTo(1);
        assertThat(sender.lastError()).contains("closed");
    }

    @Test
    void anOlderBatchIsRefused() throws Exception {
        UdpTesting.assumeNative();
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NATIVE, new InetSocketAddress("127.0.0.1", 0));
                UdpSocket able = open("127.0.0.1")) {
            assertThat(able.newBatch()).isNotNull();
            UdpBatch older = socket.newBatch();
            socket.receiveInTransit();
            assertThatThrownBy(() -> socket.receive(older)).hasMessageContaining("newBatch");
        }
    }

    @Test
    void nioSaysWhyItCannot() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            assertThatThrownBy(socket::receiveInTransit)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("native transport")
                    .message()
                    .hasLineCount(1);
        }
    }
}
