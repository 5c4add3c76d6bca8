package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/** What holds for rings of senders whatever happens to them, from seeds. */
@Tag("once")
class RingPropertiesTest {
    private static final int RUNS = 300;
    private static final int ROUNDS = 14;
    private static final long INTERVAL = 100;
    private static final long LONG_AFTER = 200_000;

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6})
    void stepsBackByTwiceTheUnitsLessOneAtMost(int units) {
        long worst = 0;
        for (long seed : Seeds.ofCommit(RingPropertiesTest.class, RUNS)) {
            long[] order = play(seed, units, bunch(1), true);
            worst = Math.min(worst, Reordering.of(order).min());
            assertThat(worst).as("seed %d", seed).isGreaterThanOrEqualTo(1 - 2L * units);
        }
        assertThat(worst).isEqualTo(1 - 2L * units);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6})
    void stepsBackFurtherWithoutTokens(int units) {
        long worst = 0;
        for (long seed : Seeds.ofCommit(RingPropertiesTest.class, RUNS)) {
            worst = Math.min(
                    worst, Reordering.of(play(seed, units, bunch(1), false)).min());
        }
        assertThat(worst).isLessThan(1 - 2L * units);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 6})
    void sendsAllAndKeepsTheOrderInsideEachPath(int units) {
        for (long seed : Seeds.ofCommit(RingPropertiesTest.class, RUNS)) {
            long[] order = play(seed, units, bunch(1 + (int) (seed % 4)), true);
            for (int unit = 0; unit < units; unit++) {
                int path = unit;
                assertThat(LongStream.of(order).filter(each -> each % units == path))
                        .as("seed %d, path %d", seed, path)
                        .containsExactlyElementsOf(path(path, units));
            }
        }
    }

    @Test
    void goesOnWhenAnyPathIsSilent() {
        int units = 3;
        for (int silent = 0; silent < units; silent++) {
            for (int from = 0; from < ROUNDS; from++) {
                SimulatedRing ring = ring(new Random(1), units, bunch(1), List.of());
                int came = 0;
                for (int i = 0; i < units * ROUNDS; i++) {
                    if (i % units != silent || i / units < from) {
                        ring.arrive(i * INTERVAL, i % units, 1 + i / units, i);
                        came++;
                    }
                }
                ring.begin(true);
                ring.run(LONG_AFTER);
                assertThat(ring.order).as("path %d from round %d", silent, from).hasSize(came);
            }
        }
    }

    private static FctSettings bunch(int atOnce) {
        return new FctSettings(0, false, 0, 0, 20, 2_000, atOnce);
    }

    private static List<Long> path(int path, int units) {
        List<Long> numbers = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            numbers.add((long) round * units + path);
        }
        return numbers;
    }

    /** Returns the order in which packets of equal rounds come out behind the ring, whose units pause now and then. */
    private static long[] play(long seed, int units, FctSettings settings, boolean withTokens) {
        Random random = new Random(seed);
        List<SimulatedRing.Pause> pauses = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            long from = random.nextInt((int) (units * ROUNDS * INTERVAL));
            pauses.add(new SimulatedRing.Pause(random.nextInt(units), from, from + 500 + 1_000 * random.nextInt(2)));
        }
        SimulatedRing ring = ring(random, units, settings, pauses);
        for (int i = 0; i < units * ROUNDS; i++) {
            ring.arrive(i * INTERVAL, i % units, 1 + i / units, i);
        }
        ring.begin(withTokens);
        ring.run(LONG_AFTER);
        return ring.order.stream().mapToLong(Long::longValue).toArray();
    }

    private static SimulatedRing ring(
            Random random, int units, FctSettings settings, List<SimulatedRing.Pause> pauses) {
        long[] sendTicks =
                random.longs(units * ROUNDS, units * 60L, units * 95L).toArray();
        return new SimulatedRing(
                units,
                unit -> new FctSettings(
                        (int) unit, false, 0, 0, settings.holdMaxNs(), settings.idleMaxNs(), settings.atOnce()),
                sequence -> sendTicks[sequence],
                1 + 4L * random.nextInt(2),
                4 + 4 * random.nextInt(2),
                48,
                pauses);
    }
}
