package org.tamanoir.benchmarks.emulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.benchmarks.GeneratedTable;

/** The models' statistics, by their seed. */
class ModelTest {
    private static final int PACKETS = 400_000;
    private static final GeneratedTable TABLE = new GeneratedTable(1000, 0, 1);
    private static final Destinations ONE = random -> 1;

    private static long[] times(Model model) {
        long[] ns = new long[PACKETS];
        Arrival arrival = new Arrival();
        for (int i = 0; i < PACKETS; i++) {
            model.next(arrival);
            ns[i] = arrival.ns;
        }
        return ns;
    }

    /** Index of dispersion: variance over mean of the packets in windows of this many mean gaps. */
    private static double dispersion(long[] ns, double windowNs) {
        int[] counts = new int[(int) (ns[PACKETS - 1] / windowNs)];
        for (long each : ns) {
            int window = (int) (each / windowNs);
            if (window < counts.length) {
                counts[window]++;
            }
        }
        double mean = Arrays.stream(counts).average().orElseThrow();
        double variance = Arrays.stream(counts)
                .mapToDouble(count -> (count - mean) * (count - mean))
                .average()
                .orElseThrow();
        return variance / mean;
    }

    @Test
    void constantPacketsOfALineAreAsFarApartAsTheyAndTwentyBytesTake() {
        long[] ns = times(new Model(Model.Law.CONSTANT, 64, 10, ONE, 1));

        assertThat(ns[1]).isEqualTo(67);
        assertThat(ns[PACKETS - 1]).isEqualTo((long) ((PACKETS - 1) * 67.2));
    }

    @ParameterizedTest
    @EnumSource(Model.Law.class)
    void rateIsTheLines(Model.Law law) {
        long[] ns = times(new Model(law, 1024, 2, ONE, 3));

        double gbps = PACKETS * (1024 + 20) * 8.0 / ns[PACKETS - 1];
        assertThat(gbps).isCloseTo(2, within(law == Model.Law.PARETO ? 0.6 : 0.02));
    }

    @Test
    void poissonIsAsDispersedInLongWindowsAsInShortOnes() {
        long[] ns = times(new Model(Model.Law.POISSON, 64, 1, ONE, 5));

        assertThat(dispersion(ns, 10 * 672)).isCloseTo(1, within(0.1));
        assertThat(dispersion(ns, 1000 * 672)).isCloseTo(1, within(0.4));
    }

    /** Self-similar traffic does not smooth out: its dispersion grows with the window. */
    @Test
    void paretoIsMoreDispersedInLongWindows() {
        long[] ns = times(new Model(Model.Law.PARETO, 64, 1, ONE, 5));

        assertThat(dispersion(ns, 1000 * 672)).isGreaterThan(3 * dispersion(ns, 10 * 672));
    }

    @Test
    void imixHasSevenFourOne() {
        Model model = new Model(Model.Law.CONSTANT, 0, 1, ONE, 7);
        int[] counts = new int[1519];
        Arrival arrival = new Arrival();
        for (int i = 0; i < 120_000; i++) {
            model.next(arrival);
            counts[arrival.bytes]++;
        }

        assertThat(counts[64]).isCloseTo(70_000, within(1000));
        assertThat(counts[594]).isCloseTo(40_000, within(1000));
        assertThat(counts[1518]).isCloseTo(10_000, within(1000));
    }

    @ParameterizedTest
    @EnumSource(Destinations.Kind.class)
    void everyDestinationIsAnnounced(Destinations.Kind kind) {
        Model model = new Model(Model.Law.CONSTANT, 64, 1, Destinations.of(kind, TABLE, 1), 1);
        Arrival arrival = new Arrival();
        for (int i = 0; i < 10_000; i++) {
            model.next(arrival);
            assertThat(TABLE.table().fib().lookup4((int) arrival.low)).isNotZero();
        }
    }

    @Test
    void firstPrefixOfZipfGetsItsShare() {
        Destinations zipf = Destinations.of(Destinations.Kind.ZIPF, TABLE, 1);
        java.util.SplittableRandom random = new java.util.SplittableRandom(1);
        java.util.Map<Integer, Integer> hits = new java.util.HashMap<>();
        // All low bits of the address random: those of one prefix share what is left without the last 8.
        for (int i = 0; i < 100_000; i++) {
            hits.merge(zipf.next(random) >>> 8, 1, Integer::sum);
        }
        // 1 / (1 + 1/2 + … + 1/1000) is 0.134; a prefix shorter than /24 spreads it.
        int most = hits.values().stream().max(Integer::compare).orElseThrow();
        assertThat(most).isBetween(1_000, 20_000);
    }

    @ParameterizedTest
    @EnumSource(Model.Law.class)
    void theSameSeedGivesTheSameTimesAndAnotherOthers(Model.Law law) {
        long[] first = times(new Model(law, 0, 1, ONE, 9));

        assertThat(times(new Model(law, 0, 1, ONE, 9))).isEqualTo(first);
        assertThat(times(new Model(law, 0, 1, ONE, 10))).isNotEqualTo(first);
    }
}
