package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/**
 * Whole environments in virtual time: what a seed brings about is played to its end, and all that the node promises is
 * checked. Each commit plays seeds of its own; {@code -Dtamanoir.sim.schedules=N} plays N of them. {@code
 * -Dtamanoir.sim.seed=N} plays one seed alone, with {@code -Dtamanoir.sim.trace=true} and every step.
 */
class SimulationTest {
    /** The one seed that is played; below 0 without {@code -Dtamanoir.sim.seed}. */
    private static final long ALONE = Seeds.number("tamanoir.sim.seed", -1L);

    private static final int SCHEDULES = ALONE >= 0 ? 1 : Seeds.number("tamanoir.sim.schedules", Seeds.scaled(300));
    private static final int WITHOUT_RUNS = Math.max(1, SCHEDULES / 10);

    /** Of kinds of schedules that come once in 25 seeds, all but one in a hundred runs. */
    private static final int REPEATED = Math.min(SCHEDULES, 120);

    private static long first;

    @BeforeAll
    static void chooseSeeds() {
        first = ALONE >= 0 ? ALONE : Seeds.ofCommit(SimulationTest.class);
    }

    private static String failures(List<Schedule.Outcome> outcomes) {
        return outcomes.stream().map(Schedule.Outcome::text).collect(Collectors.joining("\n"));
    }

    @Test
    void everyScheduleKeepsWhatTheNodePromises() throws Exception {
        assertThat(failures(SimulationRunner.run(first, SCHEDULES, 5))).isEmpty();
    }

    /**
     * Plays always what failed once, and was mended: an answer in a branch's ring, when its stream was given up first; a
     * datagram for a service that stops and waits for a next hop, which kept its loop awake; datagrams that were held, and
     * left in the order in which they came, not in that in which they were resumed; a connection whose
     * first packet was not whole when the node stopped, and which ended in order.
     */
    @ParameterizedTest
    @ValueSource(longs = {5555862, 48384194, 184383844, 124478973})
    void aSeedThatFailedOnceDoesSoNoMore(long seed) throws Exception {
        assertThat(failures(SimulationRunner.run(seed, 1, 1))).isEmpty();
    }

    @Test
    void everyScheduleKeepsItWithoutRunsOfPackets() throws Exception {
        System.setProperty("tamanoir.runs", "off");
        try {
            assertThat(failures(SimulationRunner.run(first, WITHOUT_RUNS, 1))).isEmpty();
        } finally {
            System.clearProperty("tamanoir.runs");
        }
    }

    @Test
    void aSeedIsAlwaysTheSame() throws Exception {
        long[] traces = new long[2];
        for (int i = 0; i < traces.length; i++) {
            assertThat(failures(SimulationRunner.run(first, REPEATED, 1))).isEmpty();
            traces[i] = SimulationRunner.traces();
        }
        assertThat(traces[0]).isEqualTo(traces[1]);
    }
}
