package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.tamanoir.Tiers;

/** What the tests of UDP share: which sockets to try, and a receiver that takes messages apart. */
final class UdpTesting {
    static final Duration PATIENCE = Duration.ofSeconds(5);

    /** A datagram as it came, with who sent it. */
    record Datagram(byte[] octets, long addressHigh, long addressLow, int port, boolean joined) {}

    /** A kind of socket on one family's loopback address. */
    record Side(TransportKind kind, String host) {
        UdpSocket open() throws IOException {
            if (kind == TransportKind.NATIVE) {
                assumeNative();
            }
            if (host.contains(":")) {
                assumeIpv6();
            }
            return UdpSockets.bind(kind, new InetSocketAddress(InetAddress.getByName(host), 0));
        }
    }

    private UdpTesting() {}

    /** An option that the implementation has no use for; the socket must be open. */
    static void setOption(NativeUdpSocket socket, int option, int value) {
        ByteBuffer memory = MessageArray.allocate(4).putInt(0, value);
        int result = LibC.setsockopt(socket.fd(), LibC.SOL_SOCKET, option, MessageArray.addressOf(memory), 4);
        assertThat(result).isZero();
    }

    static ConditionFactory eventually() {
        return Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .atMost(PATIENCE);
    }

    static Stream<Side> sides() {
        return Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                .flatMap(kind -> Stream.of(new Side(kind, "127.0.0.1"), new Side(kind, "::1")));
    }

    static void assumeNative() {
        boolean works = UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE;
        String reason = UdpSockets.explain(TransportKind.AUTO);
        Tiers.require("native", works, reason);
    }

    static void assumeIpv6() {
        boolean works = true;
        try {
            UdpSockets.bind(TransportKind.NIO, new InetSocketAddress(InetAddress.getByName("::1"), 0))
                    .close();
        } catch (IOException e) {
            works = false;
        }
        Tiers.require("ipv6", works, "no IPv6 loopback here");
    }

    static void add(UdpSender sender, ByteBuffer buffer, int offset, int length, UdpSocket to) {
        InetSocketAddress address = to.localAddress();
        sender.add(
                buffer,
                offset,
                length,
                UdpAddress.high(address.getAddress()),
                UdpAddress.low(address.getAddress()),
                address.getPort());
    }

    /** A direct buffer whose octets tell their place, also beyond 256. */
    static ByteBuffer pattern(int octets) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(octets);
        for (int i = 0; i < octets; i++) {
            buffer.put(i, (byte) (i ^ i >>> 8));
        }
        return buffer;
    }

    static byte[] copy(ByteBuffer buffer, int offset, int length) {
        byte[] octets = new byte[length];
        buffer.get(offset, octets);
        return octets;
    }

    /** Receives so many datagrams, or fewer when none comes for {@link #PATIENCE}. */
    static List<Datagram> receive(UdpSocket socket, int expected) throws IOException {
        UdpBatch batch = socket.newBatch();
        List<Datagram> datagrams = new ArrayList<>();
        while (datagrams.size() < expected && socket.awaitReadable(PATIENCE)) {
            int count = socket.receive(batch);
            for (int m = 0; m < count; m++) {
                takeApart(batch, m, datagrams);
            }
        }
        return datagrams;
    }

    private static void takeApart(UdpBatch batch, int m, List<Datagram> datagrams) {
        int start = batch.start(m);
        int end = batch.end(m);
        boolean joined = batch.segmentOctets(m) < end - start;
        do {
            int length = Math.min(batch.segmentOctets(m), end - start);
            byte[] octets = copy(batch.buffer(), start, length);
            datagrams.add(new Datagram(octets, batch.addressHigh(m), batch.addressLow(m), batch.port(m), joined));
            start += length;
        } while (start < end);
    }
}
