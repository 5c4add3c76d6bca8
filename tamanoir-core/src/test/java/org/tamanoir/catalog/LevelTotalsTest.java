package org.tamanoir.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.Policy;

class LevelTotalsTest {
    private final LevelTotals totals = new LevelTotals();

    private static LevelCounters passed(long packets) {
        return new LevelCounters(packets, 0, packets, 0, 100 * packets, 0, 0, 100, 100, new long[Policy.MAX_RULES + 1]);
    }

    @Test
    void instancesCountWhileTheyRunAndWhenTheyHaveEnded() {
        LevelTotals.Source one = () -> passed(3);
        LevelTotals.Source other = () -> passed(4);
        totals.begin(one);
        totals.begin(one);
        totals.begin(other);
        assertThat(totals.sum()).isEqualTo(passed(7));
        totals.end(one);
        totals.end(one);
        totals.end(() -> passed(100)); // Levels never worked for it.
        assertThat(totals.sum()).isEqualTo(passed(7));
    }

    @Test
    void anInstanceThatEndsWhileItIsReadCountsOnce() {
        LevelTotals.Source ends = new LevelTotals.Source() {
            private boolean isOver;

            @Override
            public LevelCounters counters() {
                if (!isOver) {
                    isOver = true;
                    totals.end(this);
                }
                return passed(5);
            }
        };
        totals.begin(ends);
        assertThat(totals.sum()).isEqualTo(passed(5));
        assertThat(totals.sum()).isEqualTo(passed(5));
    }
}
