package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.cluster.element.ElementModel.Mode;
import org.tamanoir.cluster.element.ElementModel.Run;

@Tag("once")
class ElementModelTest {
    private static final int PACKETS = 20_000;
    private static final int MEGABITS = 300;
    private static final long SEED = 5;

    private static Run run(Mode mode, int units, int megabits) {
        return ElementModel.run(mode, units, megabits, PACKETS, SEED);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6})
    void tokensBoundStepsBackByTwiceTheUnitsLessOne(int units) {
        Run run = run(Mode.FCT, units, MEGABITS);
        assertThat(run.arrived()).isEqualTo(PACKETS);
        assertThat(run.order().min()).isNegative().isGreaterThanOrEqualTo(1 - 2 * units);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6})
    void withoutTokensStepsBackAreLonger(int units) {
        assertThat(run(Mode.NONE, units, MEGABITS).order().min()).isLessThan(1 - 2 * units);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 6})
    void exactOrderHasNoStepsBackAndLosesNothing(int units) {
        Run run = run(Mode.EXACT, units, MEGABITS);
        assertThat(run.arrived()).isEqualTo(PACKETS);
        assertThat(run.order().h1()).isEqualTo(PACKETS - 1);
    }

    @Test
    void oneUnitKeepsOrderAndLosesWhatItCannotDo() {
        Run slow = run(Mode.NONE, 1, 500);
        Run fast = run(Mode.NONE, 1, 1_000);
        assertThat(slow.lossPercent()).isZero();
        assertThat(fast.lossPercent()).isGreaterThan(30);
        assertThat(fast.order().nMinus()).isZero();
    }

    @Test
    void aSeedIsARun() {
        assertThat(run(Mode.NONE, 3, MEGABITS)).isEqualTo(run(Mode.NONE, 3, MEGABITS));
        assertThat(ElementModel.run(Mode.NONE, 3, MEGABITS, PACKETS, SEED + 1).order())
                .isNotEqualTo(run(Mode.NONE, 3, MEGABITS).order());
    }
}
