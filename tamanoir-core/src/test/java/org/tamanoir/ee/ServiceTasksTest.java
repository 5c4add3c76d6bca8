package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.PATIENCE;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Tasks that other threads hand to a service's thread. */
class ServiceTasksTest extends TcpNodeTesting {
    private static final int MOST = 1024;

    private final BlockingQueue<Handling> made = new LinkedBlockingQueue<>();
    private final CountDownLatch released = new CountDownLatch(1);

    /** Notes on which thread its tasks run; takes its time with packets, if told so. */
    private class Handling extends Service {
        final List<Integer> ran = new ArrayList<>();
        private final BlockingQueue<Thread> on = new LinkedBlockingQueue<>();
        private boolean waits;

        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            made.add(this);
            if (waits) {
                assertThat(released.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
                assertThat(ran).isEmpty();
            }
            return Verdict.FORWARD;
        }

        Handling waiting() {
            waits = true;
            return this;
        }

        void assertRunsTask() throws InterruptedException {
            assertThat(execute(() -> {
                        counter("tasks").add(1);
                        on.add(Thread.currentThread());
                    }))
                    .isTrue();
            assertThat(on.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isSameAs(thread());
        }
    }

    private Handling instance() throws InterruptedException {
        Handling instance = made.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(instance).isNotNull();
        return instance;
    }

    private ServiceDefinition handling() {
        return TestServices.define("handling", Handling::new);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void anIdleStreamRunsThemOnItsThread(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(handling()).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("handling"), number(1));
            sender.flush();
            sink.await(1);
            Handling instance = instance();
            for (int i = 0; i < 10; i++) {
                instance.assertRunsTask();
            }
        }
    }

    @Test
    void aFurtherServiceOfAConnectionRunsThem() throws Exception {
        TestSink sink = sink();
        TestNode node = node(TestServices.MARK, handling()).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark"), number(1));
            sender.send(packets("handling"), number(2));
            sender.flush();
            sink.await(2);
            instance().assertRunsTask();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theInstanceOfUdpRunsThem(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.udp = List.of(new InetSocketAddress("127.0.0.1", 0));
        TestNode node = node(handling());
        try (AnepSender sender =
                AnepSender.to(node.environment.udpAddresses().get(0)).udp()) {
            sender.send(packets("handling"), number(1));
            sender.flush();
            Handling instance = instance();
            for (int i = 0; i < 10; i++) {
                instance.assertRunsTask();
            }
        }
    }

    @Test
    void theyWaitForThePacketInHandAndAreBounded() throws Exception {
        TestSink sink = sink();
        TestNode node = node(TestServices.define("handling", () -> new Handling().waiting()))
                .toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("handling"), number(1));
            sender.flush();
            Handling instance = instance();
            for (int i = 0; i < MOST; i++) {
                int number = i;
                assertThat(instance.execute(() -> instance.ran.add(number))).isTrue();
            }
            assertThat(instance.execute(() -> {})).isFalse();
            released.countDown();
            sink.await(1);
            eventually().until(() -> instance.execute(() -> {}));
            instance.assertRunsTask();
            assertThat(instance.ran)
                    .containsExactlyElementsOf(IntStream.range(0, MOST).boxed().toList());
        }
    }

    @Test
    void anInstanceThatHasEndedTakesNone() throws Exception {
        TestSink sink = sink();
        TestNode node = node(handling()).toHost(sink.address());
        Handling instance;
        try (AnepSender sender = sender(node)) {
            sender.send(packets("handling"), number(1));
            sender.flush();
            instance = instance();
            sender.finish();
        }
        eventually().until(() -> !instance.thread().isAlive());
        assertThat(instance.execute(() -> {})).isFalse();
    }

    @Test
    void anInstanceThatNobodyRunsTakesNone() {
        assertThat(new Handling().execute(() -> {})).isFalse();
    }

    @Test
    void whatATaskThrowsIsAFailureOfTheServiceAndTheStreamGoesOn() throws Exception {
        TestSink sink = sink();
        TestNode node = node(handling()).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("handling"), number(1));
            sender.flush();
            Handling instance = instance();
            instance.execute(() -> {
                throw new IllegalStateException("as told");
            });
            instance.assertRunsTask();
            sender.send(packets("handling"), number(2));
            sender.send(anonymous(), number(3));
            sender.finish();
        }
        sink.await(3);
        assertThat(log()).anyMatch(line -> line.contains("as told"));
    }
}
