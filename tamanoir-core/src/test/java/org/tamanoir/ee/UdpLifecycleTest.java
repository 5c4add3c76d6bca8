package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Start and stop of a node that serves UDP. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpLifecycleTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";

    /** Counts its ends, and sends a last packet. */
    private static final class Ending extends UdpTestNode.Scripted {
        final AtomicInteger ends;
        final AtomicInteger closes;
        final Packet last;

        Ending(UdpTestNode.Step step, AtomicInteger ends, AtomicInteger closes, Packet last) {
            super(step);
            this.ends = ends;
            this.closes = closes;
            this.last = last;
        }

        @Override
        public void endOfStream() {
            ends.incrementAndGet();
            emit(last);
        }

        @Override
        public void close() {
            closes.incrementAndGet();
        }
    }

    private static List<byte[]> packets(PacketBuilder builder, int count) {
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(UdpTestNode.packet(builder, 100));
        }
        return packets;
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void stopProcessesWhatWaitsThenEndsTheServiceOnce(TransportKind kind) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(1);
        AtomicInteger ends = new AtomicInteger();
        AtomicInteger closes = new AtomicInteger();
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            PacketBuilder last = UdpTestNode.builder(receiver.address(), "", 99);
            node.deliver("127.0.0.1/32", Transport.SAME)
                    .service(OTHER, UdpTestNode.Scripted::answer)
                    .service(
                            NAME,
                            FailurePolicy.DROP,
                            () -> new Ending(
                                    (service, packet) -> {
                                        blocked.countDown();
                                        latch.await();
                                        return Verdict.FORWARD;
                                    },
                                    ends,
                                    closes,
                                    last.build(ByteBuffer.allocate(3))));
            List<byte[]> sent = packets(UdpTestNode.builder(receiver.address(), NAME, 1), 200);
            List<byte[]> other = packets(UdpTestNode.builder(receiver.address(), OTHER, 2), 2);
            sender.pump(node.udp(), other, sender);
            sender.send(node.udp(), sent.get(0));
            blocked.await();
            sender.send(node.udp(), sent.subList(1, 200));
            sender.pump(node.udp(), other, sender); // behind the others: those have been read
            CompletableFuture<Integer> stopping = Waiting.async(() -> node.environment.stop(UdpTestNode.PATIENCE));
            eventually().until(() -> node.environment.udp.isStopping());
            latch.countDown();
            assertThat(stopping.get(40, TimeUnit.SECONDS)).isZero();
            for (byte[] packet : sent) {
                assertThat(receiver.next()).isEqualTo(packet);
            }
            assertThat(UdpTestNode.parsed(receiver.next()).streamId()).isEqualTo(99);
            assertThat(ends).hasValue(1);
            assertThat(closes).hasValue(1);
            TrafficSnapshot traffic = node.balanced(204);
            assertThat(traffic.drops()).isEmpty();
            assertThat(traffic.packetsOut()).isEqualTo(205);
        } finally {
            latch.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void stopTakesWhatHasReachedASocketThatTheServiceReadsItself(TransportKind kind) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        AtomicBoolean hold = new AtomicBoolean();
        CountDownLatch blocked = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.deliver("127.0.0.1/32", Transport.SAME).service(NAME, (service, packet) -> {
                if (hold.get()) {
                    blocked.countDown();
                    latch.await();
                }
                return Verdict.FORWARD;
            });
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), NAME, 1);
            sender.pump(node.udp(), packets(builder, 50), receiver);
            hold.set(true);
            List<byte[]> sent = packets(builder, 500);
            sender.send(node.udp(), sent.get(0));
            blocked.await();
            sender.send(node.udp(), sent.subList(1, 500));
            CompletableFuture<Integer> stopping = Waiting.async(() -> node.environment.stop(UdpTestNode.PATIENCE));
            eventually().until(() -> node.environment.udp.isStopping());
            latch.countDown();
            assertThat(stopping.get(40, TimeUnit.SECONDS)).isZero();
            for (byte[] packet : sent) {
                assertThat(receiver.next()).isEqualTo(packet);
            }
            assertThat(node.balanced(550).packetsOut()).isEqualTo(550);
        } finally {
            latch.countDown();
        }
    }

    /** Processor time, not time, is measured: a thread that rests uses none, however slow its host is. */
    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aDatagramThatComesTooLateKeepsNoServiceAwakeThatWaitsForItsNextHop(TransportKind kind) throws Exception {
        AtomicReference<Thread> thread = new AtomicReference<>();
        CountDownLatch ended = new CountDownLatch(1);
        try (ServerSocket server = new ServerSocket()) {
            server.setReceiveBufferSize(4_096);
            server.bind(UdpTestNode.at("127.0.0.1", 0));
            try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                    UdpTestNode node = UdpTestNode.start(kind)) {
                node.toHost("10.1.0.0/16", (InetSocketAddress) server.getLocalSocketAddress(), Transport.TCP)
                        .service(
                                NAME,
                                FailurePolicy.DROP,
                                () ->
                                        new UdpTestNode.Scripted((service, packet) -> {
                                            thread.set(Thread.currentThread());
                                            return Verdict.FORWARD;
                                        }) {
                                            @Override
                                            public void endOfStream() {
                                                ended.countDown();
                                            }
                                        });
                PacketBuilder builder = UdpTestNode.builder(UdpTestNode.at("10.1.0.1", 4_000), NAME, 1);
                byte[] packet = UdpTestNode.packet(builder, 8_000);
                sender.send(node.udp(), packet);
                server.setSoTimeout((int) Waiting.PATIENCE.toMillis());
                Socket connection = server.accept(); // Which nobody reads.
                long[] before = {-1, 0};
                eventually()
                        .until(
                                () -> { // Until all buffers on the way are full: twenty times nothing more leaves.
                                    for (int i = 0; i < 100; i++) {
                                        sender.send(node.udp(), packet);
                                    }
                                    TrafficSnapshot now = node.environment.traffic();
                                    boolean isFull = now.packetsOut() == before[0]
                                            && now.drops().containsKey(DropReason.OUTPUT_FULL);
                                    before[0] = now.packetsOut();
                                    before[1] = isFull ? before[1] + 1 : 0;
                                    return before[1] == 20;
                                });
                CompletableFuture<Integer> stopping = Waiting.async(() -> node.environment.stop(Duration.ofMinutes(5)));
                try {
                    assertThat(ended.await(40, TimeUnit.SECONDS)).isTrue();
                    sender.send(node.udp(), packet);
                    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
                    long id = thread.get().getId();
                    long used = threads.getThreadCpuTime(id);
                    assertThat(used).isPositive();
                    Thread.sleep(500); // A thread that is kept awake uses all of it.
                    assertThat(threads.getThreadCpuTime(id) - used).isBetween(0L, 100_000_000L);
                    assertThat(stopping).as("it waits for its next hop").isNotDone();
                } finally {
                    connection.setSoLinger(true, 0);
                    connection.close();
                }
                assertThat(stopping.get(40, TimeUnit.SECONDS)).isZero();
                TrafficSnapshot last = node.environment.traffic();
                assertThat(last.held()).isZero();
                UdpTestNode.assertBalance(last);
                assertThat(last.drops()).containsKey(DropReason.NEXT_HOP_LOST);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void stopAtOnceCountsWhatWasLeft(TransportKind kind) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.service(OTHER, UdpTestNode.Scripted::answer).service(NAME, (service, packet) -> {
                blocked.countDown();
                latch.await();
                return Verdict.CONSUME;
            });
            List<byte[]> other = packets(UdpTestNode.builder(node.udp(), OTHER, 2), 1);
            List<byte[]> sent = packets(UdpTestNode.builder(node.udp(), NAME, 1), 1_000);
            sender.pump(node.udp(), other, sender);
            sender.send(node.udp(), sent.get(0));
            blocked.await();
            for (int i = 1; i < 1_000; i += 111) {
                sender.send(node.udp(), sent.subList(i, Math.min(1_000, i + 111)));
                sender.pump(node.udp(), other, sender);
            }
            long in = node.environment.traffic().packetsIn();
            CompletableFuture<Integer> stopping = Waiting.async(() -> node.environment.stop(Duration.ZERO));
            eventually().until(() -> node.environment.instances().size() == 1);
            latch.countDown();
            assertThat(stopping.get(40, TimeUnit.SECONDS)).isZero();
            TrafficSnapshot traffic = node.balanced(in);
            assertThat(traffic.drops().keySet()).isSubsetOf(DropReason.CONSUMED, DropReason.SHUTDOWN);
            assertThat(traffic.dropped()).isEqualTo(1_000);
            assertThat(traffic.drops().get(DropReason.SHUTDOWN)).isGreaterThan(0);
        } finally {
            latch.countDown();
        }
    }

    @Test
    void aServiceThatDoesNotReturnIsLeftBehind() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        CountDownLatch latch = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
            UdpTestNode node = UdpTestNode.start(kind).service(NAME, (service, packet) -> {
                blocked.countDown();
                latch.await();
                return Verdict.CONSUME;
            });
            sender.send(node.udp(), packets(UdpTestNode.builder(node.udp(), NAME, 1), 1));
            blocked.await();
            CompletableFuture<Integer> stopping = Waiting.async(() -> node.environment.stop(Duration.ofMillis(10)));
            assertThat(stopping.get(40, TimeUnit.SECONDS)).isZero();
            assertThat(UdpTestNode.nodeThreads()).contains("udp " + NAME);
            latch.countDown();
            node.assertDrops(1, Map.of(DropReason.SHUTDOWN, 1L));
        } finally {
            latch.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void stopUnderAFloodEnds(TransportKind kind) throws Exception {
        AtomicBoolean flooding = new AtomicBoolean(true);
        AtomicInteger rounds = new AtomicInteger();
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.service(NAME, (service, packet) -> Verdict.CONSUME)
                    .service(OTHER, (service, packet) -> Verdict.CONSUME);
            List<byte[]> sent = packets(UdpTestNode.builder(node.udp(), NAME, 1), 50);
            sent.addAll(packets(UdpTestNode.builder(node.udp(), OTHER, 1), 50));
            var to = node.udp();
            Thread flood = new Thread(() -> {
                while (flooding.get()) {
                    sender.send(to, rounds.incrementAndGet() < 200 ? sent.subList(0, 50) : sent);
                }
            });
            flood.start();
            try {
                eventually().until(() -> rounds.get() > 400);
                CompletableFuture<Integer> stopping = Waiting.async(() -> node.environment.stop(Duration.ofMinutes(5)));
                assertThat(stopping.get(40, TimeUnit.SECONDS)).isZero();
            } finally {
                flooding.set(false);
                flood.join(UdpTestNode.PATIENCE.toMillis());
            }
            TrafficSnapshot last = node.environment.traffic();
            assertThat(last.held()).isZero();
            UdpTestNode.assertBalance(last);
            assertThat(last.drops().keySet())
                    .isSubsetOf(DropReason.CONSUMED, DropReason.INBOX_FULL, DropReason.SHUTDOWN);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void fiftyLivesLeaveNothingBehind(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1")) {
            for (int life = 0; life < 50; life++) {
                try (UdpTestNode node = UdpTestNode.start(kind)) {
                    node.service(NAME, UdpTestNode.Scripted::answer).service(OTHER, UdpTestNode.Scripted::answer);
                    List<byte[]> sent = packets(UdpTestNode.builder(node.udp(), NAME, 1), 5);
                    assertThat(sender.pump(node.udp(), sent, sender)).containsExactlyElementsOf(sent);
                    if (life % 2 == 0) {
                        sent = packets(UdpTestNode.builder(node.udp(), OTHER, 1), 5);
                        assertThat(sender.pump(node.udp(), sent, sender)).containsExactlyElementsOf(sent);
                    }
                    // Still under way when the node ends.
                    sender.send(node.udp(), packets(UdpTestNode.builder(UdpTestNode.at("10.0.0.1", 1), "", 1), 5));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aPortThatIsTakenIsSaidInOneLineAndNothingStaysOpen(TransportKind kind) throws Exception {
        try (UdpFarEnd taken = new UdpFarEnd(kind, "127.0.0.1")) {
            EeConfig config = UdpTestNode.config(kind)
                    .listening(List.of(), List.of(UdpTestNode.at("127.0.0.1", 0), taken.address()));
            UdpTestNode node = new UdpTestNode(config);
            assertThatThrownBy(node.environment::start)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(":" + taken.address().getPort())
                    .hasMessageNotContaining("\n");
            assertThat(node.environment.stop(Duration.ZERO)).isZero();
        }
    }
}
