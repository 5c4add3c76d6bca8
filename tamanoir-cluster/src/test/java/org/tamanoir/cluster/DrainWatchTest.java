package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DrainWatchTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private long nowNs = 0;
    private final DrainWatch watch = new DrainWatch(nowNs);

    private boolean look(long tcp, long udpFlows, long udpPackets) {
        nowNs += SECOND_NS;
        watch.look(tcp, udpFlows, udpPackets, nowNs);
        return watch.isOver(nowNs);
    }

    @Test
    void nothingAtAllIsOverOnceConnectionsOnTheirWayAreIn() {
        watch.look(0, 0, 0, nowNs + SECOND_NS / 2);
        assertThat(watch.isOver(nowNs + SECOND_NS / 2)).isFalse();
        assertThat(look(0, 0, 0)).isTrue();
    }

    @Test
    void aTcpStreamIsWaitedFor() {
        assertThat(look(1, 0, 0)).isFalse();
        assertThat(watch.streams()).isEqualTo(1);
        for (int i = 0; i < 100; i++) {
            assertThat(look(2, 0, 0)).isFalse();
        }
        assertThat(look(0, 0, 0)).isTrue();
    }

    @Test
    void aUdpFlowCountsAsLongAsPacketsCome() {
        assertThat(look(0, 2, 100)).isFalse();
        assertThat(look(0, 2, 107)).isFalse();
        assertThat(watch.streams()).isEqualTo(2);
        assertThat(look(0, 2, 107)).isFalse();
        assertThat(look(0, 2, 108)).isFalse();
        assertThat(look(0, 2, 108)).isFalse();
        assertThat(look(0, 2, 108)).isFalse();
        assertThat(look(0, 2, 108)).as("quiet for 3 s").isTrue();
        assertThat(watch.streams()).isZero();
    }

    @Test
    void flowsThatTheKernelHasForgottenAreOver() {
        assertThat(look(0, 2, 100)).isFalse();
        assertThat(look(0, 0, 107)).isTrue();
    }
}
