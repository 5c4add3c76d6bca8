package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.support.Seeds;

class ReorderingTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "R1,  1 2 4 3 5 8 6 7 7 10,           -3, 2, 1, 2, 10, 4, 0,  1, -2, 3",
        "R2,  1 2 3 2 4 5,                    -1, 1, 0, 3,  2, 1, 1,  0, -1, 2",
        "R3,  0 2 1 4 3 6 5 7,                -3, 3, 0, 0, 10, 4, 0,  0, -1, 3",
        "R3', 2 1 4 3 6 5,                    -3, 3, 0, 0,  6, 2, 0, -2, -1, 3",
        "R4,  0 2 1 3 4 6 5 7,                -2, 2, 0, 1,  8, 4, 0,  0, -1, 2",
        "R5,  1 2 3 6 7 9,                     0, 0, 0, 3,  5, 2, 0,  3,  1, 3",
        "R6,  0 1 2 4 5 7 8 3 6 9 10 11,      -5, 1, 0, 6, 10, 4, 0,  0, -5, 3"
    })
    void measuresSteps(
            String name,
            String arrivals,
            long hMinus,
            long nMinus,
            long h0,
            long h1,
            long hPlus,
            long nPlus,
            long doubles,
            long lost,
            long min,
            long max) {
        Reordering measured = Reordering.of(numbers(arrivals));

        assertThat(measured.hMinus()).isEqualTo(hMinus);
        assertThat(measured.nMinus()).isEqualTo(nMinus);
        assertThat(measured.h0()).isEqualTo(h0);
        assertThat(measured.h1()).isEqualTo(h1);
        assertThat(measured.hPlus()).isEqualTo(hPlus);
        assertThat(measured.nPlus()).isEqualTo(nPlus);
        assertThat(measured.doubles()).isEqualTo(doubles);
        assertThat(measured.lost()).isEqualTo(lost);
        assertThat(measured.min()).isEqualTo(min);
        assertThat(measured.max()).isEqualTo(max);
    }

    @Test
    void addsUpToTheDifferenceOfTheEndsWhateverComes() {
        Random random = new Random(Seeds.ofCommit(ReorderingTest.class));
        for (int i = 0; i < Seeds.scaled(1_000); i++) {
            long[] numbers = random.longs(2 + random.nextInt(30), 0, 20).toArray();
            Reordering measured = Reordering.of(numbers);

            assertThat(measured.hMinus() + measured.h1() + measured.hPlus())
                    .as(Arrays.toString(numbers))
                    .isEqualTo(numbers[numbers.length - 1] - numbers[0]);
        }
    }

    @Test
    void countsLostNumbersOfARandomStreamThatIsCutWell() {
        Random random = new Random(Seeds.ofCommit(ReorderingTest.class));
        for (int i = 0; i < Seeds.scaled(1_000); i++) {
            long[] middle = random.longs(random.nextInt(30), 1, 20).toArray();
            long[] numbers = LongStream.concat(
                            LongStream.of(0), LongStream.concat(LongStream.of(middle), LongStream.of(20)))
                    .toArray();

            assertThat(Reordering.of(numbers).lost())
                    .as(Arrays.toString(numbers))
                    .isEqualTo(21 - LongStream.of(numbers).distinct().count());
        }
    }

    @Test
    void tellsReorderedNumbersAndHowFarTheyCameLate() {
        Reordering measured = Reordering.of(numbers("1 2 4 5 3 7 6 7 8 0"));

        assertThat(measured.reordered()).isEqualTo(3);
        assertThat(measured.extent()).as("0 came nine after 1").isEqualTo(8);
        assertThat(measured.ratio()).isEqualTo(3 / 9.0);
    }

    @Test
    void spreadsDisplacements() {
        assertThat(Reordering.density(2, numbers("1 2 4 3 9 7"))).containsExactly(0, 2 / 6.0, 2 / 6.0, 2 / 6.0, 0);
    }

    @Test
    void hasNothingToMeasureWithoutASecondNumber() {
        assertThat(Reordering.of(7)).isEqualTo(Reordering.of());
    }

    @Test
    void smoothsTheDifferencesOfTransitTimes() {
        Jitter jitter = new Jitter();
        double[] expected = {0, 0.25, 0.609375, 0.571289};
        long[] transits = {100, 104, 98, 98};
        for (int i = 0; i < transits.length; i++) {
            jitter.arrived(transits[i]);
            assertThat(jitter.value()).isCloseTo(expected[i], within(1e-6));
        }
    }

    private static long[] numbers(String text) {
        return Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
    }
}
