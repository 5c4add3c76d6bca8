package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.Anep;
import org.tamanoir.sapf.Sapf;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** Counts the packets that arrive, on one thread, and gives a selector to whoever asks for one. */
final class WireSink {
    private WireSink() {}

    static void run(Arguments arguments) throws Exception {
        int packetBytes = arguments.number("size");
        SapfSettings settings = new SapfSettings(true, List.of(), Duration.ofHours(1));
        Sapf sapf = new Sapf(settings, 8, Anep.DEFAULT_TYPE_ID, System::nanoTime, new Tap());
        UdpSocket socket = sapf.over(UdpSockets.bind(TransportKind.AUTO, Load.loopback(0)));
        UdpBatch batch = socket.newBatch();
        batch.leaveFolded(true);
        AtomicLong packets = new AtomicLong();
        Threads.start("read", () -> {
            try {
                while (true) {
                    int messages = socket.receive(batch);
                    packets.lazySet(packets.get() + count(batch, messages));
                    if (messages == 0) {
                        socket.awaitReadable(Duration.ofSeconds(1));
                    }
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        InetSocketAddress address = socket.localAddress();
        Control.serve(address.getPort(), words -> System.nanoTime() + " " + packets.get() * packetBytes);
    }

    private static long count(UdpBatch batch, int messages) {
        long count = 0;
        for (int m = 0; m < messages; m++) {
            int segment = Math.max(1, batch.segmentBytes(m));
            count += (batch.end(m) - batch.start(m) + segment - 1) / segment;
        }
        return count;
    }
}
