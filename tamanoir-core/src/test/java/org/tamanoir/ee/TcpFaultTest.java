package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.ECHO;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.StreamCounts;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.transport.TransportKind;

/** Peers that send nonsense, too little or nothing, and next hops that fail. */
class TcpFaultTest extends TcpNodeTesting {
    private static ByteBuffer whole(int number) {
        ByteBuffer bytes = ByteBuffer.allocate(200);
        packets("mark").write(bytes, number(number));
        return bytes.flip();
    }

    private static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** A listener that never accepts by itself. */
    private ServerSocketChannel listener() throws IOException {
        ServerSocketChannel listener = keep(ServerSocketChannel.open());
        listener.setOption(StandardSocketOptions.SO_RCVBUF, 16 * 1024);
        return listener.bind(new InetSocketAddress("127.0.0.1", 0));
    }

    private static InetSocketAddress addressOf(ServerSocketChannel listener) throws IOException {
        return (InetSocketAddress) listener.getLocalAddress();
    }

    @ParameterizedTest
    @CsvSource({
        "02004a4e00020008, VERSION",
        "01004a4e000200, TRUNCATED",
        "01004a4e00010008, HEADER_LENGTH",
        "01004a4e0002000761626364, HEADER_LENGTH",
        "01004a4e0002004061626364, TRUNCATED",
        "01004a4e0003000c00010000, OPTION_LENGTH",
        "01004a4e000500140001000400000001" + "0a000102, OPTION_LENGTH",
        "01004a4e000a002d00010003000000010a00010200020003000000010a00020700030002598f000068656c6c6e, CHECKSUM",
        "01004a4e000400100001000200000001, OPTION_FORMAT",
        "01004a4e0002000a61626364, TRUNCATED",
    })
    void malformedPacketsEndUnderTheirName(String hex, DropReason reason) throws IOException {
        byte[] bytes = HexFormat.of().parseHex(hex);
        boolean whole = bytes.length == 12 && reason == DropReason.TRUNCATED && hex.contains("000a6162");
        for (boolean first : new boolean[] {true, false}) {
            TestSink sink = sink();
            TestNode node = node(MARK).toHost(sink.address());
            try (SocketChannel channel = connect(node)) {
                if (!first) {
                    write(channel, whole(1));
                    sink.await(1);
                }
                write(channel, ByteBuffer.wrap(bytes));
                channel.shutdownOutput();
                // The tenth is a whole packet without destination, and two bytes of another one.
                node.assertDrops(whole ? Map.of(DropReason.NO_ROUTE, 1L, reason, 1L) : Map.of(reason, 1L));
            }
            if (!first) {
                sink.awaitEnds();
            }
            assertThat(sink.packets()).hasSize(first ? 0 : 1);
        }
    }

    @Test
    void connectionsThatStaySilentOrStopAreClosed() throws IOException {
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        SocketChannel silent = connect(node);
        SocketChannel stopsInHeader = connect(node);
        SocketChannel claims = connect(node);
        SocketChannel stopsLater = connect(node);
        write(stopsInHeader, whole(0).limit(5));
        write(claims, ByteBuffer.wrap(HexFormat.of().parseHex("0100544d0002ffff")));
        write(stopsLater, whole(1));
        write(stopsLater, whole(2).limit(30));
        for (SocketChannel channel : List.of(silent, stopsInHeader, claims, stopsLater)) {
            eventually().until(() -> isClosed(channel));
        }
        assertThat(sink.await(1)).hasSize(1);
        node.assertDrops(Map.of(DropReason.TRUNCATED, 3L));
    }

    private static boolean isClosed(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(16)) < 0;
        } catch (IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aResetInMidPacketEndsTheStreamAlone(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        AnepSender good = sender(node);
        good.send(packets("mark"), number(1));
        good.flush();
        sink.await(1);
        SocketChannel channel = connect(node);
        write(channel, whole(2));
        write(channel, whole(3).limit(20));
        sink.await(2);
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        channel.close();
        eventually().until(() -> node.environment.streams().open() == 1);
        good.send(packets("mark"), number(4));
        good.finish();
        sink.await(3);
        node.settle();
        assertThat(node.dropped(DropReason.TRUNCATED)).isLessThanOrEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void answersWaitForASlowReaderThatHasEndedItsSide(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestNode node = node(ECHO);
        PacketBuilder builder = packets("echo");
        int packets = 200;
        try (SocketChannel channel = keep(SocketChannel.open())) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 16 * 1024);
            channel.connect(node.address());
            ByteBuffer all = ByteBuffer.allocate(packets * 10_000);
            for (int i = 0; i < packets; i++) {
                builder.write(all, TestServices.payload(i, 10_000 - builder.headerLength()));
            }
            Thread writer = new Thread(() -> {
                try {
                    write(channel, all.flip());
                    channel.shutdownOutput();
                } catch (IOException e) {
                    // The reader misses the rest.
                }
            });
            writer.start();
            ByteBuffer answers = ByteBuffer.allocateDirect(packets * 10_000 + 1);
            while (channel.read(answers) >= 0) {
                Thread.yield();
            }
            assertThat(answers.position()).isEqualTo(packets * 10_000);
            Packet packet = new Packet();
            for (int i = 0; i < packets; i++) {
                assertThat(packet.parse(answers, i * 10_000, 10_000)).isNull();
                assertThat(packet.sequence()).isEqualTo(i);
            }
        }
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatRefusesEndsTheStreamInTime(TransportKind kind) throws IOException {
        settings.transport = kind;
        settings.connectTimeout = Duration.ofMillis(300);
        TestNode node = node(MARK).toHost(nobody());
        AnepSender sender = sender(node);
        for (int i = 0; i < 10; i++) {
            sender.send(packets("mark"), number(i));
        }
        sender.flush();
        node.assertDrops(Map.of(DropReason.NEXT_HOP_UNREACHABLE, 10L));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatNeverReadsEndsTheStreamInTime(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.stallTimeout = Duration.ofMillis(500);
        ServerSocketChannel hop = listener();
        TestNode node = node(MARK).toHost(addressOf(hop));
        SocketChannel channel = connect(node);
        Thread writer = flood(channel);
        node.settleAfterDrop(DropReason.NEXT_HOP_STALLED);
        writer.join();
        node.assertConserved();
    }

    @Test
    void aNextHopThatDiesEndsTheStream() throws Exception {
        ServerSocketChannel hop = listener();
        TestNode node = node(MARK).toHost(addressOf(hop));
        SocketChannel channel = connect(node);
        Thread writer = flood(channel);
        try (SocketChannel accepted = hop.accept()) {
            accepted.read(ByteBuffer.allocate(10_000));
            accepted.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        node.settleAfterDrop(DropReason.NEXT_HOP_LOST);
        writer.join();
        node.assertConserved();
    }

    /** Writes packets until the connection is closed. */
    private static Thread flood(SocketChannel channel) {
        PacketBuilder builder = packets("mark");
        ByteBuffer bytes = ByteBuffer.allocate(100_000);
        while (bytes.remaining() > 2000) {
            builder.write(bytes, ByteBuffer.allocate(1000));
        }
        bytes.flip();
        Thread writer = new Thread(() -> {
            try {
                while (true) {
                    write(channel, bytes.rewind());
                }
            } catch (IOException e) {
                // So it ends.
            }
        });
        writer.start();
        return writer;
    }

    @Test
    void connectionsBeyondTheLimitAreRefusedAndRoomIsGivenAgain() throws IOException {
        settings.maxStreams = 5;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        List<AnepSender> admitted = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            AnepSender sender = sender(node);
            admitted.add(sender);
            sender.send(packets("mark"), number(i));
            sender.flush();
        }
        sink.await(5);
        for (int i = 0; i < 300; i++) {
            connect(node);
        }
        eventually().until(() -> node.environment.streams().refused() == 300);
        assertThat(node.environment.streams()).isEqualTo(new StreamCounts(5, 5, 300));
        admitted.get(0).finish();
        eventually().until(() -> node.environment.streams().open() == 4);
        try (AnepSender late = sender(node)) {
            late.send(packets("mark"), number(6));
            late.finish();
            sink.await(6);
        }
        for (AnepSender sender : admitted.subList(1, 5)) {
            sender.finish();
        }
        node.assertDrops(Map.of());
    }
}
