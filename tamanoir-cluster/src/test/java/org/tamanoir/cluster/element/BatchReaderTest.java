package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

class BatchReaderTest {
    @Test
    void aHandlerThatFailsIsWhyItEnds() throws Exception {
        UdpSocket socket = UdpSockets.bind(TransportKind.AUTO, Sockets.loopback(Sockets.FREE));
        try (DatagramSocket source = Sockets.open()) {
            BatchReader reader = new BatchReader(socket, new BatchReader.Handler() {
                @Override
                public void take(UdpBatch batch, int messages) {
                    throw new IllegalStateException("broken");
                }

                @Override
                public long idle() {
                    return Long.MAX_VALUE;
                }
            });
            CompletableFuture<Void> reading = Waiting.async(reader::run);
            Sockets.send(source, new byte[1], socket.localAddress());

            assertThat(reading.handle((nothing, failure) -> failure)
                            .get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isNull();
            assertThat(reader.failure()).contains("broken");
        } finally {
            socket.close();
        }
    }
}
