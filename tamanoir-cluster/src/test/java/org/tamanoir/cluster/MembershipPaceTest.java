package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class MembershipPaceTest {
    private static final long MS = 1_000_000;
    /** Draws that cut nothing. */
    private static final RandomGenerator STEADY = () -> 0;

    private static MembershipPace pace(RandomGenerator random) {
        return new MembershipPace(Duration.ofSeconds(30), 5, random);
    }

    @Test
    void theFirstIsDueAtOnceAndThenEveryInterval() {
        MembershipPace pace = pace(STEADY);
        assertThat(pace.leftNs(5)).isZero();
        pace.succeeded(10, 2_000 * MS);
        assertThat(pace.leftNs(10)).isEqualTo(2_000 * MS);
        assertThat(pace.leftNs(10 + 1_500 * MS)).isEqualTo(500 * MS);
        assertThat(pace.leftNs(10 + 3_000 * MS)).isZero();
    }

    @Test
    void pausesDoubleWithEachFailureUpToABoundAndEndWithAnAnswer() {
        MembershipPace pace = pace(STEADY);
        List<Long> pausesMs = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            pace.failed(0);
            pausesMs.add(pace.leftNs(0) / MS);
        }
        assertThat(pausesMs).containsExactly(250L, 500L, 1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
        pace.succeeded(0, MS);
        pace.failed(0);
        assertThat(pace.leftNs(0)).isEqualTo(250 * MS);
    }

    @Test
    void chanceShortensAnIntervalByAFifthAtMost() {
        long seed = Seeds.ofCommit(MembershipPaceTest.class);
        MembershipPace pace = pace(new SplittableRandom(seed));
        for (int i = 0; i < Seeds.scaled(1_000); i++) {
            pace.succeeded(0, 1_000 * MS);
            assertThat(pace.leftNs(0)).as("seed %d", seed).isBetween(800 * MS, 1_000 * MS);
        }
    }

    @Test
    void newsDoesNotWait() {
        MembershipPace pace = pace(STEADY);
        pace.failed(0);
        pace.hurry(1);
        assertThat(pace.leftNs(1)).isZero();
    }
}
