package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.async;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.NextHop;
import org.tamanoir.transport.TransportKind;

/** What next hops send back arrives whole, however late they send it or the sender reads it. */
@Timeout(240)
class WayBackTest extends TcpNodeTesting {
    private static final int PACKET = 50_000;
    private static final int REPLIES = 400;

    private ServerSocketChannel hop() throws IOException {
        return keep(ServerSocketChannel.open().bind(new InetSocketAddress(0), 200));
    }

    private static int portOf(ServerSocketChannel hop) throws IOException {
        return ((InetSocketAddress) hop.getLocalAddress()).getPort();
    }

    private static ByteBuffer packet(String destination, int bytes) throws IOException {
        Packet packet =
                packets("mark").destination(InetAddress.getByName(destination)).build(payload(1, bytes));
        ByteBuffer copied = ByteBuffer.allocate(packet.length());
        packet.copyTo(copied, 0);
        return copied;
    }

    private static ByteBuffer read(SocketChannel from, int bytes) throws IOException {
        ByteBuffer read = ByteBuffer.allocate(bytes);
        while (read.hasRemaining() && from.read(read) >= 0) {}
        return read.flip();
    }

    private static long readToEnd(SocketChannel from) throws IOException {
        ByteBuffer room = ByteBuffer.allocate(1 << 16);
        long bytes = 0;
        int read;
        while ((read = from.read(room.clear())) >= 0) {
            bytes += read;
        }
        return bytes;
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void repliesOfNextHopsThatHaveMadeRoomForOthersStillCome(TransportKind kind) throws Exception {
        settings.transport = kind;
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK);
        int hops = Connections.MAX + 16;
        for (int i = 1; i <= hops; i++) {
            InetSocketAddress address = new InetSocketAddress("127.0.1." + i, portOf(hop));
            node.route("10.1.0." + i + "/32", address, NextHop.Kind.HOST);
        }
        SocketChannel sender = connect(node);
        List<SocketChannel> accepted = new ArrayList<>();
        int length = packet("10.1.0.1", 100).capacity();
        for (int i = 1; i <= hops; i++) {
            sender.write(packet("10.1.0." + i, 100));
            accepted.add(keep(hop.accept()));
            assertThat(read(accepted.get(i - 1), length).remaining()).isEqualTo(length);
        }
        for (SocketChannel each : accepted) {
            each.write(packet("10.9.0.1", 100));
            each.shutdownOutput();
        }
        assertThat(read(sender, hops * length).remaining()).isEqualTo(hops * length);
        sender.close();
        node.settle().assertConserved();
    }

    /** Starts a stream, and a next hop that sends back so many packets, then ends. */
    private Future<Boolean> replying(ServerSocketChannel hop, SocketChannel sender, int replies) throws IOException {
        ByteBuffer packet = packet("10.1.0.1", 100);
        sender.write(packet);
        SocketChannel accepted = keep(hop.accept());
        read(accepted, packet.capacity());
        return async(() -> {
            for (int i = 0; i < replies; i++) {
                ByteBuffer reply = packet("10.9.0.1", PACKET);
                while (reply.hasRemaining()) {
                    accepted.write(reply);
                }
            }
            accepted.close();
            return true;
        });
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void repliesWaitForASenderThatReadsLaterThanLinger(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.lingerTimeout = Duration.ofSeconds(1);
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK).toHost(new InetSocketAddress("127.0.0.1", portOf(hop)));
        SocketChannel sender = connect(node);
        Future<Boolean> sent = replying(hop, sender, REPLIES);
        awaitStandstill(node); // A next hop that came to write too late would be silent for the linger time.
        sender.shutdownOutput();
        await().atMost(TestServices.PATIENCE)
                .during(Duration.ofSeconds(2))
                .until(() -> node.environment.places().taken() == 1);

        assertThat(readToEnd(sender))
                .isEqualTo((long) REPLIES * packet("10.9.0.1", PACKET).capacity());
        assertThat(sent.get(40, TimeUnit.SECONDS)).isTrue();
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSenderThatTakesNothingForTheStallTimeLosesItsStream(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.stallTimeout = Duration.ofMillis(500);
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK).toHost(new InetSocketAddress("127.0.0.1", portOf(hop)));
        SocketChannel sender = connect(node);
        Future<Boolean> sent = replying(hop, sender, Integer.MAX_VALUE);
        sender.shutdownOutput();
        eventually().until(() -> node.environment.places().taken() == 0);
        assertThatThrownBy(() -> sent.get(40, TimeUnit.SECONDS)).hasCauseInstanceOf(IOException.class);
        assertThatThrownBy(() -> readToEnd(sender)).isInstanceOf(IOException.class);
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatSendsBackNoPacketResetsTheStreamOnBothSides(TransportKind kind) throws Exception {
        settings.transport = kind;
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK).toHost(new InetSocketAddress("127.0.0.1", portOf(hop)));
        SocketChannel sender = connect(node);
        ByteBuffer packet = packet("10.1.0.1", 100);
        sender.write(packet);
        SocketChannel accepted = keep(hop.accept());
        read(accepted, packet.capacity());
        accepted.write(ByteBuffer.wrap("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes("US-ASCII")));
        assertThatThrownBy(() -> readToEnd(accepted)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> readToEnd(sender)).isInstanceOf(IOException.class);
        node.settle().assertConserved();
    }
}
