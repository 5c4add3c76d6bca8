package org.tamanoir.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.tamanoir.catalog.Throttle.Change;

/** The rate that a service is held to, in simulated time. */
class ThrottleTest {
    private static final long TICK_NS = 100_000_000;

    private final Throttle throttle = new Throttle(0.2, 1_000_000);
    private long nowNs = 7;
    private long usedNs;
    private long usedBytes;

    private Change tick(long ns, long bytes) {
        nowNs += TICK_NS;
        usedNs += ns;
        usedBytes += bytes;
        return throttle.measure(nowNs, usedNs, usedBytes);
    }

    @Test
    void aBusyServiceComesToItsLimit() {
        tick(0, 0);
        boolean paused = false;
        for (int i = 0; i < 600; i++) {
            paused = switch (tick(paused ? 0 : TICK_NS, 0)) {
                case PAUSES -> true;
                case GOES_ON -> false;
                case OVERRUN -> throw new AssertionError("it pauses when it is told to");
                case NONE -> paused;
            };
        }
        assertThat(usedNs / 60e9).isCloseTo(0.2, within(0.02));
    }

    @Test
    void allocationIsHeldToo() {
        tick(0, 0);
        boolean paused = false;
        for (int i = 0; i < 600; i++) {
            paused = switch (tick(0, paused ? 0 : 700_000)) {
                case PAUSES -> true;
                case GOES_ON -> false;
                case OVERRUN -> throw new AssertionError("it pauses when it is told to");
                case NONE -> paused;
            };
        }
        assertThat(usedBytes / 60e6).isCloseTo(1.0, within(0.1));
    }

    @Test
    void aServiceBelowItsLimitIsLeftAlone() {
        for (int i = 0; i < 100; i++) {
            assertThat(tick(TICK_NS / 6, 90_000)).isEqualTo(Change.NONE);
        }
    }

    @Test
    void whoDoesNotPauseIsFoundOut() {
        tick(0, 0);
        for (int i = 0; i < 2; i++) {
            assertThat(tick(TICK_NS, 0)).isEqualTo(Change.NONE); // Saved up.
        }
        assertThat(tick(TICK_NS, 0)).isEqualTo(Change.PAUSES);
        for (int i = 0; i < 10; i++) {
            assertThat(tick(TICK_NS, 0)).isEqualTo(Change.NONE); // Of the first it may have been told behind it.
        }
        tick(TICK_NS / 2, 0);
        assertThat(tick(TICK_NS, 0)).isEqualTo(Change.OVERRUN);
    }

    /** As a service does when the watchdog has measured, and is held up before it tells it. */
    @Test
    void whatWasUsedBeforeItWasToldIsNoOverrun() {
        tick(0, 0);
        assertThat(tick(0, 1_200_000)).isEqualTo(Change.PAUSES);
        assertThat(tick(0, 50_000_000)).isEqualTo(Change.NONE);
        assertThat(tick(0, 1_000_000)).isEqualTo(Change.NONE);
        assertThat(tick(0, 100_000)).isEqualTo(Change.OVERRUN);
    }

    @Test
    void noPauseIsLongerThanTenSeconds() {
        tick(0, 0);
        assertThat(tick(1_000_000_000_000L, 0)).isEqualTo(Change.PAUSES);
        int ticks = 1;
        while (tick(0, 0) != Change.GOES_ON) {
            ticks++;
        }
        assertThat(ticks).isBetween(99, 101);
    }
}
