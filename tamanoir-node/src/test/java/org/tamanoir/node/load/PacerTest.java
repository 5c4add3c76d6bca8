package org.tamanoir.node.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PacerTest {
    @Test
    void packetsLeaveAtTheRateInSimulatedTime() {
        Pacer pacer = new Pacer(5_000, 0);
        assertThat(pacer.take(10, 0)).isEqualTo(1);
        long nowNs = 0;
        long packets = 1;
        while (nowNs < 1_000_000_000) {
            nowNs += pacer.sleepNs();
            packets += pacer.take(10, nowNs);
        }
        assertThat(packets).isBetween(5_000L, 5_001L);
    }

    @Test
    void catchingUpIsBounded() {
        Pacer pacer = new Pacer(1_000_000, 0);
        assertThat(pacer.take(Integer.MAX_VALUE, 60_000_000_000L)).isEqualTo(10_000);
        assertThat(pacer.take(Integer.MAX_VALUE, 60_000_000_000L)).isZero();
    }

    @Test
    void slowRatesStillSendSingly() {
        Pacer pacer = new Pacer(2, 0);
        assertThat(pacer.take(5, 0)).isEqualTo(1);
        assertThat(pacer.sleepNs()).isEqualTo(500_000_000);
        assertThat(pacer.take(5, 500_000_000)).isEqualTo(1);
    }

    @Test
    void withoutALimitAllMayLeave() {
        assertThat(new Pacer(Double.POSITIVE_INFINITY, 0).take(1_000, 0)).isEqualTo(1_000);
    }
}
