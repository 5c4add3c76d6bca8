package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Whole environments in virtual time: what a seed brings about is played to its end, and all that the node promises is
 * looked at. {@code -Dtamanoir.sim.seed=N} plays one seed again, with {@code -Dtamanoir.sim.trace=true} and every step;
 * {@code -Dtamanoir.sim.schedules=N} plays that many.
 */
class SimulationTest {
    private static final int SCHEDULES = Integer.getInteger("tamanoir.sim.schedules", 5_000);
    private static final int WITHOUT_RUNS = SCHEDULES / 10;
    private static final Long SEED = Long.getLong("tamanoir.sim.seed");

    @Test
    void everyScheduleKeepsWhatTheNodePromises() throws Exception {
        long first = SEED == null ? 1 : SEED;
        assertThat(SimulationRunner.run(first, SEED == null ? SCHEDULES : 1, 5).stream()
                        .map(Schedule.Outcome::text)
                        .collect(Collectors.joining("\n")))
                .isEmpty();
    }

    @Test
    void everyScheduleKeepsItWithoutRunsOfPackets() throws Exception {
        System.setProperty("tamanoir.runs", "off");
        try {
            assertThat(SimulationRunner.run(1, WITHOUT_RUNS, 1)).isEmpty();
        } finally {
            System.clearProperty("tamanoir.runs");
        }
    }

    @Test
    void aSeedIsAlwaysTheSame() throws Exception {
        long[] traces = new long[2];
        for (int i = 0; i < traces.length; i++) {
            assertThat(SimulationRunner.run(1, 200, 1)).isEmpty();
            traces[i] = SimulationRunner.traces();
        }
        assertThat(traces[0]).isEqualTo(traces[1]);
    }
}
