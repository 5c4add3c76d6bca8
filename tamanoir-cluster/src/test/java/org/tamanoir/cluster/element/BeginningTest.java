package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class BeginningTest {
    private static final long NOW_MS = 1_800_000_000_000L;
    /** As many as run over into the bits of the beginning. */
    private static final long NUMBERS = 1L << 27;

    @Test
    void aLaterStartIsAboveAllRoundsOfEarlierOnesAndAnother() {
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            long startMs = random.nextLong(1L << 41);
            long nextMs = startMs + 125 + random.nextLong(1L << 30);
            long rounds = random.nextLong((nextMs - startMs) * 1_000_000); // a thousand million a second
            long first = Beginning.at(startMs);
            long next = Beginning.at(nextMs);

            assertThat(next).isGreaterThan(first + rounds);
            assertThat(Beginning.isAnother(first, next)).isTrue();
        }
    }

    @Test
    void theOneAboveAnyRoundIsAnother() {
        long first = Beginning.at(NOW_MS);
        for (long over = 0; over < 4; over++) {
            long round = first + over * NUMBERS + 7;

            assertThat(Beginning.isAnother(round, Beginning.above(round))).isTrue();
            assertThat(Beginning.first(Beginning.above(round))).isEqualTo(Beginning.above(round));
        }
    }

    /** A distributor whose clock is behind, and the next one, before a token told what the first one sent. */
    @Test
    void twoThatHaveHeardTheSameBeginElsewhereAndTheLaterOneAbove() {
        long heard = Beginning.at(NOW_MS) + 500;
        Random random = new Random(2);
        int below = 0;
        for (int i = 0; i < 100_000; i++) {
            long startMs = NOW_MS - 1 - random.nextLong(1L << 36);
            long nextMs = startMs + 1_000 + random.nextLong(60_000);
            long first = Beginning.above(heard, startMs);
            long next = Beginning.above(heard, nextMs);

            assertThat(Beginning.isAnother(heard, first)).isTrue();
            assertThat(Beginning.first(first)).isEqualTo(first);
            assertThat(Beginning.isAnother(Math.min(first, next), Math.max(first, next)))
                    .isTrue();
            below += next < first ? 1 : 0;
        }
        assertThat(below).as("a minute in 2.3 hours at most").isLessThan(800);
    }

    @Test
    void aClockThatIsAheadOfWhatWasHeardIsKept() {
        assertThat(Beginning.above(Beginning.at(NOW_MS), NOW_MS + 86_400_000))
                .isEqualTo(Beginning.at(NOW_MS + 86_400_000));
    }

    @Test
    void numbersThatRunOverAreNoOther() {
        long last = Beginning.at(NOW_MS) + NUMBERS - 1;

        assertThat(Beginning.isAnother(last, last + 1)).isFalse();
        assertThat(Beginning.isAnother(last, last + NUMBERS)).isFalse();
    }

    @Test
    void roundsAreAtLeastOneAndFitUntil2106() {
        assertThat(Beginning.at(0)).isEqualTo(1);
        assertThat(Beginning.first(1)).isEqualTo(1);
        assertThat(Beginning.first(5)).isEqualTo(1);
        assertThat(Beginning.at(4_294_967_000_000L)).isBetween(1L << 62, Beginning.MAX_ROUND);
        assertThat(Beginning.above(Beginning.MAX_ROUND)).isGreaterThan(Beginning.MAX_ROUND);
    }
}
