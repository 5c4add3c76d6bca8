package org.tamanoir.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class ModelTest {
    /** A sender of 1 µs, a node of 4 µs, a receiver of 3 µs a packet. */
    private static final Model MODEL = new Model(1000, 4000, 3000);

    private static final double ANY_LINK = Double.POSITIVE_INFINITY;

    @Test
    void sharedProcessorsAreDividedByTheSumOfAllStages() {
        assertThat(MODEL.shared(2, 24)).isEqualTo(250_000, within(1e-6));
        assertThat(MODEL.shared(4, 24)).isEqualTo(500_000, within(1e-6));
    }

    @Test
    void fewStreamsAreBoundByTheSlowestStageOfEach() {
        assertThat(MODEL.shared(8, 1)).isEqualTo(250_000, within(1e-6));
        assertThat(MODEL.shared(8, 2)).isEqualTo(500_000, within(1e-6));
        assertThat(MODEL.shared(8, 24)).isEqualTo(1_000_000, within(1e-6));
    }

    @Test
    void machinesOfTheirOwnAddUpUntilStreamsFrontEndOrLinkBoundThem() {
        assertThat(MODEL.own(1, 24, 2, 100, ANY_LINK)).isEqualTo(500_000, within(1e-6));
        assertThat(MODEL.own(3, 24, 2, 100, ANY_LINK)).isEqualTo(1_500_000, within(1e-6));
        assertThat(MODEL.own(3, 1, 2, 100, ANY_LINK)).as("one stream").isEqualTo(250_000, within(1e-6));
        assertThat(MODEL.own(3, 24, 2, 2000, ANY_LINK)).as("front-end").isEqualTo(1_000_000, within(1e-6));
        assertThat(MODEL.own(3, 24, 2, 100, 700_000)).as("link").isEqualTo(700_000, within(1e-6));
    }

    @Test
    void frontEndBoundsFromTheFirstBackEndThatItCannotFeed() {
        // Two processors forward 1,000,000 packets a second; a back-end of two takes 500,000.
        assertThat(MODEL.boundFrom(2, 2000, ANY_LINK)).isEqualTo(2);
        assertThat(MODEL.boundFrom(2, 1999, ANY_LINK)).isEqualTo(3);
        assertThat(MODEL.boundFrom(2, 2000, 100)).isEqualTo(1);
    }

    @Test
    void pointTellsCostsThroughputAndEvenness() {
        Point point = new Point(
                Work.MONITOR,
                1000,
                24,
                2,
                2.0,
                1_000_000,
                1_000_000_000L,
                List.of(3_000_000_000L, 1_000_000_000L),
                0,
                List.of(3L, 1L));
        assertThat(point.packetsPerSecond()).isEqualTo(500_000);
        assertThat(point.megabits()).isEqualTo(4000);
        assertThat(point.senderNsPerPacket()).isEqualTo(1000);
        assertThat(point.nodeNsPerPacket()).isEqualTo(4000);
        assertThat(point.processors()).isEqualTo(2.5, within(1e-9));
        assertThat(point.jain()).isEqualTo(0.8, within(1e-9));
        assertThat(Point.csv("host", List.of(point)).csv().lines().skip(1))
                .containsExactly("host,Monitor,1000,24,2,2.00,1000000,4000.0,1000,4000,0,2.50,3 1");
    }
}
