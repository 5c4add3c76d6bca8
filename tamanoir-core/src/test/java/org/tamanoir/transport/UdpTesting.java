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
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;

/** What the tests of UDP share: which sockets to try, and a receiver that takes messages apart. */
final class UdpTesting {
    static final Duration PATIENCE = Waiting.PATIENCE;

    /** A datagram as it came, with who sent it. */
    record Datagram(byte[] bytes, long addressHigh, long addressLow, int port, boolean joined) {}

    /** A kind of socket on one family's loopback address. */
    record Side(TransportKind kind, String host) {
        UdpSocket open() throws IOException {
            if (kind == TransportKind.NATIVE) {
                assumeNative();
            }
            if (host.contains(":")) {
                Tiers.requireIpv6();
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

    static Stream<Side> sides() {
        return Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                .flatMap(kind -> Stream.of(new Side(kind, "127.0.0.1"), new Side(kind, "::1")));
    }

    static void assumeNative() {
        boolean works = UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE;
        String reason = UdpSockets.explain(TransportKind.AUTO);
        Tiers.require("native", works, reason);
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

    /** A direct buffer whose bytes tell their place, also beyond 256. */
    static ByteBuffer pattern(int bytes) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
        for (int i = 0; i < bytes; i++) {
            buffer.put(i, (byte) (i ^ i >>> 8));
        }
        return buffer;
    }

    static byte[] copy(ByteBuffer buffer, int offset, int length) {
        byte[] bytes = new byte[length];
        buffer.get(offset, bytes);
        return bytes;
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
        boolean joined = batch.segmentBytes(m) < end - start;
        do {
            int length = Math.min(batch.segmentBytes(m), end - start);
            byte[] bytes = copy(batch.buffer(m), start, length);
            datagrams.add(new Datagram(bytes, batch.addressHigh(m), batch.addressLow(m), batch.port(m), joined));
            start += length;
        } while (start < end);
    }
}
