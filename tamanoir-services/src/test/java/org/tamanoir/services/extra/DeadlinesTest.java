package org.tamanoir.services.extra;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
    private static final class Named extends Deadlines.Item<Named> {
        private final String name;

        Named(String name) {
            this.name = name;
        }
    }

    private final List<String> due = new ArrayList<>();
    private final List<Long> timers = new ArrayList<>();
    private final Named a = new Named("a");
    private final Named b = new Named("b");
    private final Named c = new Named("c");
    private Runnable task = () -> {};
    private long nowNs = Long.MAX_VALUE - 50;
    private Deadlines<Named> deadlines = new Deadlines<>(Duration.ZERO, () -> nowNs, (delay, run) -> {}, item -> {});

    @BeforeEach
    void make() {
        deadlines = new Deadlines<>(
                Duration.ofNanos(100),
                () -> nowNs,
                (delay, run) -> {
                    timers.add(delay.toNanos());
                    task = run;
                },
                item -> due.add(item.name));
    }

    private void advance(long ns) {
        nowNs += ns;
        task.run();
    }

    @Test
    void whatBeganFirstIsDueFirstAndOneTimerRunsAtOnce() {
        deadlines.add(a);
        nowNs += 30;
        deadlines.add(b);
        deadlines.add(c);
        advance(70);
        assertThat(due).containsExactly("a");
        advance(30);
        assertThat(due).containsExactly("a", "b", "c");
        assertThat(timers).containsExactly(100L, 30L);
    }

    @Test
    void whatIsRemovedIsNotDueAndMayBeginAnew() {
        deadlines.add(a);
        deadlines.add(b);
        deadlines.add(c);
        deadlines.remove(b);
        deadlines.remove(b);
        deadlines.remove(a);
        nowNs += 40;
        deadlines.add(a);
        deadlines.remove(c);
        deadlines.add(c);
        advance(60);
        assertThat(due).isEmpty();
        deadlines.remove(c);
        advance(40);
        assertThat(due).containsExactly("a");
        deadlines.add(b);
        advance(100);
        assertThat(due).containsExactly("a", "b");
        assertThat(timers).containsExactly(100L, 40L, 100L);
    }

    @Test
    void whatBeginsAnewWhenItIsDueWaitsAgain() {
        deadlines = new Deadlines<>(
                Duration.ofNanos(100),
                () -> nowNs,
                (delay, run) -> {
                    timers.add(delay.toNanos());
                    task = run;
                },
                item -> {
                    due.add(item.name);
                    deadlines.add(item);
                });
        deadlines.add(a);
        advance(100);
        advance(100);
        assertThat(due).containsExactly("a", "a");
        assertThat(timers).containsExactly(100L, 100L, 100L);
    }
}
