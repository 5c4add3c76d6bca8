package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;

/**
 * Takes TCP connections and counts what they bring, one thread per connection. Told to, it also reads each packet's
 * origin time: the clock is CLOCK_MONOTONIC, which all processes of a Linux host share. Any thread reads the count.
 */
public final class TcpSink implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final long MAX_LATENCY_NS = 60_000_000_000L;

    private final ServerSocketChannel server = ServerSocketChannel.open().bind(Load.loopback(0), BACKLOG);
    private final boolean latency;
    private final LongAdder bytes = new LongAdder();
    private final Recorder latencies = new Recorder(MAX_LATENCY_NS, 3);

    /** Begins to take connections. */
    public TcpSink(boolean latency) throws IOException {
        this.latency = latency;
        Load.accept(server, this::read);
    }

    static void run(Arguments arguments) throws Exception {
        try (TcpSink sink = new TcpSink(arguments.flag("latency"))) {
            Control.serve(
                    sink.port(),
                    words -> words[0].equals("latency")
                            ? sink.percentiles()
                            : System.nanoTime() + " " + sink.bytes.sum());
        }
    }

    /** Returns the port of 127.0.0.1 that it listens on. */
    public int port() {
        return server.socket().getLocalPort();
    }

    /** Returns the bytes that have come. */
    public long bytes() {
        return bytes.sum();
    }

    /** Returns count, p50, p99, p99.9 and maximum in ns since the last question. */
    private String percentiles() {
        Histogram interval = latencies.getIntervalHistogram();
        return interval.getTotalCount() + " " + interval.getValueAtPercentile(50) + " "
                + interval.getValueAtPercentile(99) + " " + interval.getValueAtPercentile(99.9) + " "
                + interval.getMaxValue();
    }

    private void read(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(Load.BATCH_BYTES);
        Packet packet = new Packet();
        try (channel) {
            int read;
            while ((read = channel.read(buffer)) >= 0) {
                bytes.add(read);
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
            throw new IOException("no ANEP packet at byte " + at + " of the batch: the forwarder broke the stream");
        }
        buffer.position(at).compact();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
