package org.tamanoir.node.element;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RingPartTest {
    private static final long NOW = 1_700_000_000L << 31;

    @ParameterizedTest
    @CsvSource({"1, 1, 16", "62, 62, 992", "500, 1000, 500", "1000, 1000, 1000", "63, 630, 100", "1, 1000, 1", "0, 7, 0"
    })
    void weightsOfEmptyUnitsKeepTheirProportion(int asked, int largest, int weight) {
        assertThat(RingPart.weight(asked, largest, 0)).isEqualTo(weight);
    }

    @ParameterizedTest
    @CsvSource({"0, 1000", "250, 500", "500, 62", "9000, 62"})
    void aUnitGetsTheLessTheMoreWaitsInIt(int queued, int weight) {
        assertThat(RingPart.weight(1_000, 1_000, queued)).isEqualTo(weight);
    }

    @ParameterizedTest
    @CsvSource({
        "30, 100, 110, 100, 30", // nothing is confirmed of what it got
        "30, 100, 110, 104, 18",
        "30, 100, 110, 110, 0",
        "30, 100, 110, 5, 30", // it has confirmed nothing since it joined
        "0, 100, 110, 5, 0",
        "4, 100, 110, 100, 4", // less than one in a round
        "7, 100, 100, 5, 0",
    })
    void packetsOfRoundsThatAUnitDidNotConfirmAreLost(long packets, long joined, long last, long confirmed, long lost) {
        assertThat(RingPart.lost(packets, NOW + joined, NOW + last, confirmed == 5 ? 5 : NOW + confirmed))
                .isEqualTo(lost);
    }

    @Test
    void aRoundAboveAllThatWereGivenConfirmsThese() {
        assertThat(RingPart.lost(30, NOW, NOW + 10, -1)).isZero();
    }

    /** Its packets wait for a token: that has their round only when they may leave. */
    @Test
    void whatAUnitGotIsHeardBeforeTheTokenSaysIt() {
        assertThat(RingPart.newest(NOW + 1, NOW + 9, NOW)).isEqualTo(NOW + 9);
        assertThat(RingPart.newest(NOW - 1, NOW + 9, NOW)).isEqualTo(NOW + 9);
        assertThat(RingPart.newest(NOW + 9, NOW - 1, NOW)).isEqualTo(NOW + 9);
        assertThat(RingPart.newest(NOW + 9, 1L << 62, NOW)).as("made up").isEqualTo(NOW + 9);
        assertThat(RingPart.newest(0, -1, NOW)).isEqualTo(NOW);
    }

    @Test
    void aRoundTooFarAheadToBeFollowedIsSaid() {
        long ahead = NOW + (30L * 86_400 << 31) + 5;

        assertThat(RingPart.unheard(2, ahead, NOW))
                .isEqualTo("distribute: unit 2 reports round " + ahead + ", 30 days ahead of this clock, 12 at most are"
                        + " followed: if the clock is behind, aggregate --exact drops all as LATE, so set it and start"
                        + " distribute again; if it is right, somebody made the round up");
        assertThat(RingPart.unheard(2, NOW + (11L * 86_400 << 31), NOW)).isNull();
        assertThat(RingPart.unheard(2, 0, NOW)).isNull();
        assertThat(RingPart.unheard(2, -1, NOW)).isNull();
    }

    @Test
    void roundsOfAnotherDistributorAreFollowedAndMadeUpOnesAreNot() {
        assertThat(RingPart.isAhead(NOW + 1, NOW)).isTrue();
        assertThat(RingPart.isAhead(NOW + (11L * 86_400 << 31), NOW))
                .as("a clock 11 days fast")
                .isTrue();
        assertThat(RingPart.isAhead(NOW + (13L * 86_400 << 31), NOW)).isFalse();
        assertThat(RingPart.isAhead(NOW, NOW)).isFalse();
        assertThat(RingPart.isAhead(5, NOW)).isFalse();
        assertThat(RingPart.isAhead(1L << 62, NOW)).isFalse();
        assertThat(RingPart.isAhead(Long.MAX_VALUE, NOW)).isFalse();
        assertThat(RingPart.isAhead(-1, NOW)).isFalse();
    }
}
