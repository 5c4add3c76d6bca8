package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three units of one JVM. */
class MemoryRingTest {
    private final MemoryRing ring = new MemoryRing(RingPlan.of(List.of(0, 1, 2), true));
    private final List<Runner> runners = new ArrayList<>();
    private RingWatch watch;

    @BeforeEach
    void start() {
        watch = ring.watch(() -> 77);
        for (int unit = 0; unit < 3; unit++) {
            runners.add(new Runner(unit, ring.port(unit)));
            ring.start(unit, runners.get(unit));
        }
        eventually().until(() -> all(0, 1, 2) && watch.units().equals(List.of(0, 1, 2)));
    }

    @AfterEach
    void stop() {
        ring.close();
        runners.forEach(runner -> assertThat(runner.mistakes).isEmpty());
    }

    private boolean all(Integer... units) {
        for (int unit : units) {
            if (!Runner.units(ring.status(unit).view()).equals(List.of(units))) {
                return false;
            }
        }
        return true;
    }

    private void tokenGoesRound(int... units) {
        for (int unit : units) {
            long before = runners.get(unit).tokens.get();
            eventually().until(() -> runners.get(unit).tokens.get() > before + 100);
        }
    }

    @Test
    void theTokenGoesRound() {
        tokenGoesRound(0, 1, 2);
    }

    @Test
    void aUnitThatIsTakenAwayIsOut() {
        ring.remove(0);
        eventually().until(() -> all(1, 2) && watch.units().equals(List.of(1, 2)));
        tokenGoesRound(1, 2);
    }

    @Test
    void aUnitThatHasSentAllIsOut() {
        ring.announceLeaving(2);
        ring.port(2).drained();
        eventually().until(() -> ring.status(2).ended() && all(0, 1));
        tokenGoesRound(0, 1);
    }
}
