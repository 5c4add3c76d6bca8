package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.tamanoir.ee.TestServices.ECHO;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** Streams that wait end when nothing moves where they wait, whatever moves elsewhere, and go on while it does. */
@Timeout(240)
class StreamWatchTest extends TcpNodeTesting {
    /** More of these than lie between two ends of a connection, and in the node. */
    private static final int PACKET = 50_000;

    private static final int MANY = 400;

    private ServerSocketChannel hop() throws IOException {
        return keep(ServerSocketChannel.open().bind(new InetSocketAddress(0), 200));
    }

    private static int portOf(ServerSocketChannel hop) throws IOException {
        return ((InetSocketAddress) hop.getLocalAddress()).getPort();
    }

    private static InetSocketAddress at(ServerSocketChannel hop) throws IOException {
        return new InetSocketAddress("127.0.0.1", portOf(hop));
    }

    private static ByteBuffer packet(String service, String destination, int bytes) throws IOException {
        Packet packet =
                packets(service).destination(InetAddress.getByName(destination)).build(payload(1, bytes));
        ByteBuffer copied = ByteBuffer.allocate(packet.length());
        packet.copyTo(copied, 0);
        return copied;
    }

    private static void write(SocketChannel to, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            to.write(bytes);
        }
    }

    /** Writes the same packet again and again, on a thread of its own. */
    private static Future<Boolean> writing(SocketChannel to, ByteBuffer packet, int times) {
        return async(() -> {
            for (int i = 0; i < times; i++) {
                write(to, packet.duplicate());
            }
            return true;
        });
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

    private static void assertReset(SocketChannel one) {
        assertThatThrownBy(() -> readToEnd(one)).isInstanceOf(IOException.class);
    }

    /** Lets a far end, or a service, be slow. */
    private static void pace(int milliseconds) throws InterruptedException {
        assertThat(new Semaphore(0).tryAcquire(milliseconds, TimeUnit.MILLISECONDS))
                .isFalse();
    }

    private static void whileIsOpen(TestNode node, Duration time) {
        await().atMost(TestServices.PATIENCE)
                .during(time)
                .until(() -> node.environment.streams().open() > 0);
    }

    // ---- next hops that take nothing -------------------------------------------------------------------------------

    @Test
    void repliesOfAnotherNextHopDoNotExcuseOneThatTakesNothing() throws Exception {
        settings.stallTimeout = Duration.ofMillis(500);
        ServerSocketChannel still = hop();
        ServerSocketChannel busy = hop();
        TestNode node = node(MARK)
                .route("10.1.0.0/16", at(still), NextHop.Kind.HOST)
                .route("10.2.0.0/16", at(busy), NextHop.Kind.HOST);
        SocketChannel sender = connect(node);
        write(sender, packet("mark", "10.2.0.1", 100));
        SocketChannel replying = keep(busy.accept());
        Future<Boolean> sent = writing(sender, packet("mark", "10.1.0.1", PACKET), MANY);
        SocketChannel accepted = keep(still.accept());
        Future<Long> replies = async(() -> readToEnd(sender));
        ByteBuffer reply = packet("mark", "10.9.0.1", 100);
        eventually().until(() -> {
            try {
                write(replying, reply.duplicate());
            } catch (IOException e) {
                return true;
            }
            return node.environment.streams().open() == 0;
        });
        assertReset(accepted);
        assertThatThrownBy(sent::get).hasCauseInstanceOf(IOException.class);
        eventually().until(replies::isDone);
        assertThat(node.dropped(DropReason.NEXT_HOP_STALLED)).isPositive();
        node.settle().assertConserved();
    }

    // ---- the way back ----------------------------------------------------------------------------------------------

    @Test
    void answersOfASecondServiceWaitForASenderThatReadsLaterThanLinger() throws Exception {
        settings.lingerTimeout = Duration.ofSeconds(1);
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK, ECHO).toHost(at(hop));
        SocketChannel sender = connect(node);
        write(sender, packet("mark", "10.1.0.1", 100));
        SocketChannel accepted = keep(hop.accept());
        read(accepted, packet("mark", "10.1.0.1", 100).capacity());
        ByteBuffer reply = packet("mark", "10.9.0.1", PACKET);
        Future<Boolean> replied = async(() -> {
            writing(accepted, reply, MANY).get();
            accepted.close();
            return true;
        });
        awaitStandstill(node); // The way back is full.
        ByteBuffer asked = packet("echo", "10.9.0.1", 10_000);
        for (int i = 0; i < 4; i++) {
            write(sender, asked.duplicate());
        }
        sender.shutdownOutput();
        whileIsOpen(node, Duration.ofSeconds(2));

        assertThat(readToEnd(sender)).isEqualTo((long) MANY * reply.capacity() + 4L * asked.capacity());
        assertThat(replied.get(40, TimeUnit.SECONDS)).isTrue();
        node.assertDrops(Map.of());
    }

    /** Returns after how many of its bytes a packet of the other length came; the lengths differ. */
    private static long bytesBefore(SocketChannel from, int other, int usual, long atMost) throws Exception {
        long before = 0;
        while (before < atMost) {
            ByteBuffer head = read(from, 8);
            int bytes = Framing.claimedLength(head, 0);
            assertThat(bytes).isIn(other, usual);
            read(from, bytes - 8);
            pace(2);
            if (bytes == other) {
                return before;
            }
            before += bytes;
        }
        return before;
    }

    @Test
    void everyNextHopsRepliesGetTheirTurn() throws Exception {
        ServerSocketChannel one = hop();
        ServerSocketChannel two = hop();
        TestNode node = node(MARK, ECHO)
                .route("10.1.0.0/16", at(one), NextHop.Kind.HOST)
                .route("10.2.0.0/16", at(two), NextHop.Kind.HOST);
        SocketChannel sender = connect(node);
        write(sender, packet("mark", "10.1.0.1", 100));
        SocketChannel first = keep(one.accept());
        write(sender, packet("mark", "10.2.0.1", 100));
        SocketChannel second = keep(two.accept());
        ByteBuffer often = packet("mark", "10.9.0.1", PACKET);
        Future<Boolean> replied = writing(first, often, 4 * MANY);
        awaitStandstill(node); // The way back is full.
        ByteBuffer seldom = packet("mark", "10.9.0.1", 1000);
        write(second, seldom.duplicate());
        long all = 4L * MANY * often.capacity();
        assertThat(bytesBefore(sender, seldom.capacity(), often.capacity(), all))
                .isLessThan(all / 2);
        sender.close();
        assertThatThrownBy(replied::get).hasCauseInstanceOf(IOException.class);
    }

    // ---- a second service that is slow -----------------------------------------------------------------------------

    @Test
    void aSecondServiceThatGoesOnSlowlyKeepsItsStream() throws Exception {
        settings.stallTimeout = Duration.ofSeconds(3);
        TestSink sink = sink();
        ServiceDefinition slow = define("slow", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws InterruptedException {
                pace(8); // 600 of them are longer than the stall time
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(MARK, slow).toHost(sink.address());
        SocketChannel sender = connect(node);
        write(sender, packet("mark", "10.1.0.1", 100));
        writing(sender, packet("slow", "10.1.0.1", 1000), 600).get();
        sender.shutdownOutput();
        sink.await(601);
        node.assertDrops(Map.of());
    }

    // ---- retired connections ---------------------------------------------------------------------------------------

    @Test
    void aNextHopThatHasMadeRoomIsHeardToItsEndHoweverLateTheSenderReads() throws Exception {
        settings.lingerTimeout = Duration.ofSeconds(1);
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK);
        int hops = Connections.MAX + 2;
        for (int i = 1; i <= hops; i++) {
            InetSocketAddress address = new InetSocketAddress("127.0.1." + i, portOf(hop));
            node.route("10.1.0." + i + "/32", address, NextHop.Kind.HOST);
        }
        SocketChannel sender = connect(node);
        List<SocketChannel> accepted = new ArrayList<>();
        ByteBuffer reply = packet("mark", "10.9.0.1", PACKET);
        CompletableFuture<Boolean> replied = new CompletableFuture<>();
        int length = packet("mark", "10.1.0.1", 100).capacity();
        for (int i = 1; i <= hops; i++) {
            write(sender, packet("mark", "10.1.0." + i, 100));
            accepted.add(keep(hop.accept()));
            assertThat(read(accepted.get(i - 1), length).remaining()).isEqualTo(length);
            if (i == 1) {
                SocketChannel first = accepted.get(0);
                Future<Boolean> writing = writing(first, reply, MANY);
                async(() -> {
                    writing.get();
                    first.close();
                    replied.complete(true);
                });
                awaitStandstill(node);
            }
            if (i == Connections.MAX + 1) {
                whileIsOpen(node, Duration.ofSeconds(2));
            }
        }
        for (SocketChannel each : accepted.subList(1, hops)) {
            each.shutdownOutput();
        }
        sender.shutdownOutput();
        assertThat(readToEnd(sender)).isEqualTo((long) MANY * reply.capacity());
        assertThat(replied.get(40, TimeUnit.SECONDS)).isTrue();
        node.assertDrops(Map.of());
    }

    // ---- packets that do not get whole -----------------------------------------------------------------------------

    @Test
    void aPacketThatBeginsWhenTheThreadWasAwayIsNotLate() throws Exception {
        settings.firstPacketTimeout = Duration.ofSeconds(2);
        TestSink sink = sink();
        Semaphore away = new Semaphore(0);
        Semaphore back = new Semaphore(0);
        AtomicBoolean isFirst = new AtomicBoolean(true);
        ServiceDefinition leaving = define("leaving", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                if (isFirst.getAndSet(false)) {
                    after(Duration.ofMillis(50), () -> {
                        away.release();
                        back.acquireUninterruptibly();
                    });
                }
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(leaving).toHost(sink.address());
        SocketChannel sender = connect(node);
        ByteBuffer whole = packet("leaving", "10.1.0.1", 100);
        ByteBuffer next = ByteBuffer.allocate(3 * whole.capacity());
        for (int i = 0; i < 3; i++) {
            next.put(whole.duplicate());
        }
        int half = whole.capacity() / 2;
        write(sender, next.flip().limit(whole.capacity() + half));
        away.acquire();
        whileIsOpen(node, Duration.ofSeconds(3));
        write(sender, next.limit(2 * whole.capacity() + half));
        whileIsOpen(node, Duration.ofMillis(100));
        back.release();
        sink.await(2);
        write(sender, next.limit(next.capacity()));
        sink.await(3);
        sender.shutdownOutput();
        node.assertDrops(Map.of());
    }

    @Test
    void repliesDoNotExcuseAPacketThatDoesNotGetWhole() throws Exception {
        settings.firstPacketTimeout = Duration.ofMillis(300);
        ServerSocketChannel hop = hop();
        TestNode node = node(MARK).toHost(at(hop));
        SocketChannel sender = connect(node);
        write(sender, packet("mark", "10.1.0.1", 100));
        SocketChannel accepted = keep(hop.accept());
        read(accepted, packet("mark", "10.1.0.1", 100).capacity());
        write(sender, packet("mark", "10.1.0.1", 100).limit(50));
        Future<Long> replies = async(() -> readToEnd(sender));
        ByteBuffer reply = packet("mark", "10.9.0.1", 100);
        eventually().until(() -> {
            write(accepted, reply.duplicate());
            return node.dropped(DropReason.TRUNCATED) == 1;
        });
        accepted.close();
        assertThat(replies.get()).isPositive();
        node.assertDrops(Map.of(DropReason.TRUNCATED, 1L));
    }
}
