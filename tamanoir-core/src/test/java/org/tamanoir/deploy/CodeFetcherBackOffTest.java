package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Pauses after failures, in simulated time. */
class CodeFetcherBackOffTest {
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 50); // The clock may wrap.
    private final BackOff<String, String> backOff = new BackOff<>(100, 350, 3, nowNs::get);

    private long leftNs(String what) {
        BackOff.Pause<String> pause = backOff.pause(what);
        return pause == null ? 0 : pause.leftNs();
    }

    @Test
    void thePauseDoublesUpToTheMaximumAndEndsWithASuccess() {
        for (long expectedNs : new long[] {100, 200, 350, 350}) {
            backOff.failed("a", "why", nowNs.get());
            assertThat(leftNs("a")).isEqualTo(expectedNs);
            nowNs.addAndGet(expectedNs - 1);
            assertThat(leftNs("a")).isEqualTo(1);
            nowNs.addAndGet(1);
            assertThat(leftNs("a")).isZero();
        }
        backOff.succeeded("a");
        backOff.failed("a", "why", nowNs.get());
        assertThat(leftNs("a")).isEqualTo(100);
        assertThat(leftNs("b")).isZero();
    }

    @Test
    void attemptsThatRanSideBySideCountOnce() {
        long startNs = nowNs.get();
        nowNs.addAndGet(10);
        backOff.failed("a", "first", startNs);
        nowNs.addAndGet(10);
        backOff.failed("a", "second", startNs);
        assertThat(backOff.pause("a")).isEqualTo(new BackOff.Pause<>("first", 90));
    }

    @Test
    void remembersABoundedNumber() {
        for (String each : new String[] {"a", "b", "c"}) {
            backOff.failed(each, "why", nowNs.get());
        }
        assertThat(leftNs("a")).isPositive();
        backOff.failed("d", "why", nowNs.get());
        assertThat(leftNs("b")).isZero();
        assertThat(leftNs("a")).isPositive();
    }
}
