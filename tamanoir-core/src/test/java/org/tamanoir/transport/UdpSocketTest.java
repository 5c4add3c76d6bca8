package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.UdpTesting.Datagram;
import org.tamanoir.transport.UdpTesting.Side;

/** What both kinds of socket do alike, against themselves and each other. */
class UdpSocketTest {

    static Stream<Side> sides() {
        return UdpTesting.sides();
    }

    /** Every sender's kind with every receiver's, in each family. */
    static Stream<Arguments> pairs() {
        return sides().flatMap(from ->
                sides().filter(to -> to.host().equals(from.host())).map(to -> Arguments.of(from, to)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void datagramsOfEverySizeArriveWithTheirSender(Side from, Side to) throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        try (UdpSocket sending = from.open();
                UdpSocket receiving = to.open()) {
            UdpSender sender = sending.newSender();
            long bytes = 0;
            for (int length : new int[] {0, 1, 200, 1400, 9000, 65_507}) {
                UdpTesting.add(sender, data, 3, length, receiving);
                sender.flush();
                bytes += length;
                List<Datagram> got = UdpTesting.receive(receiving, 1);
                assertThat(got).hasSize(1);
                assertThat(got.get(0).bytes()).isEqualTo(UdpTesting.copy(data, 3, length));
                assertThat(UdpAddress.of(
                                got.get(0).addressHigh(),
                                got.get(0).addressLow(),
                                got.get(0).port(),
                                0))
                        .isEqualTo(sending.localAddress());
            }
            assertThat(sender.sentPackets()).isEqualTo(6);
            assertThat(sender.sentBytes()).isEqualTo(bytes);
            assertThat(sender.failedPackets()).isZero();
            assertThat(sender.lastError()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void moreDatagramsThanABatchHoldsArriveInOrder(Side from, Side to) throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        try (UdpSocket sending = from.open();
                UdpSocket receiving = to.open()) {
            UdpSender sender = sending.newSender();
            int[] lengths = IntStream.range(0, 700)
                    .map(i -> 60 + i / 90 - (i % 7 == 6 ? 5 : 0))
                    .toArray();
            for (int i = 0; i < lengths.length; i++) {
                UdpTesting.add(sender, data, i * 3, lengths[i], receiving);
            }
            sender.flush();
            List<Datagram> got = UdpTesting.receive(receiving, lengths.length);
            assertThat(got).hasSize(lengths.length);
            for (int i = 0; i < lengths.length; i++) {
                assertThat(got.get(i).bytes()).isEqualTo(UdpTesting.copy(data, i * 3, lengths[i]));
            }
            assertThat(sender.sentPackets()).isEqualTo(lengths.length);
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void datagramsToManyReceiversStayApart(Side side) throws IOException {
        ByteBuffer data = UdpTesting.pattern(4000);
        try (UdpSocket sending = side.open();
                UdpSocket first = side.open();
                UdpSocket second = side.open();
                UdpSocket third = side.open()) {
            List<UdpSocket> receivers = List.of(first, second, third);
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 300; i++) {
                UdpTesting.add(sender, data, i, 100 + i % 3, receivers.get(i % 3));
            }
            sender.flush();
            for (int r = 0; r < 3; r++) {
                List<Datagram> got = UdpTesting.receive(receivers.get(r), 100);
                assertThat(got).hasSize(100);
                for (int i = 0; i < 100; i++) {
                    assertThat(got.get(i).bytes()).isEqualTo(UdpTesting.copy(data, i * 3 + r, 100 + r));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void datagramsFromManyBuffersLeaveInOneFlush(Side side) throws IOException {
        try (UdpSocket sending = side.open();
                UdpSocket receiving = side.open()) {
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 100; i++) {
                UdpTesting.add(sender, ByteBuffer.allocateDirect(8).putInt(4, i), 4, 4, receiving);
            }
            sender.flush();
            List<Datagram> got = UdpTesting.receive(receiving, 100);
            assertThat(got).hasSize(100);
            for (int i = 0; i < 100; i++) {
                assertThat(ByteBuffer.wrap(got.get(i).bytes()).getInt()).isEqualTo(i);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void whatCanNeverLeaveIsCountedAndExplained(Side side) throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        boolean v6 = side.host().contains(":");
        try (UdpSocket sending = side.open();
                UdpSocket receiving = side.open()) {
            UdpSender sender = sending.newSender();
            UdpTesting.add(sender, data, 0, 65_528, receiving);
            assertThat(sender.failedPackets()).isEqualTo(1);
            assertThat(sender.lastError()).contains("65528 bytes").contains(v6 ? "65527" : "65507");

            sender.add(data, 0, 10, 0x20010DB8L << 32, v6 ? UdpAddress.v4(0x7F000001) : 1, 0);
            assertThat(sender.failedPackets()).isEqualTo(2);
            if (v6) {
                assertThat(sender.lastError()).contains("port 0");
                sender.add(data, 0, 10, 0, UdpAddress.v4(0x7F000001), 9);
            } else {
                sender.add(data, 0, 10, 0x20010DB8L << 32, 1, 9);
            }
            assertThat(sender.failedPackets()).isEqualTo(3);
            assertThat(sender.lastError())
                    .contains(v6 ? "127.0.0.1:9" : "2001:db8")
                    .contains("other family");

            UdpTesting.add(sender, data, 0, 10, receiving);
            sender.flush();
            assertThat(sender.sentPackets()).isEqualTo(1);
            assertThat(UdpTesting.receive(receiving, 1)).hasSize(1);
            assertThatThrownBy(() -> UdpTesting.add(sender, ByteBuffer.allocate(9), 0, 9, receiving))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> UdpTesting.add(sender, data, 69_999, 2, receiving))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aReceiverThatRefusesDisturbsNoOther(Side side) throws IOException {
        ByteBuffer data = UdpTesting.pattern(1000);
        UdpSocket gone = side.open();
        gone.close();
        try (UdpSocket sending = side.open();
                UdpSocket receiving = side.open()) {
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 50; i++) {
                UdpTesting.add(sender, data, 0, 100, gone);
                UdpTesting.add(sender, data, i, 100, receiving);
            }
            sender.flush();
            assertThat(sending.receive(sending.newBatch())).isZero();
            assertThat(sender.sentPackets() + sender.failedPackets()).isEqualTo(100);
            assertThat(UdpTesting.receive(receiving, 50)).hasSize(50);
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void waitingEndsWithADatagramOrWithTheTime(Side side) throws IOException {
        try (UdpSocket socket = side.open()) {
            assertThat(socket.awaitReadable(Duration.ZERO)).isFalse();
            assertThat(socket.awaitReadable(Duration.ofNanos(1_500_000))).isFalse();
            assertThat(socket.receive(socket.newBatch())).isZero();
            UdpSender sender = socket.newSender();
            UdpTesting.add(sender, UdpTesting.pattern(10), 0, 10, socket);
            sender.flush();
            assertThat(socket.awaitReadable(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
            assertThat(socket.awaitReadable(Duration.ZERO)).isTrue();
            assertThat(socket.receive(socket.newBatch())).isEqualTo(1);
            assertThat(socket.awaitReadable(Duration.ZERO)).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aTakenPortIsNamed(Side side) throws IOException {
        try (UdpSocket socket = side.open()) {
            assertThatThrownBy(() -> UdpSockets.bind(side.kind(), socket.localAddress()))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("cannot bind UDP " + UdpAddress.text(socket.localAddress()))
                    .hasMessageContaining("in use");
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void aFreePortIsFoundAndGivenBack(Side side) throws IOException {
        UdpSocket socket = side.open();
        assertThat(socket.localAddress().getPort()).isPositive();
        socket.close();
        UdpSockets.bind(side.kind(), socket.localAddress()).close();
    }

    @Test
    void aNativeSocketOnAllIpv6AddressesLeavesIpv4Free() throws IOException {
        UdpTesting.assumeNative();
        Tiers.requireIpv6();
        try (UdpSocket v6 =
                        UdpSockets.bind(TransportKind.NATIVE, new InetSocketAddress(InetAddress.getByName("::"), 0));
                UdpSocket v4 = UdpSockets.bind(
                        TransportKind.NATIVE,
                        new InetSocketAddress(
                                InetAddress.getByName("0.0.0.0"),
                                v6.localAddress().getPort()))) {
            assertThat(v4.localAddress().getPort()).isEqualTo(v6.localAddress().getPort());
        }
    }
}
