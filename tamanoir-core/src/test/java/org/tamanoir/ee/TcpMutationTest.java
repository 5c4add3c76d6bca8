package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.support.Seeds;

/** A node under a flood of damaged packets, which serves a good stream beside them. */
class TcpMutationTest extends TcpNodeTesting {
    private static final int PACKETS = Seeds.scaled(30_000);
    private static final int PACKETS_A_CONNECTION = 100;

    @Test
    void damagedPacketsHarmNoOtherStream() throws IOException {
        long seed = Seeds.ofCommit(TcpMutationTest.class);
        SplittableRandom random = new SplittableRandom(seed);
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        int good = 0;
        long mutated = 0;
        try (AnepSender sender = sender(node)) {
            PacketBuilder goodPackets = packets("mark").stream(99).checksum();
            goodPackets.nextSequence(0);
            for (int connection = 0; connection < PACKETS / PACKETS_A_CONNECTION; connection++) {
                sender.send(goodPackets, payload(good, 100));
                good++;
                sender.flush();
                mutated += sendDamaged(node, random);
            }
            sender.finish();
            eventually().until(() -> node.environment.streams().open() == 0);
        }
        int expected = good;
        assertThat(mutated).isEqualTo(PACKETS);
        eventually()
                .untilAsserted(() -> assertThat(sink.packets().stream()
                                .filter(packet -> packet.streamId() == 99 && packet.payloadLength() == 100)
                                .filter(packet -> packet.classOfService() == 1)
                                .count())
                        .describedAs("seed %s", seed)
                        .isGreaterThanOrEqualTo(expected));
        assertThat(sink.connections())
                .describedAs("seed %s", seed)
                .anySatisfy(
                        connection -> assertThat(connection.packets().stream().map(packet -> packet.sequence()))
                                .containsExactlyElementsOf(IntStream.range(0, expected)
                                        .mapToObj(Long::valueOf)
                                        .toList()));
        assertThat(node.traffic().dropped()).describedAs("seed %s", seed).isPositive();
    }

    /** Packets of one connection, damaged, to an address without a route where that survives. */
    private int sendDamaged(TestNode node, SplittableRandom random) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(PACKETS_A_CONNECTION * 200);
        PacketBuilder builder = packets("mark").checksum();
        for (int i = 0; i < PACKETS_A_CONNECTION; i++) {
            int start = bytes.position();
            builder.write(bytes, payload(i, random.nextInt(40)));
            int length = bytes.position() - start;
            // The basic header ends the connection when it is damaged, so most damage is behind it.
            int from = random.nextInt(40) == 0 ? 0 : 8;
            for (int damage = 1 + random.nextInt(3); damage > 0; damage--) {
                int at = start + from + random.nextInt(length - from);
                bytes.put(at, (byte) (bytes.get(at) ^ 1 << random.nextInt(8)));
            }
        }
        bytes.flip();
        try (SocketChannel channel = SocketChannel.open(node.address())) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            while (bytes.hasRemaining()) {
                int bytesNow = Math.min(bytes.remaining(), 1 + random.nextInt(4000));
                channel.write(bytes.slice(bytes.position(), bytesNow));
                bytes.position(bytes.position() + bytesNow);
            }
        } catch (IOException e) {
            // The node closed it: as it should.
        }
        return PACKETS_A_CONNECTION;
    }
}
