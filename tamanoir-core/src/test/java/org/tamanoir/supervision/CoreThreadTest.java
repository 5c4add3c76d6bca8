package org.tamanoir.supervision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.platform.Platform;

@Timeout(240)
class CoreThreadTest {
    private static final long HOUR_NS = Duration.ofHours(1).toNanos();

    private final AtomicReference<Thread> runs = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> next = new AtomicReference<>();
    private final AtomicInteger rounds = new AtomicInteger();
    private final List<String> lost = new CopyOnWriteArrayList<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private @Nullable CoreThread started;

    /** A thread whose rounds wait for {@link #wake}, then throw what is next. */
    private CoreThread start(CoreThreads group) {
        group.onLoss((name, cause) -> lost.add(name + ": " + cause));
        AtomicReference<CoreThread> self = new AtomicReference<>();
        CoreThread thread = new CoreThread(
                "test core",
                group,
                () -> {
                    runs.set(Thread.currentThread());
                    Objects.requireNonNull(self.get()).park(HOUR_NS);
                    rounds.incrementAndGet();
                    Throwable failure = next.get();
                    if (failure instanceof Error error) {
                        throw error;
                    }
                    if (failure instanceof Exception exception) {
                        throw exception;
                    }
                },
                () -> {});
        self.set(thread);
        started = thread;
        thread.start();
        eventually().until(() -> runs.get() != null);
        return thread;
    }

    /** Until another round has begun. */
    private void wake(CoreThread thread) {
        int before = rounds.get();
        eventually().until(() -> {
            thread.unpark();
            return rounds.get() > before;
        });
    }

    @AfterEach
    void stop() throws InterruptedException {
        released.countDown();
        if (started != null) {
            started.stop();
            started.join(40_000);
        }
        Thread thread = runs.get();
        assertThat(thread == null || !thread.isAlive()).isTrue();
    }

    static List<Throwable> survivable() {
        return List.of(
                new OutOfMemoryError("on purpose"),
                new StackOverflowError(),
                new AssertionError("on purpose"),
                new ThreadDeath(),
                new IllegalStateException("on purpose"),
                new java.io.IOException("on purpose"));
    }

    @ParameterizedTest
    @MethodSource("survivable")
    void aRoundThatThrowsIsNotTheLast(Throwable failure) {
        CoreThreads group = new CoreThreads(Platform.SYSTEM);
        CoreThread thread = start(group);
        next.set(failure);
        wake(thread);
        eventually().until(() -> thread.failures() > 0);
        next.set(null);
        wake(thread);
        wake(thread);
        assertThat(group.problems()).isEmpty();
        assertThat(lost).isEmpty();
    }

    @Test
    void oneWithoutAnyRoundThatSucceedsIsGivenUpAndNamed() {
        CoreThreads group = new CoreThreads(Platform.SYSTEM, Duration.ofMillis(50), Duration.ofMinutes(1));
        CoreThread thread = start(group);
        next.set(new OutOfMemoryError("on purpose"));
        eventually().until(() -> {
            thread.unpark();
            return !lost.isEmpty();
        });
        assertThat(lost).containsExactly("test core: java.lang.OutOfMemoryError: on purpose");
        assertThat(group.problems()).containsExactly("core thread test core has ended: java.lang.OutOfMemoryError");
        assertThat(thread.failures()).isGreaterThan(1);
    }

    @Test
    void oneWhoseCodeCannotRunAnyMoreIsGivenUpAtOnce() {
        CoreThreads group = new CoreThreads(Platform.SYSTEM);
        CoreThread thread = start(group);
        next.set(new NoClassDefFoundError("Could not initialize class org.example.Poisoned"));
        wake(thread);
        eventually().until(() -> !lost.isEmpty());
        assertThat(thread.failures()).isOne();
        assertThat(group.problems()).containsExactly("core thread test core has ended: java.lang.NoClassDefFoundError");
    }

    @Test
    void oneThatDoesNotComeRoundIsNamedUntilItDoes() {
        CoreThreads group = new CoreThreads(Platform.SYSTEM, Duration.ofMinutes(1), Duration.ofMillis(100));
        started = new CoreThread(
                "test core",
                group,
                () -> {
                    runs.set(Thread.currentThread());
                    released.await();
                    started().park(1_000_000);
                },
                () -> {});
        started.start();
        eventually().until(() -> !group.problems().isEmpty());
        assertThat(group.problems().get(0)).startsWith("core thread test core has not come round for ");
        released.countDown();
        eventually().until(() -> group.problems().isEmpty());
    }

    private Thread thread() {
        return Objects.requireNonNull(runs.get());
    }

    private CoreThread started() {
        CoreThread thread = started;
        if (thread == null) {
            throw new AssertionError();
        }
        return thread;
    }

    @Test
    void anInterruptIsCountedAndNeitherEndsItNorStays() {
        CoreThread thread = start(new CoreThreads(Platform.SYSTEM));
        thread().interrupt();
        eventually().until(() -> thread.interrupts() == 1);
        eventually().until(() -> thread().getState() == Thread.State.TIMED_WAITING);
        assertThat(thread().isInterrupted()).isFalse();
        wake(thread);
        assertThat(lost).isEmpty();
    }

    @Test
    void oneThatWasStoppedIsNoProblem() throws InterruptedException {
        CoreThreads group = new CoreThreads(Platform.SYSTEM, Duration.ofMinutes(1), Duration.ofNanos(1));
        CoreThread thread = start(group);
        thread.stop();
        thread.join(40_000);
        assertThat(group.problems()).isEmpty();
    }
}
