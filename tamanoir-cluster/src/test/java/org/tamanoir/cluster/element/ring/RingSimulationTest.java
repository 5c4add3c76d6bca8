package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random schedules in virtual time. {@code -Dtamanoir.sim.seed=N} plays one seed again, {@code
 * -Dtamanoir.sim.schedules=N} plays that many.
 */
@Tag("once")
class RingSimulationTest {
    private static final int SCHEDULES = Integer.getInteger("tamanoir.sim.schedules", 3_000);
    private static final Long SEED = Long.getLong("tamanoir.sim.seed");

    @Test
    void everyScheduleEndsWithOneRingAndOneToken() {
        long first = SEED == null ? 1 : SEED;
        List<String> faults = LongStream.range(first, first + (SEED == null ? SCHEDULES : 1))
                .parallel()
                .mapToObj(seed -> new RingSchedule(seed).play())
                .filter(Objects::nonNull)
                .limit(5)
                .toList();
        assertThat(faults).isEmpty();
    }
}
