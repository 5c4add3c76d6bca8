package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.UdpTesting.Datagram;

/** What only the batch system calls do: joining, cutting, and their failures. */
class UdpNativeTest {
    private static final int SO_NO_CHECK = 11;

    @BeforeEach
    void nativeOnly() {
        UdpTesting.assumeNative();
    }

    private static NativeUdpSocket open(String host) throws IOException {
        if (host.contains(":")) {
            Tiers.requireIpv6();
        }
        return NativeUdpSocket.bind(new InetSocketAddress(InetAddress.getByName(host), 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void joinedDatagramsKeepTheirBoundaries(String host) throws IOException {
        ByteBuffer data = UdpTesting.pattern(400_000);
        try (UdpSocket sending = open(host);
                UdpSocket receiving = open(host)) {
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 300; i++) {
                UdpTesting.add(sender, data, i * 1000, i % 50 == 49 ? 300 : 1000, receiving);
            }
            sender.flush();
            assertThat(sender.lastError()).isEmpty();
            List<Datagram> got = UdpTesting.receive(receiving, 300);
            assertThat(got).hasSize(300);
            for (int i = 0; i < 300; i++) {
                assertThat(got.get(i).bytes()).isEqualTo(UdpTesting.copy(data, i * 1000, i % 50 == 49 ? 300 : 1000));
            }
            assertThat(got).filteredOn(Datagram::joined).hasSizeGreaterThan(200);
        }
    }

    @ParameterizedTest
    @CsvSource({"6.8.12, 64", "6.9, 128", "6.18.44-fc, 128", "7.0.1, 128", "5.15.0-91-generic, 64", "strange, 64"})
    void asManyAreJoinedAsTheKernelTakes(String release, int segments) {
        assertThat(NativeUdpSender.segments(release)).isEqualTo(segments);
    }

    @Test
    void noMoreAreJoinedThanThisKernelTakes() throws IOException {
        int segments = NativeUdpSender.segments(System.getProperty("os.version"));
        ByteBuffer data = UdpTesting.pattern(72 * 2 * segments);
        try (UdpSocket sending = open("127.0.0.1");
                UdpSocket receiving = open("127.0.0.1")) {
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 2 * segments; i++) {
                UdpTesting.add(sender, data, i * 72, 72, receiving);
            }
            sender.flush();
            UdpBatch batch = receiving.newBatch();
            assertThat(receiving.receive(batch)).isEqualTo(2);
            for (int m = 0; m < 2; m++) {
                assertThat(batch.segmentBytes(m)).isEqualTo(72);
                assertThat(UdpTesting.copy(batch.buffer(m), batch.start(m), batch.end(m) - batch.start(m)))
                        .isEqualTo(UdpTesting.copy(data, m * 72 * segments, 72 * segments));
            }
        }
    }

    @Test
    void whatIsForgottenDoesNotLeave() throws IOException {
        ByteBuffer data = UdpTesting.pattern(400);
        try (UdpSocket sending = open("127.0.0.1");
                UdpSocket receiving = open("127.0.0.1")) {
            UdpSender sender = sending.newSender();
            UdpTesting.add(sender, data, 0, 100, receiving);
            UdpTesting.add(sender, data, 100, 100, receiving);
            sender.discard();
            UdpTesting.add(sender, data, 200, 100, receiving);
            sender.flush();
            List<Datagram> got = UdpTesting.receive(receiving, 1);
            assertThat(got).hasSize(1);
            assertThat(got.get(0).bytes()).isEqualTo(UdpTesting.copy(data, 200, 100));
            assertThat(sender.sentPackets()).isOne();
        }
    }

    @Test
    void datagramsToManyReceiversInTurnAreJoinedForEach() throws IOException {
        ByteBuffer data = UdpTesting.pattern(400_000);
        List<UdpSocket> receivers = new ArrayList<>();
        try (UdpSocket sending = open("127.0.0.1")) {
            for (int r = 0; r < 32; r++) {
                receivers.add(open("127.0.0.1"));
            }
            UdpSender sender = sending.newSender();
            for (int flush = 0; flush < 2; flush++) {
                for (int i = 0; i < 960; i++) {
                    UdpTesting.add(sender, data, i * 400, i % 320 == 319 ? 300 : 400, receivers.get(i % 32));
                }
                sender.flush();
                assertThat(sender.lastError()).isEmpty();
                for (int r = 0; r < 32; r++) {
                    List<Datagram> got = UdpTesting.receive(receivers.get(r), 30);
                    assertThat(got).hasSize(30).filteredOn(Datagram::joined).hasSizeGreaterThan(25);
                    for (int n = 0; n < 30; n++) {
                        int i = 32 * n + r;
                        assertThat(got.get(n).bytes())
                                .isEqualTo(UdpTesting.copy(data, i * 400, i % 320 == 319 ? 300 : 400));
                    }
                }
            }
        } finally {
            receivers.forEach(UdpSocket::close);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1023, 1024, 1400, 32_000, 65_487, 65_507})
    void aMessageIsNeverLargerThanTheKernelTakes(int length) throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        try (UdpSocket sending = open("127.0.0.1");
                UdpSocket receiving = open("127.0.0.1")) {
            UdpSender sender = sending.newSender();
            int count = Math.min(200, 1_000_000 / length);
            for (int i = 0; i < count; i++) {
                UdpTesting.add(sender, data, i, length, receiving);
            }
            sender.flush();
            assertThat(sender.lastError()).isEmpty();
            assertThat(sender.sentPackets()).isEqualTo(count);
            assertThat(sender.sentBytes()).isEqualTo((long) count * length);
            List<Datagram> got = UdpTesting.receive(receiving, count);
            assertThat(got).hasSize(count);
            for (int i = 0; i < count; i++) {
                assertThat(got.get(i).bytes()).isEqualTo(UdpTesting.copy(data, i, length));
            }
        }
    }

    @Test
    void theLargestDatagramOfIpv6Arrives() throws IOException {
        try (UdpSocket sending = open("::1");
                UdpSocket receiving = open("::1")) {
            UdpSender sender = sending.newSender();
            UdpTesting.add(sender, UdpTesting.pattern(65_527), 0, 65_527, receiving);
            sender.flush();
            assertThat(sender.lastError()).isEmpty();
            assertThat(UdpTesting.receive(receiving, 1).get(0).bytes()).hasSize(65_527);
        }
    }

    @Test
    void wherePathsRefuseJoinedDatagramsTheyGoOneByOne() throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        try (NativeUdpSocket sending = open("127.0.0.1");
                UdpSocket receiving = open("127.0.0.1")) {
            // The kernel does not cut up messages that shall have no checksum: EINVAL, as for a path too narrow.
            UdpTesting.setOption(sending, SO_NO_CHECK, 1);
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 300; i++) {
                UdpTesting.add(sender, data, i * (i % 3 == 0 ? 200 : 7), i % 20 == 19 ? 50 : 200, receiving);
            }
            sender.flush();
            assertThat(sender.lastError()).isEmpty();
            assertThat(sender.sentPackets()).isEqualTo(300);
            List<Datagram> got = UdpTesting.receive(receiving, 300);
            assertThat(got).hasSize(300);
            for (int i = 0; i < 300; i++) {
                assertThat(got.get(i).bytes())
                        .isEqualTo(UdpTesting.copy(data, i * (i % 3 == 0 ? 200 : 7), i % 20 == 19 ? 50 : 200));
                assertThat(got.get(i).joined()).isFalse();
            }
        }
    }

    @Test
    void aForbiddenReceiverFailsAloneAndTheOthersGoOn() throws IOException {
        ByteBuffer data = UdpTesting.pattern(1000);
        long broadcast = UdpAddress.v4(-1);
        try (UdpSocket sending = open("127.0.0.1");
                UdpSocket receiving = open("127.0.0.1")) {
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 10; i++) {
                UdpTesting.add(sender, data, i, 100, receiving);
                sender.add(data, 0, 100, 0, broadcast, 9);
                sender.add(data, 0, 100, 0, broadcast, 9);
            }
            sender.flush();
            assertThat(sender.sentPackets()).isEqualTo(10);
            assertThat(sender.failedPackets()).isEqualTo(20);
            assertThat(sender.lastError()).contains("255.255.255.255:9").doesNotContain("\n");
            assertThat(UdpTesting.receive(receiving, 10)).hasSize(10);
        }
    }

    @Test
    void aTinySendBufferLosesNoCount() throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        try (NativeUdpSocket sending = open("127.0.0.1");
                UdpSocket receiving = open("127.0.0.1")) {
            UdpTesting.setOption(sending, LibC.SO_SNDBUF, 1);
            UdpSender sender = sending.newSender();
            for (int i = 0; i < 100; i++) {
                UdpTesting.add(sender, data, 0, i % 2 == 0 ? 1400 : 9000, receiving);
            }
            sender.flush();
            assertThat(sender.sentPackets() + sender.failedPackets()).isEqualTo(100);
            assertThat(UdpTesting.receive(receiving, (int) sender.sentPackets()))
                    .hasSize((int) sender.sentPackets());
        }
    }

    @Test
    void forwardingAllocatesNothing() throws IOException {
        ByteBuffer data = UdpTesting.pattern(70_000);
        try (UdpSocket socket = open("127.0.0.1")) {
            UdpSender sender = socket.newSender();
            UdpBatch batch = socket.newBatch();
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long address = UdpAddress.low(socket.localAddress().getAddress());
            int port = socket.localAddress().getPort();
            sendToItself(socket, sender, batch, data, address, port, 100);
            long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            int packets = sendToItself(socket, sender, batch, data, address, port, 1000);
            long allocated =
                    threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
            assertThat(packets).isEqualTo(64_000);
            assertThat(allocated).isLessThan(64_000); // bytes: less than one a packet, whatever the JVM itself takes
        }
    }

    private static int sendToItself(
            UdpSocket socket, UdpSender sender, UdpBatch batch, ByteBuffer data, long address, int port, int rounds)
            throws IOException {
        int packets = 0;
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 64; i++) {
                sender.add(data, i * 300, 200, 0, address, i % 8 == 7 ? 9 : port);
                packets++;
            }
            sender.flush();
            for (int count = socket.receive(batch); count > 0; count = socket.receive(batch)) {
                for (int m = 0; m < count; m++) {
                    sum += batch.start(m) + batch.end(m) + batch.segmentBytes(m);
                    sum += batch.addressHigh(m) + batch.addressLow(m) + batch.port(m);
                }
            }
        }
        return packets;
    }

    private static volatile long sum;
}
