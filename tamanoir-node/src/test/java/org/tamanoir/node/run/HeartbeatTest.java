package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
    private final AtomicInteger beats = new AtomicInteger();
    private final List<String> problems = new ArrayList<>();
    private final Heartbeat heartbeat = new Heartbeat(beats::incrementAndGet, Duration.ofDays(1), () -> problems);

    @Test
    void beatsWhileTheNodeIsWell() {
        heartbeat.beat();
        heartbeat.beat();
        assertThat(beats).hasValue(2);
    }

    @Test
    void isSilentWhileACoreThreadDoesNotComeRound() {
        problems.add("core thread watchdog has ended");
        heartbeat.beat();
        assertThat(beats).hasValue(0);
        problems.clear();
        heartbeat.beat();
        assertThat(beats).hasValue(1);
    }

    @Test
    void goesOnWhenItCannotFindOutHowTheNodeIs() {
        Iterator<Supplier<List<String>>> answers = List.<Supplier<List<String>>>of(
                        () -> {
                            throw new IllegalStateException("of a test");
                        },
                        () -> problems)
                .iterator();
        Runnable alive = () -> {
            throw new AssertionError("alive"); // Nothing else ends it.
        };
        assertThatThrownBy(
                        new Heartbeat(alive, Duration.ZERO, () -> answers.next().get())::run)
                .hasMessage("alive");
    }
}
