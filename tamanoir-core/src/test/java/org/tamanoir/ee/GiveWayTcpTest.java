package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Turns that are given back in the midst of a packet of a TCP stream. */
class GiveWayTcpTest extends TcpNodeTesting {
    /** A packet in midst waits for ten times this, however busy the host is. */
    private static final Duration QUANTUM = Duration.ofMillis(100);

    private static final int SHORT_ONES = 8;

    /** Rounds of the long packet, each with a checkpoint. */
    private final AtomicLong rounds = new AtomicLong();
    /** Short packets in whose midst the long one went on. */
    private final AtomicInteger overlapped = new AtomicInteger();

    private final CountDownLatch unblocked = new CountDownLatch(1);
    private volatile boolean goesOn = true;
    private volatile boolean isBlocked;

    @AfterEach
    void release() {
        goesOn = false;
        unblocked.countDown();
    }

    /** Takes packets of class 0 as they come, and does not return one of class 1 before the test says so. */
    private ServiceDefinition longOnes() {
        return define("long", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                while (packet.classOfService() == 1 && goesOn) {
                    rounds.incrementAndGet();
                    checkpoint();
                }
                return Verdict.FORWARD;
            }
        });
    }

    private ServiceDefinition shortOnes() {
        return define("short", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                long before = rounds.get();
                for (int i = 0; i < 20_000; i++) {
                    Thread.onSpinWait();
                }
                if (rounds.get() != before) {
                    overlapped.incrementAndGet();
                }
                return Verdict.FORWARD;
            }
        });
    }

    private ServiceDefinition blocking() {
        return define("block", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws InterruptedException {
                isBlocked = true;
                unblocked.await();
                return Verdict.CONSUME;
            }
        });
    }

    private static void send(AnepSender sender, String service, int classOfService, int number) throws IOException {
        sender.send(TestServices.packets(service).classOfService(classOfService, 0), number(number));
        sender.flush();
    }

    private static void classes(TestNode node, Duration quantum) {
        node.environment.qos(config("pq", 1, quantum, named("short", 0, 1), named("long", 1, 1)));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aLongPacketStandsStillWhileShortOnesHaveTheOnlyProcessor(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(longOnes(), shortOnes()).toHost(sink.address());
        classes(node, QUANTUM);
        AnepSender longSender = sender(node);
        AnepSender shortSender = sender(node);
        send(longSender, "long", 1, 0);
        eventually().until(() -> rounds.get() > 0);
        for (int i = 1; i <= SHORT_ONES; i++) {
            send(shortSender, "short", 0, i);
            sink.await(i);
        }
        assertThat(overlapped).hasValue(0);
        goesOn = false;
        sink.await(SHORT_ONES + 1);
        assertThat(sink.numbers())
                .isEqualTo(IntStream.concat(IntStream.rangeClosed(1, SHORT_ONES), IntStream.of(0))
                        .boxed()
                        .toList());
        longSender.finish();
        shortSender.finish();
        sink.awaitEnds();
        node.assertDrops(Map.of());
    }

    @Test
    void whatWasProcessedBeforeLeavesWhenItsTurnIsGivenBack() throws Exception {
        TestSink sink = sink();
        TestNode node = node(longOnes(), shortOnes()).toHost(sink.address());
        classes(node, QUANTUM);
        AnepSender sender = sender(node);
        sender.send(TestServices.packets("long").classOfService(2, 0), number(1)); // The last class, as what follows.
        sender.send(TestServices.packets("long").classOfService(1, 0), number(2));
        sender.flush();
        eventually().until(() -> rounds.get() > 0);
        AnepSender other = sender(node);
        send(other, "short", 0, 3);
        sink.await(2);
        assertThat(sink.numbers()).containsExactlyInAnyOrder(1, 3);
        goesOn = false;
        sink.await(3);
    }

    @Test
    void aPacketThatIsToBeHeldStaysSoWhileItsTurnIsGivenBack() throws Exception {
        TestSink sink = sink();
        Suspension[] held = new Suspension[1];
        TestNode node = node(shortOnes(), define("hold", () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        held[0] = hold(packet, Duration.ofMinutes(1));
                        while (goesOn) {
                            rounds.incrementAndGet();
                            checkpoint();
                        }
                        return Verdict.HELD;
                    }
                }))
                .toHost(sink.address());
        classes(node, QUANTUM);
        AnepSender holding = sender(node);
        send(holding, "hold", 1, 1);
        eventually().until(() -> rounds.get() > 0);
        AnepSender other = sender(node);
        send(other, "short", 0, 2);
        sink.await(1);
        goesOn = false;
        eventually().until(() -> held[0].resume(Verdict.FORWARD));
        sink.await(2);
        assertThat(sink.numbers()).isEqualTo(List.of(2, 1));
        holding.finish();
        other.finish();
        node.assertDrops(Map.of());
    }

    @Test
    void aServiceThatUsesUpItsStackLeavesOthersTheirTurns() throws Exception {
        TestSink sink = sink();
        TestNode node = node(shortOnes(), define("deep", () -> new Service() {
                    private int stays;

                    @Override
                    public Verdict process(Packet packet) {
                        while (goesOn) {
                            stays = 300;
                            try {
                                descend();
                            } catch (StackOverflowError e) {
                                rounds.incrementAndGet();
                            }
                        }
                        return Verdict.FORWARD;
                    }

                    /** Looks long where next to nothing is left of the stack, and at each frame more of it. */
                    private int descend() {
                        checkpoint();
                        try {
                            return isBlocked ? 0 : descend() + 1; // It is not: this goes on to the end of the stack.
                        } catch (StackOverflowError e) {
                            for (int i = 0; i < 1_000 && stays > 0; i++) {
                                checkpoint();
                            }
                            stays--;
                            throw e;
                        }
                    }
                }))
                .toHost(sink.address());
        classes(node, Duration.ofNanos(100_000));
        AnepSender[] deep = {sender(node), sender(node), sender(node)};
        for (int i = 0; i < deep.length; i++) {
            send(deep[i], "deep", i % 2, i);
        }
        AnepSender other = sender(node);
        int sent = deep.length;
        while (rounds.get() < 100) {
            send(other, "short", 0, sent++);
            sink.await(sent - deep.length);
        }
        goesOn = false;
        sink.await(sent);
        assertThat(sink.numbers())
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, sent).boxed().toList());
        for (AnepSender each : deep) {
            each.finish();
        }
        other.finish();
        sink.awaitEnds();
        node.assertDrops(Map.of());
        assertThat(node.environment.qosStatus().points().get(0).classes())
                .allSatisfy(each -> assertThat(each.waitingTurns()).isZero());
    }

    @Test
    void aNodeThatStopsEndsPacketsInMidstToo() throws Exception {
        TestSink sink = sink();
        ServiceDefinition inMidst = longOnes();
        TestNode node = node(inMidst, blocking()).toHost(sink.address());
        classes(node, Duration.ofSeconds(1)); // Ten of them, for which it would wait, are longer than the stop.
        AnepSender longSender = sender(node);
        send(longSender, "long", 1, 1);
        eventually().until(() -> rounds.get() > 0);
        AnepSender blocker = sender(node);
        send(blocker, "block", 0, 2);
        eventually().until(() -> isBlocked);
        long before = rounds.get();
        Thread closing = new Thread(node.environment::close);
        closing.start();
        eventually().until(() -> rounds.get() > before || !closing.isAlive());
        assertThat(rounds).hasValueGreaterThan(before);
        goesOn = false;
        unblocked.countDown();
        closing.join(60_000);
        assertThat(closing.isAlive()).isFalse();
        assertThat(inMidst.health().stuck()).as("given up").isZero();
        assertThat(node.dropped(DropReason.STARVED)).isZero();
    }
}
