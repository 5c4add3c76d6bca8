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
    private static final Long SEED = Long.getLong("tamanoir.sim.seed");

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS) // a million take 400 s of processor
    void nothingEverLeavesOutOfOrderAndNothingIsMiscounted() {
        long first = SEED == null ? Seeds.ofCommit(getClass()) << 20 : SEED;
        List<String> faults = LongStream.range(first, first + (SEED == null ? Seeds.scaled(2_000) : 1))
                .parallel()
                .mapToObj(seed -> new ExactSchedule(seed).play())
                .filter(Objects::nonNull)
                .limit(5)
                .toList();
        assertThat(faults).isEmpty();
    }
}
