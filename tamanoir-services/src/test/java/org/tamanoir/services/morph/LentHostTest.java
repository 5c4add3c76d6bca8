package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LentHostTest {
    private final LentHost host = new LentHost("handler", new TestNode());
    private final AtomicInteger runs = new AtomicInteger();

    private void again() {
        runs.incrementAndGet();
        assertThat(host.execute(this::again)).isTrue();
    }

    private void later() {
        runs.incrementAndGet();
        host.schedule(Duration.ofNanos(1), this::later);
    }

    @Test
    void runsATaskThatGivesItselfAgainOnceACall() {
        assertThat(host.execute(this::again)).isTrue();
        host.runDue(0);
        host.runDue(0);
        assertThat(runs).hasValue(2);
    }

    @Test
    void runsATimerThatArmsItselfAgainOnceACall() {
        host.schedule(Duration.ofNanos(1), this::later);
        host.runDue(Long.MAX_VALUE);
        assertThat(runs).hasValue(1);
    }

    @Test
    void keepsCountersApartWhenThereAreNoFurtherOnes() {
        host.counter("first").add(1);
        for (int i = 0; i < 100; i++) {
            host.counter("c" + i).add(1);
        }
        assertThat(host.counter("first").get()).isEqualTo(1);
        assertThat(host.counter("others").get()).isEqualTo(37);
    }
}
