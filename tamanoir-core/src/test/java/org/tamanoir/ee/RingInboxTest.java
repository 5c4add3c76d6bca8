package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** The order of what waits for a UDP service, and where each packet came from. */
class RingInboxTest {
    /** Ports that tell senders apart. */
    private static final int OTHER = 1001;

    private static final int CONTROL = 2002;
    private final BufferPool pool = new BufferPool(4);
    private final RingInbox inbox = new RingInbox(new NoIntake(), pool, PacketRing.MIN_BYTES);

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
        inbox.free(pool, false);
        pool.close();
    }

    @Test
    void whatWasHeldComesBeforeTheRingAndLeavesItsArrivalsAlone() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Packet packet = new PacketBuilder().service("any").build(ByteBuffer.allocate(8));
            Arrival near = new Arrival(socket, 0, 1, 1001, 0, 0, 0);
            Arrival far = new Arrival(socket, 0, 2, 2002, 0, 0, 0);
            Arrival inHand = new Arrival(socket);
            assertThat(inbox.takeHeld(List.of(new UdpIntake.Held(new byte[8], near, 0))))
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

    @Test
    void controlPacketsGoFirstAndAreATenthWhileOthersWait() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Arrival other = new Arrival(socket, 0, 1, OTHER, 0, 0, 0);
            for (int i = 0; i < 100; i++) {
                assertThat(inbox.offer(packet(1), other)).isNull();
            }
            for (int i = 0; i < 40; i++) {
                assertThat(inbox.offer(packet(255), new Arrival(socket, 0, 2, CONTROL, 0, 0, 0)))
                        .isNull();
            }

            assertThat(order(new Arrival(socket))).isEqualTo("c".repeat(32) + "oooooooooc".repeat(8) + "o".repeat(28));
        }
    }

    @Test
    void aFullInboxHasRoomForControlPackets() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Arrival other = new Arrival(socket, 0, 1, OTHER, 0, 0, 0);
            int others = 0;
            while (inbox.offer(packet(1), other) == null) {
                others++;
            }

            assertThat(inbox.offer(packet(255), new Arrival(socket, 0, 2, CONTROL, 0, 0, 0)))
                    .isNull();

            assertThat(order(new Arrival(socket))).isEqualTo("c" + "o".repeat(others));
        }
    }

    @Test
    void of257ControlPacketsOneFindsNoRoomUntilOthersHaveLeft() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Arrival from = new Arrival(socket, 0, 2, CONTROL, 0, 0, 0);
            for (int i = 0; i < 256; i++) {
                assertThat(inbox.offer(packet(255), from)).isNull();
            }

            assertThat(inbox.offer(packet(255), from)).isEqualTo(DropReason.INBOX_FULL);

            assertThat(order(new Arrival(socket))).hasSize(256);
            assertThat(inbox.offer(packet(255), from)).isNull();
            assertThat(order(new Arrival(socket))).isEqualTo("c");
        }
    }

    @Test
    void aClosedInboxTakesNoControlPacketEither() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            inbox.close();

            assertThat(inbox.offer(packet(255), new Arrival(socket, 0, 2, CONTROL, 0, 0, 0)))
                    .isEqualTo(DropReason.SHUTDOWN);
        }
    }

    @Test
    void controlPacketsThatCameLaterHoldNothingUp() throws Exception {
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Arrival from = new Arrival(socket, 0, 2, CONTROL, 0, 0, 0);
            assertThat(inbox.offer(packet(255), from)).isNull();
            BooleanSupplier past = inbox.mark();
            assertThat(inbox.offer(packet(255), from)).isNull();

            assertThat(past.getAsBoolean()).isFalse();
            assertThat(inbox.next(new Arrival(socket))).isTrue();
            assertThat(past.getAsBoolean()).isTrue();
            inbox.release();
        }
    }

    private static Packet packet(int classOfService) {
        return new PacketBuilder()
                .service("any")
                .classOfService(classOfService, 0)
                .build(ByteBuffer.allocate(8));
    }

    /** Takes out all that waits: c for a control packet, o for another. */
    private String order(Arrival inHand) {
        StringBuilder order = new StringBuilder();
        while (inbox.next(inHand)) {
            Packet found = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
            assertThat(found.parse(inbox.bytes(), inbox.offset(), inbox.length()))
                    .isNull();
            assertThat(found.classOfService()).isEqualTo(inHand.port() == CONTROL ? 255 : 1);
            order.append(inHand.port() == CONTROL ? 'c' : 'o');
        }
        inbox.release();
        return order.toString();
    }
}
