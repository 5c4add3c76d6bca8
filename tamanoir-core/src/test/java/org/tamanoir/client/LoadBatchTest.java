package org.tamanoir.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;

class LoadBatchTest {
    @ParameterizedTest
    @CsvSource({"200,true,true", "201,true,false", "200,false,true", "65535,true,true", "333,false,false"})
    void everyPacketIsGoodAndNumberedHoweverOftenTheMemoryIsUsedAgain(
            int packetBytes, boolean checksum, boolean timestamps) throws Exception {
        PacketBuilder builder = new PacketBuilder().destination(InetAddress.getByName("10.0.2.7")).stream(7);
        if (timestamps) {
            builder.timestamps();
        }
        if (checksum) {
            builder.checksum();
        }
        LoadBatch batch = new LoadBatch(builder, packetBytes, 4096);
        LoadPattern pattern = new LoadPattern();
        Packet packet = new Packet();
        long sequence = 0;
        for (int round = 0; round < 20; round++) {
            int packets = batch.prepare(3);
            int at = batch.from();
            for (int i = 0; i < packets; i++, at += packetBytes) {
                assertThat(packet.parse(batch.bytes(), at, packetBytes)).isNull();
                assertThat(packet.sequence()).isEqualTo(sequence++);
                assertThat(packet.originTimeNs() != 0).isEqualTo(timestamps);
                assertThat(pattern.matches(packet)).isTrue();
            }
            assertThat(at).isEqualTo(batch.to());
        }
    }

    @Test
    void aChangedByteDoesNotMatchThePattern() {
        LoadBatch batch = new LoadBatch(new PacketBuilder().stream(1), 100, 1000);
        batch.prepare(1);
        Packet packet = new Packet();
        assertThat(packet.parse(batch.bytes(), 0, 100)).isNull();
        int last = packet.payloadOffset() + packet.payloadLength() - 1;
        batch.bytes().put(last, (byte) (batch.bytes().get(last) ^ 1));
        assertThat(new LoadPattern().matches(packet)).isFalse();
    }

    @Test
    void packetsThatCannotHoldTheirHeaderAreRefused() {
        assertThatThrownBy(() -> new LoadBatch(new PacketBuilder().stream(1), 23, 1000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("23")
                .hasMessageContaining("24");
    }
}
