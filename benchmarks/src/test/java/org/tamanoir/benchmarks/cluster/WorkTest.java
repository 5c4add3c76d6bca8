package org.tamanoir.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;

class WorkTest {
    private static final InetAddress RECEIVER = InetAddress.getLoopbackAddress();

    @Test
    void batchIsWholePacketsOfTheSize() {
        ByteBuffer batch = Work.GZIP.batch(RECEIVER, 7, 8192, 5);
        assertThat(batch.remaining()).isEqualTo(5 * 8192);
        Packet packet = new Packet();
        for (int at = 0; at < batch.limit(); at += 8192) {
            assertThat(Framing.next(batch, at, batch.limit())).isEqualTo(8192);
            assertThat(packet.parse(batch, at, 8192)).isNull();
            assertThat(packet.streamId()).isEqualTo(7);
            assertThat(packet.destination()).isEqualTo(RECEIVER);
        }
        assertThatThrownBy(() -> Work.MONITOR.batch(RECEIVER, 0, 40, 1))
                .hasMessageMatching("packets of 40 bytes: \\d+ to 65535 are possible");
    }

    @Test
    void textIsTheSameInEveryRunAndCompressesLikeSources() {
        byte[] text = Corpus.bytes(1, 500_000);
        assertThat(text).isEqualTo(Corpus.bytes(1, 500_000)).isNotEqualTo(Corpus.bytes(2, 500_000));
        assertThat(new String(text, StandardCharsets.US_ASCII)).contains("/* ", "return ", "\n}\n");
        Deflater deflater = new Deflater(6, true);
        deflater.setInput(text);
        deflater.finish();
        int bytes = deflater.deflate(new byte[text.length]);
        deflater.end();
        // A tar of a kernel's sources becomes a fifth to a quarter.
        assertThat((double) text.length / bytes).isBetween(3.0, 6.0);
    }
}
