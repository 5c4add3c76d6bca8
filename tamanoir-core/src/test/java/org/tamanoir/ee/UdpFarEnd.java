package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** A UDP socket of a test that sends and receives. Thread contract: one thread. */
final class UdpFarEnd implements AutoCloseable {
    /** In flight at once: a socket's buffer holds some times as much, whatever the kernel adds to each datagram. */
    private static final int WINDOW_BYTES = 100_000;

    private static final int WINDOW_PACKETS = 100;

    private final UdpSocket socket;
    private final UdpBatch batch;
    private final UdpSender sender;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
    private final ArrayDeque<byte[]> arrived = new ArrayDeque<>();
    private final ArrayDeque<Integer> ports = new ArrayDeque<>();
    private final ArrayDeque<InetAddress> hosts = new ArrayDeque<>();
    private int lastPort;
    private @Nullable InetAddress lastHost;

    UdpFarEnd(TransportKind kind, String host) throws IOException {
        this(kind, host, 0);
    }

    UdpFarEnd(TransportKind kind, String host, int port) throws IOException {
        this(UdpSockets.bind(kind, new InetSocketAddress(InetAddress.getByName(host), port)));
    }

    UdpFarEnd(UdpSocket socket) {
        this.socket = socket;
        batch = socket.newBatch();
        sender = socket.newSender();
    }

    InetSocketAddress address() {
        return socket.localAddress();
    }

    /** Sends datagrams back to back, joined where the kernel does that. */
    void send(InetSocketAddress to, Collection<byte[]> datagrams) {
        int at = 0;
        for (byte[] bytes : datagrams) {
            if (at + bytes.length > memory.capacity()) {
                sender.flush();
                at = 0;
            }
            memory.put(at, bytes);
            sender.add(
                    memory,
                    at,
                    bytes.length,
                    Addresses.high(to.getAddress()),
                    Addresses.low(to.getAddress()),
                    to.getPort());
            at += bytes.length;
        }
        sender.flush();
        assertThat(sender.failedPackets()).as(sender.lastError()).isZero();
    }

    void send(InetSocketAddress to, byte[] datagram) {
        send(to, List.of(datagram));
    }

    /** The next datagram; fails when none comes in time. */
    byte[] next() throws IOException {
        while (arrived.isEmpty()) {
            assertThat(socket.awaitReadable(UdpTestNode.PATIENCE))
                    .as("a datagram arrives at %s", address())
                    .isTrue();
            receive();
        }
        lastPort = ports.remove();
        lastHost = hosts.remove();
        return arrived.remove();
    }

    /** The port that the datagram that {@link #next} gave last came from. */
    int lastPort() {
        return lastPort;
    }

    /** The host that it came from. */
    @Nullable
    InetAddress lastHost() {
        return lastHost;
    }

    private void receive() throws IOException {
        int messages = socket.receive(batch);
        for (int m = 0; m < messages; m++) {
            int end = batch.end(m);
            int start = batch.start(m);
            do {
                int bytes = Math.min(batch.segmentBytes(m), end - start);
                byte[] copy = new byte[bytes];
                batch.buffer(m).get(start, copy);
                arrived.add(copy);
                ports.add(batch.port(m));
                hosts.add(Addresses.of(batch.addressHigh(m), batch.addressLow(m)));
                start += Math.max(1, bytes);
            } while (start < end);
        }
    }

    /** Forgets what has come so far. */
    void discard() throws IOException {
        receive();
        arrived.clear();
        ports.clear();
        hosts.clear();
    }

    /** Whether nothing has come that was not taken. */
    boolean isQuiet() throws IOException {
        receive();
        return arrived.isEmpty();
    }

    /** Sends datagrams to the node in windows, and returns as many that came to {@code receiver} meanwhile. */
    List<byte[]> pump(InetSocketAddress node, List<byte[]> datagrams, UdpFarEnd receiver) throws IOException {
        List<byte[]> received = new ArrayList<>();
        int next = 0;
        while (next < datagrams.size()) {
            int bytes = 0;
            int end = next;
            do {
                bytes += datagrams.get(end++).length;
            } while (end < datagrams.size()
                    && end - next < WINDOW_PACKETS
                    && bytes + datagrams.get(end).length <= WINDOW_BYTES);
            send(node, datagrams.subList(next, end));
            for (; next < end; next++) {
                received.add(receiver.next());
            }
        }
        return received;
    }

    @Override
    public void close() {
        socket.close();
    }
}
