package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.support.Seeds;

/**
 * Random schedules of an element in exact order. {@code -Dtamanoir.sim.seed=N} plays one seed again, {@code
 * -Dtamanoir.depth=500} a million of them.
 */
@Tag("once")
class ExactSimulationTest {
    private static final long ALONE = Seeds.number("tamanoir.sim.seed", -1L);

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS) // a million take 400 s of processor
    void nothingEverLeavesOutOfOrderAndNothingIsMiscounted() {
        long first = ALONE >= 0 ? ALONE : Seeds.ofCommit(getClass()) << 20;
        List<String> faults = LongStream.range(first, first + (ALONE >= 0 ? 1 : Seeds.scaled(2_000)))
                .parallel()
                .mapToObj(seed -> new ExactSchedule(seed).play())
                .filter(Objects::nonNull)
                .limit(5)
                .toList();
        assertThat(faults).isEmpty();
    }
}
