package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/**
 * Random schedules in virtual time. {@code -Dtamanoir.sim.seed=N} plays one seed again, {@code
 * -Dtamanoir.sim.schedules=N} plays that many.
 */
@Tag("once")
class RingSimulationTest {
    /** The one seed that is played; below 0 without {@code -Dtamanoir.sim.seed}. */
    private static final long ALONE = Seeds.number("tamanoir.sim.seed", -1L);

    @Test
    void everyScheduleEndsWithOneRingAndOneToken() {
        long first = ALONE >= 0 ? ALONE : Seeds.ofCommit(RingSimulationTest.class);
        int schedules = ALONE >= 0 ? 1 : Seeds.number("tamanoir.sim.schedules", Seeds.scaled(3_000));
        List<String> faults = LongStream.range(first, first + schedules)
                .parallel()
                .mapToObj(seed -> new RingSchedule(seed).play())
                .filter(Objects::nonNull)
                .limit(5)
                .toList();
        assertThat(faults).isEmpty();
    }
}
