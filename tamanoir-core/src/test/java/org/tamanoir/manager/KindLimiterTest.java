package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** In time that the test makes. */
class KindLimiterTest {
    private final AtomicLong nowNs = new AtomicLong(1_000_000_007);
    private final KindLimiter<String, String> limiter = new KindLimiter<>(5, 3, nowNs::get);

    private void pass(long milliseconds) {
        nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(milliseconds));
    }

    private int admitted(String kind, int times) {
        int admitted = 0;
        for (int i = 0; i < times; i++) {
            String sample = kind + i;
            admitted += limiter.admits(kind, () -> sample) ? 1 : 0;
        }
        return admitted;
    }

    @Test
    void aBurstPassesThenOneEachSecond() {
        assertThat(admitted("a", 12_000)).isEqualTo(5);
        pass(999);
        assertThat(admitted("a", 12_000)).isZero();
        pass(1);
        assertThat(admitted("a", 12_000)).isEqualTo(1);
        pass(10_000);
        assertThat(admitted("a", 12_000)).isEqualTo(5);
    }

    @Test
    void oneKindTakesNothingFromAnother() {
        admitted("a", 12_000);
        assertThat(admitted("b", 3)).isEqualTo(3);
        assertThat(limiter.isPending()).isTrue();
    }

    @Test
    void whatWasLeftOutIsSaidOnceWithItsFirstAndTheNumberOfTheOthers() {
        admitted("a", 5 + 11_988);
        assertThat(limiter.due()).isEmpty();
        pass(1000);
        List<KindLimiter.LeftOut<String>> due = limiter.due();
        assertThat(due).containsExactly(new KindLimiter.LeftOut<>("a5", 11_987));
        assertThat(due.get(0).say("refused")).isEqualTo("refused (and 11,987 like it in the last second)");
        assertThat(limiter.due()).isEmpty();
        assertThat(limiter.isPending()).isFalse();
    }

    @Test
    void aSingleOneThatWasLeftOutIsSaidAsItIs() {
        admitted("a", 6);
        pass(1000);
        assertThat(limiter.due().get(0).say("refused")).isEqualTo("refused");
    }

    @Test
    void kindsBeyondTheBoundShareOneBurstUntilOthersAreQuiet() {
        admitted("a", 6);
        admitted("b", 6);
        admitted("c", 6);
        assertThat(admitted("d", 3) + admitted("e", 6)).isEqualTo(5);
        pass(1000);
        assertThat(limiter.due()).hasSize(4);
        pass(5000);
        assertThat(admitted("f", 6)).isEqualTo(5);
        assertThat(admitted("g", 6)).isEqualTo(5);
    }

    @Test
    void everyOneIsToldOrCounted() {
        long told = 0;
        for (int second = 0; second < 20; second++) {
            told += admitted("a", 1000 + second);
            pass(1000);
            told += limiter.due().stream()
                    .mapToLong(leftOut -> 1 + leftOut.more())
                    .sum();
        }
        assertThat(told).isEqualTo(20 * 1000 + 19 * 20 / 2);
    }
}
