package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which hashes are remembered. */
class SeenHeadersTest {
    private final SeenHeaders seen = new SeenHeaders(16);

    private boolean wasSeen(long hash) {
        return seen.wasSeen(hash, seen.set(hash));
    }

    @Test
    void theLastOnesOfEachSetAreWhateverComesInOthers() {
        for (int round = 0; round < 3; round++) {
            for (long hash = 0x10; hash <= 0x40; hash += 0x10) {
                assertThat(wasSeen(hash)).isEqualTo(round > 0);
                for (int other = 0; other < 3; other++) {
                    assertThat(wasSeen((round << 8 | hash) << 8 | other << 4 | 0x4))
                            .isFalse();
                }
            }
        }
    }

    @Test
    void theEarliestOfASetGivesWay() {
        for (long hash = 0x10; hash <= 0x50; hash += 0x10) {
            assertThat(wasSeen(hash)).isFalse();
        }
        assertThat(wasSeen(0x20)).isTrue();
        assertThat(wasSeen(0x10)).isFalse();
    }
}
