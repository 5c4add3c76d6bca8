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
    void batchHoldsWholePacketsOfTheStatedSize(int packetOctets) {
        ByteBuffer batch = Load.batch(3, packetOctets, Load.BATCH_OCTETS, Integer.MAX_VALUE);
        Packet packet = new Packet();
        int packets = 0;
        for (int at = 0; at < batch.limit(); at += packetOctets) {
            assertThat(Framing.next(batch, at, batch.limit())).isEqualTo(packetOctets);
            assertThat(packet.parse(batch, at, packetOctets)).isNull();
            assertThat(packet.serviceKey()).isEqualTo(ServiceKey.of("org.tamanoir.services.Monitor"));
            assertThat(packet.streamId()).isEqualTo(3);
            assertThat(packet.sequence()).isEqualTo(packets++);
        }
        assertThat(packets).isEqualTo(Load.BATCH_OCTETS / packetOctets);
    }

    @Test
    void batchKeepsTheLimitOfSegmentsInOneCall() {
        assertThat(Load.batch(1, 200, 65_507, 64).limit()).isEqualTo(64 * 200);
    }

    @Test
    void packetsTooSmallForTheirHeaderAreRefusedWithTheBound() {
        assertThatThrownBy(() -> Load.batch(1, 63, 1000, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("63 octets")
                .hasMessageContaining("64 to 65535");
    }
}
