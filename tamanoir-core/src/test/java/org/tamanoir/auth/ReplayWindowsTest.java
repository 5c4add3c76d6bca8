package org.tamanoir.auth;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/** Which sequence numbers are new. */
class ReplayWindowsTest {
    private static final int WINDOW = 128;

    private final ReplayWindows windows = new ReplayWindows();

    private boolean admits(int stream, long sequence) {
        return windows.admits(0, 1, stream, sequence, true, WINDOW, 4);
    }

    @Test
    void aNumberComesOnce() {
        assertThat(admits(1, 0)).isTrue();
        assertThat(admits(1, 0)).isFalse();
        assertThat(admits(1, 5)).isTrue();
        assertThat(admits(1, 3)).isTrue();
        assertThat(admits(1, 3)).isFalse();
        assertThat(admits(1, 5)).isFalse();
    }

    @Test
    void theWindowEndsWhereItSays() {
        assertThat(admits(1, 1000)).isTrue();
        assertThat(admits(1, 1000 - WINDOW)).isFalse();
        assertThat(admits(1, 1000 - WINDOW + 1)).isTrue();
        assertThat(admits(1, 1000 - WINDOW + 1)).isFalse();
        assertThat(admits(1, 1001)).isTrue();
        assertThat(admits(1, 1001 - WINDOW)).isFalse();
    }

    @Test
    void theHighestNumberIsOne() {
        assertThat(admits(1, 0)).isTrue();
        assertThat(admits(1, Long.MAX_VALUE)).isTrue();
        assertThat(admits(1, Long.MAX_VALUE)).isFalse();
        assertThat(admits(1, Long.MAX_VALUE - 1)).isTrue();
        assertThat(admits(1, 1)).isFalse();
    }

    @Test
    void aLookTakesNothing() {
        assertThat(windows.admits(0, 1, 1, 7, false, WINDOW, 4)).isTrue();
        assertThat(windows.streams()).isZero();
        assertThat(admits(1, 7)).isTrue();
        assertThat(windows.admits(0, 1, 1, 9, false, WINDOW, 4)).isTrue();
        assertThat(admits(1, 9)).isTrue();
        assertThat(windows.admits(0, 1, 1, 9, false, WINDOW, 4)).isFalse();
    }

    @Test
    void streamsAndSourcesHaveWindowsOfTheirOwn() {
        assertThat(admits(1, 50)).isTrue();
        assertThat(admits(2, 50)).isTrue();
        assertThat(windows.admits(0, 2, 1, 50, true, WINDOW, 4)).isTrue();
        assertThat(windows.admits(9, 1, 1, 50, true, WINDOW, 4)).isTrue();
        assertThat(windows.streams()).isEqualTo(4);
    }

    @Test
    void theStreamGoesThatWasSilentForTheLongestWhateverIsReplayed() {
        for (int stream = 1; stream <= 4; stream++) {
            assertThat(admits(stream, 10)).isTrue();
        }
        assertThat(admits(1, 11)).isTrue();
        assertThat(admits(2, 10)).as("a replay").isFalse();
        assertThat(admits(5, 10)).isTrue();
        assertThat(windows.streams()).isEqualTo(4);
        assertThat(windows.forgotten()).isEqualTo(1);
        assertThat(admits(1, 11)).isFalse();
        assertThat(admits(3, 10)).isFalse();
        assertThat(admits(2, 10)).as("forgotten").isTrue();
    }

    @Test
    void aWindowOfAnotherSizeBeginsAnew() {
        assertThat(admits(1, 10)).isTrue();
        assertThat(windows.admits(0, 1, 1, 10, true, 64, 4)).isTrue();
        assertThat(windows.admits(0, 1, 1, 10, true, 64, 4)).isFalse();
        assertThat(windows.streams()).isEqualTo(1);
    }

    @Test
    void itAgreesWithASetOfAllThatCame() {
        for (long seed : Seeds.ofCommit(ReplayWindowsTest.class, 50)) {
            Random random = new Random(seed);
            Set<Long> came = new HashSet<>();
            long highest = -1;
            for (int i = 0; i < 5000; i++) {
                long sequence = Math.max(0, highest + random.nextInt(300) - (random.nextInt(20) == 0 ? 0 : 200));
                boolean isNew = sequence > highest || highest - sequence < WINDOW && !came.contains(sequence);
                assertThat(admits((int) seed, sequence))
                        .as("seed %d, round %d", seed, i)
                        .isEqualTo(isNew);
                if (isNew) {
                    came.add(sequence);
                    highest = Math.max(highest, sequence);
                }
            }
        }
    }
}
