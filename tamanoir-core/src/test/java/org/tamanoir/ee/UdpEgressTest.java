package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.Addresses;
import org.tamanoir.support.Tiers;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** What a way out over UDP counts when it is closed with something added. */
class UdpEgressTest {
    private static final int PACKETS = 100;

    private final BufferPool pool = BufferPool.of(1 << 20);
    private final Traffic traffic = new Traffic(new Tap(), "test");

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatHasLeftCountsAsSentAndTheRestAsDropped(TransportKind kind) throws Exception {
        if (kind == TransportKind.NATIVE) {
            boolean works = UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE;
            Tiers.require("native", works, UdpSockets.explain(TransportKind.AUTO));
        }
        InetSocketAddress any = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0);
        try (UdpSocket socket = UdpSockets.bind(kind, any);
                DatagramChannel far = DatagramChannel.open().bind(any)) {
            far.configureBlocking(false);
            InetSocketAddress to = (InetSocketAddress) far.getLocalAddress();
            ScratchBuffers memory = new ScratchBuffers(pool, this, Thread.currentThread(), () -> true);
            UdpEgress egress = new UdpEgress(socket, 0, socket.newSender(), memory, traffic);
            Arrival from = new Arrival(
                    socket, Addresses.high(to.getAddress()), Addresses.low(to.getAddress()), to.getPort(), 0, 0, 0);
            for (int i = 0; i < PACKETS; i++) {
                // Of different lengths, so that none are joined: the kernel is given 64 messages at a time.
                egress.answer(packet(100 + i), from);
            }
            egress.close(DropReason.SERVICE_FAILURE);
            assertThat(egress.held()).isZero();
            assertThat(traffic.packetsOut()).isPositive();
            assertThat(traffic.packetsOut() + traffic.dropped(DropReason.SERVICE_FAILURE))
                    .isEqualTo(PACKETS);
            int[] arrived = {0};
            ByteBuffer into = ByteBuffer.allocate(1000);
            eventually().until(() -> {
                while (far.receive(into.clear()) != null) {
                    arrived[0]++;
                }
                return arrived[0] == traffic.packetsOut();
            });
        } finally {
            pool.close();
        }
    }

    private static Packet packet(int payloadBytes) {
        Packet made =
                packets("mark").destination(InetAddress.getLoopbackAddress()).build(payload(1, payloadBytes));
        ByteBuffer octets = ByteBuffer.allocateDirect(made.length());
        made.copyTo(octets, 0);
        Packet packet = new Packet();
        assertThat(packet.parse(octets, 0, octets.capacity())).isNull();
        return packet;
    }
}
