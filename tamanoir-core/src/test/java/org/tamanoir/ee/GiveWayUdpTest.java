package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Turns that are given back in the midst of a datagram. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class GiveWayUdpTest {
    private static final String LONG = "org.example.Long";
    private static final String SHORT = "org.example.Short";

    private static final int SHORT_ONES = 8;

    private final AtomicLong rounds = new AtomicLong();
    private final AtomicInteger overlapped = new AtomicInteger();
    private volatile boolean goesOn = true;

    @AfterEach
    void release() {
        goesOn = false;
    }

    private static byte[] packet(String service, UdpFarEnd to, int classOfService, int number) {
        PacketBuilder builder = UdpTestNode.builder(to.address(), service, 1).classOfService(classOfService, 0);
        return UdpTestNode.bytes(builder.build(ByteBuffer.allocate(40).putInt(0, number)));
    }

    private static int number(byte[] bytes) {
        return TestSink.number(UdpTestNode.parsed(bytes));
    }

    private Verdict processLong(UdpTestNode.Scripted service, Packet packet) {
        while (packet.classOfService() == 1 && goesOn) {
            rounds.incrementAndGet();
            Checkpoint.poll();
        }
        return Verdict.FORWARD;
    }

    private Verdict processShort(UdpTestNode.Scripted service, Packet packet) {
        long before = rounds.get();
        for (int i = 0; i < 20_000; i++) {
            Thread.onSpinWait();
        }
        if (rounds.get() != before) {
            overlapped.incrementAndGet();
        }
        return Verdict.FORWARD;
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aLongDatagramStandsStillWhileShortOnesHaveTheOnlyProcessor(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)
                        .deliver("127.0.0.1/32", Transport.SAME)
                        .service(LONG, this::processLong)
                        .service(SHORT, this::processShort)) {
            for (String service : List.of(LONG, SHORT)) { // So the port is shared, and read by the reception.
                sender.send(node.udp(), packet(service, receiver, 0, -1));
                receiver.next();
            }
            node.environment.qos(config("pq", 1, Duration.ofMillis(100), named("short", 0, 1), named("long", 1, 1)));
            sender.send(node.udp(), packet(LONG, receiver, 1, 0));
            eventually().until(() -> rounds.get() > 0);
            List<Integer> arrived = new ArrayList<>();
            for (int i = 1; i <= SHORT_ONES; i++) {
                sender.send(node.udp(), packet(SHORT, receiver, 0, i));
                arrived.add(number(receiver.next()));
            }
            assertThat(overlapped).hasValue(0);
            // The thread of the long one has these behind it, of another class.
            sender.send(node.udp(), List.of(packet(LONG, receiver, 0, 51), packet(LONG, receiver, 0, 52)));
            goesOn = false;
            for (int i = 0; i < 3; i++) {
                arrived.add(number(receiver.next()));
            }
            assertThat(arrived.subList(0, SHORT_ONES)).isSorted().doesNotHaveDuplicates();
            assertThat(arrived.subList(SHORT_ONES, SHORT_ONES + 3)).containsExactlyInAnyOrder(0, 51, 52);
            eventually().until(() -> node.environment.traffic().packetsOut() == SHORT_ONES + 5);
            assertThat(node.environment.traffic().dropped()).isZero();
        }
    }
}
