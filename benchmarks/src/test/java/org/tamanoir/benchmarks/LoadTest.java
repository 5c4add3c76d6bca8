package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;

class LoadTest {
    @ParameterizedTest
    @ValueSource(ints = {64, 200, 1400, 32_768, 65_000, 65_535})
    void batchHoldsWholePacketsOfTheStatedSize(int packetBytes) {
        ByteBuffer batch = Load.batch(3, packetBytes, Load.BATCH_BYTES, Integer.MAX_VALUE);
        Packet packet = new Packet();
        int packets = 0;
        for (int at = 0; at < batch.limit(); at += packetBytes) {
            assertThat(Framing.next(batch, at, batch.limit())).isEqualTo(packetBytes);
            assertThat(packet.parse(batch, at, packetBytes)).isNull();
            assertThat(packet.serviceKey()).isEqualTo(ServiceKey.of("org.tamanoir.services.Monitor"));
            assertThat(packet.streamId()).isEqualTo(3);
            assertThat(packet.sequence()).isEqualTo(packets++);
        }
        assertThat(packets).isEqualTo(Load.BATCH_BYTES / packetBytes);
    }

    @Test
    void batchKeepsTheLimitOfSegmentsInOneCall() {
        assertThat(Load.batch(1, 200, 65_507, 64).limit()).isEqualTo(64 * 200);
    }

    @Test
    void packetsTooSmallForTheirHeaderAreRefusedWithTheBound() {
        assertThatThrownBy(() -> Load.batch(1, 63, 1000, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("63 bytes")
                .hasMessageContaining("64 to 65535");
    }
}
