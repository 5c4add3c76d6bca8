package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** The order of what waits for a UDP service, and where each packet came from. */
class RingInboxTest {
    private final BufferPool pool = new BufferPool(4);
    private final Buffer memory = pool.take(PacketRing.MIN_BYTES, PacketRing.MIN_BYTES);
    private final RingInbox inbox = new RingInbox(new NoIntake(), memory);

    /** An inbox tells it which held packets were handled; nothing here listens. */
    private static final class NoIntake implements UdpIntake {
        @Override
        public @Nullable DropReason deliver(long key, Packet packet, Arrival from) {
            return null;
        }

        @Override
        public boolean isHolding() {
            return false;
        }

        @Override
        public void handled(Held held) {}

        @Override
        public void readShared(UdpPort port) {}

        @Override
        public boolean isStopping() {
            return false;
        }
    }

    @AfterEach
    void giveMemoryBack() {
        pool.give(memory);
        pool.close();
    }

    @Test
    void whatWasHeldComesBeforeTheRingAndLeavesItsArrivalsAlone() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Packet packet = new PacketBuilder().service("any").build(ByteBuffer.allocate(8));
            Arrival near = new Arrival(socket, 0, 1, 1001, 0, 0, 0);
            Arrival far = new Arrival(socket, 0, 2, 2002, 0, 0, 0);
            Arrival inHand = new Arrival(socket);
            assertThat(inbox.takeHeld(List.of(new UdpIntake.Held(new byte[8], near))))
                    .isTrue();
            assertThat(inbox.offer(packet, far)).isNull();

            assertThat(inbox.next(inHand))
                    .as("the ring, while an older one is held")
                    .isFalse();
            assertThat(inbox.nextHeld(inHand)).hasSize(8);
            assertThat(inHand.port()).isEqualTo(1001);
            assertThat(inbox.next(inHand)).isTrue();
            assertThat(inHand.port()).isEqualTo(2002);
            assertThat(inbox.nextHeld(inHand)).isNull();
            assertThat(inHand.port()).isEqualTo(2002);
            inbox.release();
        }
    }
}
