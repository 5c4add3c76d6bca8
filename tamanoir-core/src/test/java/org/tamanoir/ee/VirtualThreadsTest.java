package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Incident;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;

/**
 * TCP streams on virtual threads: what is true of streams on platform threads, by the same tests, and what is these
 * threads' own.
 */
class VirtualThreadsTest {
    @BeforeAll
    static void runOnThem() {
        String whyNot = ExecutionEnvironment.whyNot(ThreadKind.VIRTUAL, Transport.of(TransportKind.AUTO));
        Tiers.require("virtual-threads", whyNot.isEmpty(), whyNot);
        TestNode.usualThreads = ThreadKind.VIRTUAL;
    }

    @AfterAll
    static void runOnUsualOnes() {
        TestNode.usualThreads = ThreadKind.PLATFORM;
    }

    @Nested
    class Streams extends TcpStreamTest {}

    @Nested
    class Branches extends TcpBranchTest {}

    @Nested
    class BackPressure extends TcpBackPressureTest {}

    @Nested
    class Lifecycle extends TcpLifecycleTest {}

    @Nested
    class Faults extends TcpFaultTest {}

    @Nested
    class PlacesOfStreams extends TcpPlacesTest {}

    @Nested
    class WayBack extends WayBackTest {}

    @Nested
    class WholeOrClosed extends WholeOrClosedTest {}

    @Nested
    class Tls extends TlsStreamTest {}

    @Nested
    class Turns extends PreTcpTest {}

    @Nested
    class Stuck extends StuckTest {}

    @Nested
    class Tasks extends ServiceTasksTest {}

    @Nested
    class Quarantine extends QuarantineTest {}

    /** What is these threads' own. */
    @Nested
    class Themselves extends TcpNodeTesting {
        private static final int STREAMS = 300;
        private static final long BURN_NS = 16_000_000;
        private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
        private final CountDownLatch released = new CountDownLatch(1);

        /** Notes its thread, and how that is called. */
        private final class Noting extends Service {
            @Override
            public Verdict process(Packet packet) {
                assertThat(Thread.currentThread()).isSameAs(thread()).isNotSameAs(this);
                assertThat(Thread.currentThread().getName()).startsWith("tcp noting ");
                threads.add(Thread.currentThread());
                return Verdict.FORWARD;
            }
        }

        @Test
        void eachStreamHasOneOfItsOwnThatEndsWithIt() throws Exception {
            TestSink sink = sink();
            TestNode node = node(define("noting", Noting::new)).toHost(sink.address());
            List<AnepSender> senders = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                AnepSender sender = sender(node);
                senders.add(sender);
                sender.send(packets("noting"), number(i));
                sender.flush();
            }
            sink.await(STREAMS);
            assertThat(threads).hasSize(STREAMS).allMatch(VirtualThreads::isVirtual);
            assertThat(threads()).containsExactly("reception");
            for (AnepSender sender : senders) {
                sender.finish();
                sender.close();
            }
            node.settle().assertConserved();
            eventually().until(() -> threads.stream().noneMatch(Thread::isAlive));
        }

        /** Waits in its code, as one does that asks another host. */
        private final class Waiting extends Service {
            @Override
            public Verdict process(Packet packet) throws Exception {
                if (TestSink.number(packet) == 13) {
                    released.await();
                }
                return Verdict.FORWARD;
            }
        }

        @Test
        void servicesThatWaitHoldUpNoOtherHoweverMany() throws Exception {
            int many = 4 * Runtime.getRuntime().availableProcessors();
            TestSink sink = sink();
            TestNode node =
                    node(define("waiting", Waiting::new), TestServices.MARK).toHost(sink.address());
            List<AnepSender> held = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                AnepSender sender = sender(node);
                held.add(sender);
                sender.send(packets("waiting"), number(13));
                sender.flush();
            }
            eventually().until(() -> node.traffic().packetsIn() == many);
            try (AnepSender other = sender(node)) {
                other.send(packets("mark"), number(1));
                other.finish();
                sink.await(1);
            }
            released.countDown();
            for (AnepSender sender : held) {
                sender.finish();
                sender.close();
            }
            sink.await(1 + many);
            node.settle().assertConserved();
        }

        @Test
        void anInterruptThatIsPendingDoesNotKeepTheThreadFromWaiting() throws Exception {
            TestSink sink = sink();
            TestNode node = node(define("interrupts", () -> new Service() {
                        @Override
                        public Verdict process(Packet packet) {
                            threads.add(Thread.currentThread());
                            Thread.currentThread().interrupt();
                            return Verdict.FORWARD;
                        }
                    }))
                    .toHost(sink.address());
            try (AnepSender sender = sender(node)) {
                sender.send(packets("interrupts"), number(1));
                sender.flush();
                sink.await(1);
                Thread thread = threads.iterator().next();
                eventually().until(() -> thread.getState() == Thread.State.WAITING);
                sender.send(packets("interrupts"), number(2));
                sender.finish();
                sink.await(2);
            }
            node.settle().assertConserved();
        }

        @Test
        void aCarrierInPlaceOfOneThatIsKeptGoesWhenThatIsLeft() throws Exception {
            int usual = VirtualThreads.addCarriers(0);
            assumeThat(usual).as("Java 24 and later lets their number change").isPositive();
            settings.stuckTimeout = Duration.ofMillis(300);
            TestSink sink = sink();
            TestNode node = node(define("spins", () -> new Service() {
                        @Override
                        public Verdict process(Packet packet) {
                            while (released.getCount() > 0) {
                                Thread.onSpinWait();
                            }
                            return Verdict.FORWARD;
                        }
                    }))
                    .toHost(sink.address());
            try (AnepSender sender = sender(node)) {
                sender.send(packets("spins"), number(1));
                sender.flush();
                eventually().until(() -> VirtualThreads.addCarriers(0) == usual + 1);
            } finally {
                released.countDown();
            }
            eventually().until(() -> VirtualThreads.addCarriers(0) == usual);
            node.settle().assertConserved();
        }

        @Test
        void aLimitOfAllocationKeepsPlatformThreads() throws Exception {
            TestSink sink = sink();
            ServiceDefinition limited = new ServiceDefinition(
                    "limited",
                    "",
                    () -> new Service() {
                        @Override
                        public Verdict process(Packet packet) {
                            threads.add(Thread.currentThread());
                            return Verdict.FORWARD;
                        }
                    },
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    new ServiceHealth(0, 1L << 40));
            TestNode node = node(limited).toHost(sink.address());
            try (AnepSender sender = sender(node)) {
                sender.send(packets("limited"), number(1));
                sender.finish();
                sink.await(1);
            }
            node.settle().assertConserved();
            assertThat(threads).hasSize(1).noneMatch(VirtualThreads::isVirtual);
        }

        private ServiceDefinition burning(ServiceHealth life) {
            return new ServiceDefinition(
                    "burns",
                    "",
                    () -> new Service() {
                        @Override
                        public Verdict process(Packet packet) {
                            long endNs = System.nanoTime() + BURN_NS;
                            while (System.nanoTime() - endNs < 0) {
                                Thread.onSpinWait();
                            }
                            return Verdict.FORWARD;
                        }
                    },
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    life);
        }

        @Test
        void aLimitOfProcessorTimeHasThemPause() throws Exception {
            int packets = 60;
            List<Incident> incidents = new CopyOnWriteArrayList<>();
            TestSink sink = sink();
            TestNode node = node(burning(new ServiceHealth(0.25, 0))).toHost(sink.address());
            node.environment.onIncident(incidents::add);
            try (AnepSender sender = sender(node)) {
                for (int i = 0; i < packets; i++) {
                    sender.send(packets("burns"), number(i));
                }
                sender.finish();
                sink.await(packets);
            }
            node.settle().assertConserved();
            assertThat(incidents).extracting(Incident::kind).contains(Incident.Kind.THROTTLED);
        }

        @Test
        void theirProcessorTimeIsTheTimeBetweenTheirRests() throws Exception {
            TestSink sink = sink();
            TestNode node = node(burning(new ServiceHealth())).toHost(sink.address());
            try (AnepSender sender = sender(node)) {
                sender.send(packets("burns"), number(1));
                sender.flush();
                sink.await(1);
                eventually().until(() -> node.environment.instances().get(0).processorNs() >= BURN_NS);
                sender.finish();
            }
            node.settle().assertConserved();
        }
    }
}
