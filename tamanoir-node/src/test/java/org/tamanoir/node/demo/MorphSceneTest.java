package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordEncoder;

/** The demo sees what a chain did wrong. */
class MorphSceneTest {
    private final MorphArrivals arrivals = new MorphArrivals();
    private final RecordEncoder encoder = new RecordEncoder(MorphFormats.LATE_FLIGHT);

    private static final List<MorphRecord> SENT = flights();

    private static List<MorphRecord> flights() {
        AirlineData data = new AirlineData(1);
        return LongStream.range(0, 300)
                .mapToObj(id -> MorphRecord.of(AirlineData.FLIGHT, data.flight(id)))
                .toList();
    }

    private void come(
            int from,
            int to,
            Function<Map<String, @Nullable Object>, @Nullable Map<String, @Nullable Object>> version) {
        for (MorphRecord flight : SENT.subList(from, to)) {
            Map<String, @Nullable Object> values = version.apply(flight.values());
            if (values != null) {
                come(MorphFormats.LATE_FLIGHT, encoder.encode(values));
            }
        }
    }

    private void come(Format format, byte[] encoded) {
        arrivals.records().add(MorphRecord.of(format, encoded));
    }

    @Test
    void changesAtAnyMessageAreRight() {
        come(0, 101, MorphExpected::late);
        come(101, 157, MorphExpected::veryLate);
        come(157, 300, MorphExpected::veryLateInSeconds);
        assertThat(MorphScene.CHANGED.difference(SENT, arrivals)).isNull();
    }

    @Test
    void aMessageOfAnEarlierPlanIsNot() {
        come(0, 100, MorphExpected::veryLateInSeconds);
        come(100, 300, MorphExpected::late);
        assertThat(MorphScene.CHANGED.difference(SENT, arrivals)).contains("no version of the plan");
    }

    @Test
    void aLostMessageIsNot() {
        come(0, 300, MorphExpected::late);
        arrivals.records().remove(3);
        assertThat(MorphScene.SELECT.difference(SENT, arrivals)).contains("became null");
    }

    @Test
    void aChangeThatWasNotSeenIsNot() {
        come(0, 300, MorphExpected::late);
        assertThat(MorphScene.CHANGED.difference(SENT, arrivals)).isEqualTo("not all changes were seen");
    }
}
