package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

class ImpairTest {
    private static List<Packet> packets(int count) {
        PacketBuilder builder = Packets.full("org.tamanoir.services.Impair");
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(builder.build(ByteBuffer.wrap(new byte[] {(byte) i})));
        }
        return packets;
    }

    private static ServiceHarness run(int count, Map<String, String> config) {
        return ServiceHarness.run(new Impair(), Transport.UDP, config, packets(count));
    }

    private static List<Long> sequences(ServiceHarness harness) {
        return harness.packets().stream().map(Packet::sequence).toList();
    }

    @Test
    void withoutSettingsPacketsPassAndNameNoService() {
        ServiceHarness harness = run(3, Map.of());

        assertThat(sequences(harness)).containsExactly(0L, 1L, 2L);
        assertThat(harness.packets())
                .allSatisfy(packet -> assertThat(packet.serviceKey()).isEqualTo(ServiceKey.NONE));
        Packets.assertWellFormed(harness.packets());
    }

    @Test
    void aShareIsLostAndTheSeedSaysWhich() {
        ServiceHarness first = run(2_000, Map.of("loss", "10", "seed", "5"));
        ServiceHarness again = run(2_000, Map.of("loss", "10", "seed", "5"));
        ServiceHarness other = run(2_000, Map.of("loss", "10", "seed", "6"));

        assertThat(first.count("lost")).isBetween(150L, 250L);
        assertThat(first.drops()).hasSize((int) first.count("lost")).containsOnly("lost by chance");
        assertThat(sequences(first)).isEqualTo(sequences(again)).isNotEqualTo(sequences(other));
        assertThat(sequences(first)).hasSize(2_000 - first.drops().size());
    }

    @Test
    void whatElseIsSetChangesNothingOfWhatIsLost() {
        ServiceHarness alone = run(500, Map.of("loss", "10"));
        ServiceHarness together = run(500, Map.of("loss", "10", "double", "20", "reorder", "20"));

        assertThat(sequences(together)).containsAll(sequences(alone));
        assertThat(together.count("lost")).isEqualTo(alone.count("lost"));
    }

    @Test
    void allLeaveTwice() {
        assertThat(sequences(run(3, Map.of("double", "100")))).containsExactly(0L, 0L, 1L, 1L, 2L, 2L);
    }

    @Test
    void aReorderedPacketIsOvertakenByAsManyAsAreSet() {
        ServiceHarness harness = run(1_000, Map.of("reorder", "1", "reorder-by", "2", "seed", "3"));
        List<Long> sequences = sequences(harness);

        assertThat(sequences).hasSize(1_000).doesNotHaveDuplicates();
        assertThat(harness.count("reordered")).isPositive();
        long stepsBack = 0;
        for (int i = 1; i < sequences.size(); i++) {
            if (sequences.get(i) < sequences.get(i - 1)) {
                stepsBack++;
                assertThat(sequences.get(i - 1) - sequences.get(i)).isBetween(1L, 2L);
            }
        }
        assertThat(stepsBack).isBetween(harness.count("reordered") - 2, harness.count("reordered"));
    }

    @Test
    void aReorderedPacketLeavesThoughNothingFollows() {
        try (ServiceHarness harness = ServiceHarness.start(new Impair(), Transport.UDP, Map.of("reorder", "100"))) {
            harness.send(packets(1));
            assertThat(harness.packets()).isEmpty();

            harness.advance(Duration.ofSeconds(1));

            assertThat(sequences(harness)).containsExactly(0L);
        }
    }

    @Test
    void packetsWaitAsLongAsTheDelaySays() {
        try (ServiceHarness harness = ServiceHarness.start(new Impair(), Transport.UDP, Map.of("delay", "30"))) {
            harness.send(packets(2)).advance(Duration.ofMillis(29));
            assertThat(harness.packets()).isEmpty();

            harness.advance(Duration.ofMillis(1));

            assertThat(sequences(harness)).containsExactly(0L, 1L);
            Packets.assertWellFormed(harness.packets());
        }
    }

    @Test
    void jitterLetsPacketsOvertakeAndLosesNone() {
        try (ServiceHarness harness = ServiceHarness.start(new Impair(), Transport.UDP, Map.of("jitter", "50"))) {
            harness.send(packets(100)).advance(Duration.ofMillis(50));

            assertThat(sequences(harness))
                    .hasSize(100)
                    .doesNotHaveDuplicates()
                    .isNotEqualTo(sequences(harness).stream().sorted().toList());
        }
    }

    @Test
    void moreWaitThanAnInstanceMayHaveTimers() {
        try (ServiceHarness harness = ServiceHarness.start(
                new Impair(), Transport.UDP, Map.of("delay", "30", "reorder", "50", "limit", "5000"))) {
            harness.send(packets(3_000)).advance(Duration.ofSeconds(1));

            assertThat(sequences(harness)).hasSize(3_000).doesNotHaveDuplicates();
        }
    }

    @Test
    void timersAreNotMoreTheMorePacketsCome() {
        try (ServiceHarness harness = ServiceHarness.start(new Impair(), Transport.UDP, Map.of("jitter", "60"))) {
            for (Packet packet : packets(5_000)) {
                harness.send(List.of(packet)).advance(Duration.ofMillis(1));
            }
            harness.advance(Duration.ofMillis(60));

            assertThat(harness.failures()).isEmpty();
            assertThat(sequences(harness)).hasSize(5_000).doesNotHaveDuplicates();
        }
    }

    @Test
    void noMoreWaitThanTheLimit() {
        try (ServiceHarness harness =
                ServiceHarness.start(new Impair(), Transport.UDP, Map.of("delay", "10", "limit", "3"))) {
            harness.send(packets(5));

            assertThat(harness.drops()).containsExactly("too many packets wait", "too many packets wait");
            assertThat(harness.consumed()).isEqualTo(3);
        }
    }

    @Test
    void whatWaitsLeavesAtTheEndOfItsStream() {
        assertThat(sequences(run(4, Map.of("delay", "60000")))).containsExactly(0L, 1L, 2L, 3L);
    }

    @ParameterizedTest
    @CsvSource({
        "loss, 101, 'loss: 101 must be a number from 0 to 100, as in 0.5'",
        "loss, x, 'loss: x must be a number from 0 to 100, as in 0.5'",
        "double, NaN, 'double: NaN must be a number from 0 to 100, as in 0.5'",
        "reorder-by, 0, 'reorder-by: 0 must be a whole number from 1 to 1000'",
        "loose, 1, 'loose: no such setting; known: delay, double, jitter, limit, loss, next, reorder, reorder-by, seed'"
    })
    void aWrongSettingIsToldInOneLine(String key, String value, String message) {
        assertThatThrownBy(() -> new Impair().init(new ServiceConfig(Map.of(key, value))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
