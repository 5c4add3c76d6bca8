package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.MovableClock;
import org.tamanoir.transport.TransportKind;

/** Services that would hold up the node's own threads: those are to serve the other streams as before. */
@Timeout(240)
class HostileServiceTest extends TcpNodeTesting {
    private final MovableClock clock = new MovableClock();
    private final CountDownLatch released = new CountDownLatch(1);
    /** Set when the node reads a {@link Hanging}, and stays set. */
    private final AtomicBoolean isRead = new AtomicBoolean();

    @AfterEach
    void release() {
        released.countDown();
        eventually()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .noneMatch(name -> name.equals("holds") || name.equals("interrupts")));
    }

    private void hang() {
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException e) {
                // As a loop would.
            }
        }
    }

    private final class Hanging extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            isRead.set(true);
            hang();
            return "released";
        }
    }

    private static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            throw new IllegalStateException("on purpose");
        }
    }

    private void assertServesOthers(TestNode node, TestSink sink) throws IOException {
        try (AnepSender good = sender(node)) {
            good.send(packets("mark"), number(77));
            good.finish();
            eventually().until(() -> sink.numbers().contains(77));
        }
        assertThat(node.environment.coreProblems()).isEmpty();
    }

    @Test
    void anExceptionOfAConstructorThatHangsWhenItIsReadHoldsUpNobody() throws Exception {
        settings.platform = clock;
        settings.makeTimeout = Duration.ofSeconds(8);
        TestSink sink = sink();
        TestNode node = node(MARK, define("bad", () -> {
                    throw new Hanging();
                }))
                .toHost(sink.address());
        AnepSender bad = sender(node);
        bad.send(packets("bad"), number(1));
        bad.flush();
        eventually().untilTrue(isRead);
        clock.hurryUntil(() -> node.dropped(DropReason.NO_INSTANCE) == 1);
        assertServesOthers(node, sink);
    }

    @Test
    void anExceptionThatCannotBeReadEndsItsPacketAndNotItsStream() throws Exception {
        TestSink sink = sink();
        TestNode node = node(define("bad", () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        if (TestSink.number(packet) == 13) {
                            throw new Unreadable();
                        }
                        return Verdict.FORWARD;
                    }
                }))
                .toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("bad"), number(13));
            sender.send(packets("bad"), number(14));
            sender.finish();
            sink.await(1);
        }
        assertThat(sink.numbers()).containsExactly(14);
        node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L));
        assertThat(List.copyOf(log()))
                .anyMatch(line -> line.contains("failed in process: " + Unreadable.class.getName()));
    }

    /** When another thread takes the monitor of the instance, which starting and naming a thread need. */
    enum Taken {
        IN_THE_CONSTRUCTOR,
        WHEN_IT_HAS_STARTED
    }

    private final class Locked extends Service {
        Locked(Taken taken) {
            CountDownLatch held = new CountDownLatch(1);
            Thread holder = new Thread(
                    () -> {
                        if (taken == Taken.WHEN_IT_HAS_STARTED) {
                            eventually().until(this::isAlive);
                        }
                        synchronized (this) {
                            held.countDown();
                            hang();
                        }
                    },
                    "holds");
            holder.start();
            if (taken == Taken.IN_THE_CONSTRUCTOR) {
                try {
                    held.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    @ParameterizedTest
    @EnumSource(Taken.class)
    void aServiceWhoseMonitorIsTakenHoldsUpNobody(Taken taken) throws Exception {
        settings.platform = clock;
        settings.makeTimeout = Duration.ofSeconds(8);
        settings.stuckTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        TestNode node = node(MARK, define("locked", () -> new Locked(taken))).toHost(sink.address());
        AnepSender bad = sender(node);
        bad.send(packets("locked"), number(13));
        bad.flush();
        eventually()
                .until(() -> node.traffic().packetsIn() == 1
                        || node.environment.streams().open() == 1);
        assertServesOthers(node, sink);
        if (taken == Taken.IN_THE_CONSTRUCTOR) {
            clock.hurryUntil(() -> node.dropped(DropReason.NO_INSTANCE) == 1);
        }
        released.countDown();
        bad.close();
    }

    /** Closes when the test ends. */
    private final class Clinging extends AbstractInterruptibleChannel {
        void block() {
            begin();
            hang();
        }

        @Override
        protected void implCloseChannel() {
            hang();
        }
    }

    @Test
    void aServiceWhoseChannelDoesNotCloseHoldsUpNoWatchdog() throws Exception {
        settings.stuckTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        ServiceDefinition clinging = define("clinging", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                new Clinging().block();
                return Verdict.FORWARD;
            }
        });
        ServiceDefinition spinning = define("spinning", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                hang();
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(MARK, clinging, spinning).toHost(sink.address());
        try (SocketChannel first = connect(node);
                SocketChannel second = connect(node)) {
            first.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("clinging").build(number(1)))));
            eventually().until(() -> clinging.health().stuck() == 1);
            second.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("spinning").build(number(1)))));
            eventually().until(() -> spinning.health().stuck() == 1);
            assertServesOthers(node, sink);
        }
    }

    /** The threads that the node cannot do without. */
    private static List<Thread> core() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> List.of("reception", "watchdog").contains(thread.getName()))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void interruptsOfTheNodesThreadsAreIgnored(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.stuckTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        AtomicInteger interrupted = new AtomicInteger();
        ServiceDefinition hostile = define("hostile", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                core().forEach(Thread::interrupt);
                interrupted.addAndGet(core().size());
                hang();
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(MARK, hostile).toHost(sink.address());
        try (SocketChannel bad = connect(node)) {
            bad.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("hostile").build(number(1)))));
            eventually().until(() -> interrupted.get() >= 2);
            // An interrupt that stays makes each of its waits end at once: it would spin.
            eventually().until(() -> core().stream().noneMatch(Thread::isInterrupted));
            assertServesOthers(node, sink);
            eventually().until(() -> hostile.health().stuck() == 1);
        }
    }
}
