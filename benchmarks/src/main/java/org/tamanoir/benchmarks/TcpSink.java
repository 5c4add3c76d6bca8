package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Takes TCP connections and counts what they bring, one thread per connection. With {@code --latency} it also
 * reads each packet's origin time: the clock is CLOCK_MONOTONIC, which all processes of a Linux host share.
 */
@Command(name = "tcp-sink", hidden = true, description = "Counts octets that arrive over TCP.")
final class TcpSink implements Callable<Integer> {
    private static final int BACKLOG = 1024;
    private static final long MAX_LATENCY_NS = 60_000_000_000L;

    @Option(names = "--latency", description = "Record the latency of each packet.")
    private boolean latency;

    private final LongAdder octets = new LongAdder();
    private final Recorder latencies = new Recorder(MAX_LATENCY_NS, 3);

    @Override
    public Integer call() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(Load.loopback(0), BACKLOG)) {
            Thread acceptor = new Thread(() -> accept(server), "accept");
            acceptor.setDaemon(true);
            acceptor.start();
            Control.serve(
                    Integer.toString(server.socket().getLocalPort()),
                    Map.of("sample", () -> System.nanoTime() + " " + octets.sum(), "latency", this::percentiles));
        }
        return 0;
    }

    /** Count, p50, p99 and maximum in ns since the last question. */
    private String percentiles() {
        Histogram interval = latencies.getIntervalHistogram();
        return interval.getTotalCount() + " " + interval.getValueAtPercentile(50) + " "
                + interval.getValueAtPercentile(99) + " " + interval.getMaxValue();
    }

    private void accept(ServerSocketChannel server) {
        try {
            while (true) {
                SocketChannel channel = server.accept();
                Thread reader = new Thread(() -> read(channel), "read");
                reader.setDaemon(true);
                reader.start();
            }
        } catch (IOException e) {
            // The server socket closes when the process ends.
        }
    }

    private void read(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(Load.BATCH_OCTETS);
        Packet packet = new Packet();
        try (channel) {
            int read;
            while ((read = channel.read(buffer)) >= 0) {
                octets.add(read);
                if (latency) {
                    record(packet, buffer);
                } else {
                    buffer.clear();
                }
            }
        } catch (IOException e) {
            // A forwarder that is killed resets its connections: what came before is counted.
        }
    }

    private void record(Packet packet, ByteBuffer buffer) throws IOException {
        long now = System.nanoTime();
        buffer.flip();
        int length;
        int at = 0;
        while ((length = Framing.next(buffer, at, buffer.limit())) > 0) {
            if (packet.parse(buffer, at, length) == null) {
                latencies.recordValue(Math.min(MAX_LATENCY_NS, Math.max(0, now - packet.originTimeNs())));
            }
            at += length;
        }
        if (length == Framing.BROKEN) {
            throw new IOException("no ANEP packet at octet " + at + " of the batch: the forwarder broke the stream");
        }
        buffer.position(at).compact();
    }
}
