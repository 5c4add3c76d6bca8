package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * A UDP socket of a test in a namespace, which sees what IP headers say.
 *
 * <p>Thread contract: one thread.
 */
final class TransitEnd implements AutoCloseable {
    private final UdpSocket socket;
    private final UdpBatch batch;
    private final UdpSender sender;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
    private final ArrayDeque<Datagram> arrived = new ArrayDeque<>();

    private TransitEnd(UdpSocket socket) throws IOException {
        this.socket = socket;
        socket.receiveInTransit();
        batch = socket.newBatch();
        sender = socket.newSender();
    }

    /** A datagram that arrived. */
    record Datagram(byte[] bytes, InetSocketAddress from, int hopsLeft, int trafficClass) {}

    static TransitEnd open(TestNet net, String namespace, String address, int port) throws Exception {
        InetSocketAddress local = new InetSocketAddress(InetAddress.getByName(address), port);
        return net.namespaces().in(namespace, () -> new TransitEnd(UdpSockets.bind(TransportKind.NATIVE, local)));
    }

    InetSocketAddress address() {
        return socket.localAddress();
    }

    /** Sends datagrams back to back; those of the same size are joined where the kernel does that. */
    void send(InetSocketAddress to, List<byte[]> datagrams) {
        ByteBuffer address = ByteBuffer.wrap(to.getAddress().getAddress());
        boolean isIpv6 = address.remaining() == 16;
        long high = isIpv6 ? address.getLong(0) : 0;
        long low = isIpv6 ? address.getLong(8) : 0xFFFF_0000_0000L | address.getInt(0) & 0xFFFF_FFFFL;
        int at = 0;
        for (byte[] bytes : datagrams) {
            if (at + bytes.length > memory.capacity()) {
                sender.flush();
                at = 0;
            }
            memory.put(at, bytes);
            sender.add(memory, at, bytes.length, high, low, to.getPort());
            at += bytes.length;
        }
        sender.flush();
        assertThat(sender.failedPackets()).as(sender.lastError()).isZero();
    }

    /** The next so many datagrams; fails when they do not come in time. */
    List<Datagram> receive(int count) throws IOException {
        List<Datagram> datagrams = new ArrayList<>();
        while (datagrams.size() < count) {
            if (arrived.isEmpty()) {
                assertThat(socket.awaitReadable(Waiting.PATIENCE))
                        .as("datagram %s of %s arrives at %s", datagrams.size() + 1, count, address())
                        .isTrue();
                take();
            } else {
                datagrams.add(arrived.remove());
            }
        }
        return datagrams;
    }

    /** How many wait now. */
    int waiting() throws IOException {
        while (take() > 0) {}
        return arrived.size();
    }

    private int take() throws IOException {
        int messages = socket.receive(batch);
        for (int m = 0; m < messages; m++) {
            InetSocketAddress from =
                    new InetSocketAddress(address(batch.addressHigh(m), batch.addressLow(m)), batch.port(m));
            int segment = Math.max(1, batch.segmentBytes(m));
            for (int start = batch.start(m); start < batch.end(m); start += segment) {
                byte[] bytes = new byte[Math.min(segment, batch.end(m) - start)];
                batch.buffer(m).get(start, bytes);
                arrived.add(new Datagram(bytes, from, batch.hopsLeft(m), batch.trafficClass(m)));
            }
        }
        return messages;
    }

    private static InetAddress address(long high, long low) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(16).putLong(high);
        boolean isIpv4 = high == 0 && low >>> 32 == 0xFFFF;
        return InetAddress.getByAddress(
                isIpv4
                        ? ByteBuffer.allocate(4).putInt((int) low).array()
                        : bytes.putLong(low).array());
    }

    @Override
    public void close() {
        socket.close();
    }
}
