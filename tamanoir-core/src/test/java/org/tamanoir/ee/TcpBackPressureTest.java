package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.transport.TransportKind;

/** A receiver that does not read holds the sender back, and the node keeps little. */
class TcpBackPressureTest extends TcpNodeTesting {
    private static final int PACKET_BYTES = 1000;
    private static final int PACKETS = 60_000;

    @ParameterizedTest
    @MethodSource("kinds")
    void aReceiverThatDoesNotReadHoldsTheSenderBack(TransportKind kind) throws Exception {
        settings.transport = kind;
        try (ServerSocketChannel host = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            TestNode node = node(MARK).toHost((InetSocketAddress) host.getLocalAddress());
            AtomicLong sent = new AtomicLong();
            SocketChannel channel = connect(node);
            long before = directBytes();
            Thread writer = new Thread(() -> send(channel, sent));
            writer.start();
            try (SocketChannel accepted = host.accept()) {
                // Blocked: packets wait in the node, and what it has taken in does not change any more.
                long[] last = {-1};
                eventually().pollInterval(java.time.Duration.ofMillis(100)).until(() -> {
                    long in = node.traffic().packetsIn();
                    boolean stands = in == last[0] && node.traffic().held() > 0;
                    last[0] = in;
                    return stands;
                });
                assertThat(sent.get()).isLessThan((long) PACKETS * PACKET_BYTES);
                assertThat(directBytes() - before).isLessThan(4_000_000);
                assertWhole(accepted);
            }
            writer.join();
            node.assertDrops(Map.of());
        }
    }

    private static void send(SocketChannel channel, AtomicLong sent) {
        PacketBuilder builder = packets("mark");
        ByteBuffer batch = ByteBuffer.allocateDirect(100 * PACKET_BYTES);
        ByteBuffer payload = ByteBuffer.allocate(PACKET_BYTES - builder.headerLength());
        try {
            for (int i = 0; i < PACKETS / 100; i++) {
                batch.clear();
                while (batch.hasRemaining()) {
                    builder.write(batch, payload);
                }
                batch.flip();
                while (batch.hasRemaining()) {
                    sent.addAndGet(channel.write(batch));
                }
            }
            channel.shutdownOutput();
        } catch (IOException e) {
            // The receiver misses the rest.
        }
    }

    private static void assertWhole(SocketChannel accepted) throws IOException {
        ByteBuffer packet = ByteBuffer.allocateDirect(PACKET_BYTES);
        int sequenceAt = sequenceAt();
        for (long i = 0; i < PACKETS; i++) {
            packet.clear();
            while (packet.hasRemaining()) {
                assertThat(accepted.read(packet)).describedAs("packet %s", i).isPositive();
            }
            if (packet.getLong(sequenceAt) != i) {
                assertThat(packet.getLong(sequenceAt)).isEqualTo(i);
            }
        }
        assertThat(accepted.read(packet.clear())).isEqualTo(-1);
    }

    private static int sequenceAt() {
        var packet = packets("mark").build(ByteBuffer.allocate(0));
        return packet.optionOffset(org.tamanoir.anep.Option.STREAM) + 4;
    }
}
