package org.tamanoir.supervision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.FailurePolicy;

/** How often it looks, in simulated time. */
class WatchdogTest {
    private static final long END_NS = Duration.ofSeconds(10).toNanos();

    private final CountDownLatch end = new CountDownLatch(1);

    /** Whoever parks lets that time pass, up to the end, where all wait. */
    private final class Clock implements Platform {
        private volatile long nowNs;

        @Override
        public long nanoTime() {
            return nowNs;
        }

        @Override
        public Instant now() {
            return Instant.EPOCH.plusNanos(nowNs);
        }

        @Override
        public long processorNs() {
            return 0;
        }

        @Override
        public long processorNs(Thread thread) {
            return SYSTEM.processorNs(thread);
        }

        @Override
        public long allocatedBytes(Thread thread) {
            return SYSTEM.allocatedBytes(thread);
        }

        @Override
        public Thread newThread(String name, Runnable body) {
            return SYSTEM.newThread(name, body);
        }

        @Override
        public Executor newPool(String name, int mostThreads) {
            return SYSTEM.newPool(name, mostThreads);
        }

        @Override
        public synchronized void park(Object blocker, long ns) {
            if (Thread.currentThread().getName().equals("watchdog")) {
                nowNs += ns;
            }
            if (nowNs >= END_NS) {
                end.countDown();
                SYSTEM.park(blocker, ns);
            }
        }

        @Override
        public void unpark(Thread thread) {
            SYSTEM.unpark(thread);
        }

        @Override
        public boolean join(Thread thread, long ns) {
            return SYSTEM.join(thread, ns);
        }
    }

    /** An instance whose thread does nothing. */
    private record Idle(Supervision supervision) implements Watchdog.Watched {
        @Override
        public long call() {
            return 0;
        }

        @Override
        public boolean isInService() {
            return false;
        }

        @Override
        public long progress() {
            return 0;
        }

        @Override
        public void wake() {}
    }

    @ParameterizedTest
    @CsvSource({
        "0.5, 30, 1, 100",
        "0.5, 30, 256, 100",
        "0.5, 30, 257, 20",
        "0.5, 30, 5000, 20",
        "0, 30, 1, 20",
        "0, 4, 1, 100",
    })
    void looksOftenWhereThatMatters(double limit, int patienceSeconds, int instances, int expected) throws Exception {
        Clock clock = new Clock();
        ServiceDefinition service = new ServiceDefinition(
                "idle", "", MARK.factory(), MARK.config(), FailurePolicy.DROP, new ServiceHealth(limit, 0));
        List<Idle> idle = IntStream.range(0, instances)
                .mapToObj(i -> new Idle(
                        new Supervision(clock, service, service.factory().get(), "idle " + i)))
                .toList();
        AtomicInteger looks = new AtomicInteger();
        Watchdog.Fleet<Idle> fleet = new Watchdog.Fleet<>() {
            @Override
            public List<Idle> watched() {
                if (clock.nanoTime() < END_NS) {
                    looks.incrementAndGet();
                }
                return idle;
            }

            @Override
            public boolean isRunning(Idle instance) {
                return true;
            }

            @Override
            public boolean abandon(Idle instance, DropReason reason) {
                return false;
            }
        };
        Watchdog<Idle> watchdog = new Watchdog<>(
                fleet, new Incidents(new FailureLog()), new CoreThreads(clock), Duration.ofSeconds(patienceSeconds));
        watchdog.start();
        assertThat(end.await(40, TimeUnit.SECONDS)).isTrue();
        watchdog.stop();
        assertThat(looks).hasValue(expected);
    }
}
