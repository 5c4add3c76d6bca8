package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class RtpSourceTest {
    private static final int CLOCK = 1_000_000; // one unit is 1 us

    private final RtpSource source = new RtpSource(1, CLOCK);

    private void sequences(int... sequences) {
        for (int sequence : sequences) {
            source.packet(sequence & 0xFFFF, 0, 0);
        }
    }

    /** The example of the specification: transit times 100, 104, 98, 98. */
    @Test
    void jitterIsThatOfRfc3550() {
        int[] transits = {100, 104, 98, 98};
        double[] jitters = {0, 0.25, 0.609375, 0.571289};
        for (int i = 0; i < transits.length; i++) {
            int timestamp = 5_000 * i - 20;
            source.packet(i, timestamp, (timestamp + transits[i]) * 1000L);
            assertThat(source.jitter()).isCloseTo(jitters[i], within(1e-6));
        }
    }

    @Test
    void jitterIsNoneWhereTheTimestampWraps() {
        source.packet(0, -5, 100_000);
        source.packet(1, 5, 110_000);
        assertThat(source.jitter()).isZero();
    }

    @Test
    void gapsAreLossAndLateOnesAreNot() {
        sequences(65_534, 65_535, 1, 0, 4, 4);
        assertThat(source.expected()).isEqualTo(7);
        assertThat(source.packets()).isEqualTo(6);
        assertThat(source.lost()).isEqualTo(1);
        assertThat(source.late()).isEqualTo(2);
    }

    @Test
    void aSourceThatBeginsAnewHasLostNothing() {
        sequences(1, 2, 30_000, 30_001, 30_002);
        assertThat(source.expected()).isEqualTo(5);
        assertThat(source.lost()).isZero();
    }
}
