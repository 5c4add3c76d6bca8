package org.tamanoir.ee;

import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.tls.TlsFiles;

/** A host at the end of the path, which keeps what comes: per connection, and whether that ended well. */
final class TestSink implements AutoCloseable {
    /** What came over one connection. */
    static final class Arrivals implements PacketHandler {
        private final List<Packet> packets = new ArrayList<>();
        private final boolean echo;
        private volatile boolean ended;
        private volatile @Nullable String fault;

        Arrivals(boolean echo) {
            this.echo = echo;
        }

        @Override
        public void packet(Packet packet, Peer peer) throws IOException {
            synchronized (packets) {
                packets.add(packet.copy());
            }
            if (echo) {
                packet.swapEnds();
                peer.reply(packet);
            }
        }

        @Override
        public void closed(@Nullable String fault) {
            this.fault = fault;
            ended = true;
        }

        List<Packet> packets() {
            synchronized (packets) {
                return List.copyOf(packets);
            }
        }

        /** Why it ended before its time; null while it has not. */
        @Nullable
        String fault() {
            return fault;
        }

        boolean endedWell() {
            return ended && fault == null;
        }
    }

    private final List<Arrivals> connections = new CopyOnWriteArrayList<>();
    private final AnepReceiver receiver;

    private TestSink(boolean echo, @Nullable TlsFiles tls) throws IOException {
        this(AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0)).tcp().tls(tls), echo);
    }

    private TestSink(AnepReceiver.Settings settings, boolean echo) throws IOException {
        receiver = settings.start(() -> {
            Arrivals arrivals = new Arrivals(echo);
            connections.add(arrivals);
            return arrivals;
        });
    }

    static TestSink open() throws IOException {
        return new TestSink(false, null);
    }

    /** One that also sends everything back. */
    static TestSink openEcho() throws IOException {
        return new TestSink(true, null);
    }

    /** One that speaks TLS. */
    static TestSink openTls(TlsFiles files, boolean echo) throws IOException {
        return new TestSink(echo, files);
    }

    /** One that speaks QUIC. */
    static TestSink openQuic(TlsFiles files, boolean echo) throws IOException {
        return new TestSink(
                AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0)).quic().tls(files), echo);
    }

    InetSocketAddress address() {
        return receiver.address();
    }

    List<Arrivals> connections() {
        return connections;
    }

    /** Packets of all connections, each connection's in their order. */
    List<Packet> packets() {
        return connections.stream().flatMap(c -> c.packets().stream()).toList();
    }

    /** Waits for so many packets. */
    List<Packet> await(int expected) {
        eventually().until(() -> receiver.statistics().packets() >= expected);
        return packets();
    }

    /** Waits until there was a connection, and every one was ended by its peer between two packets. */
    TestSink awaitEnds() {
        eventually().until(() -> !connections.isEmpty() && connections.stream().allMatch(Arrivals::endedWell));
        return this;
    }

    /** First four bytes of each payload. */
    List<Integer> numbers() {
        return packets().stream().map(TestSink::number).toList();
    }

    static int number(Packet packet) {
        return packet.buffer().getInt(packet.payloadOffset());
    }

    static ByteBuffer bytes(Packet packet) {
        ByteBuffer bytes = ByteBuffer.allocate(packet.payloadLength());
        return bytes.put(0, packet.buffer(), packet.payloadOffset(), packet.payloadLength());
    }

    @Override
    public void close() {
        receiver.close();
    }
}
