package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.PacketBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Holds thousands of TCP streams that are idle but for a burst each period, all at once. A burst is small enough
 * for the socket's buffer, so that one blocking thread serves all streams.
 */
@Command(name = "stream-sender", hidden = true, description = "Sends bursts over many TCP streams.")
final class StreamSender implements Callable<Integer> {
    private static final long FINISH_TIMEOUT_S = 60;

    @Option(names = "--port", required = true)
    private int port;

    @Option(names = "--streams", required = true)
    private int streams;

    @Option(names = "--size", required = true)
    private int packetOctets;

    @Option(names = "--burst", required = true)
    private int burstPackets;

    @Option(names = "--period-ms", required = true)
    private int periodMs;

    private final CompletableFuture<Long> sentPackets = new CompletableFuture<>();
    private volatile boolean finishing;

    private record Stream(SocketChannel channel, PacketBuilder builder) {}

    @Override
    public Integer call() throws Exception {
        List<Stream> open = new ArrayList<>(streams);
        for (int id = 0; id < streams; id++) {
            SocketChannel channel = SocketChannel.open(Load.loopback(port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            open.add(new Stream(channel, Load.header(id)));
        }
        Thread sender = new Thread(() -> burst(open), "burst");
        sender.setDaemon(true);
        sender.start();
        Control.serve("", Map.of("finish", this::finish));
        return 0;
    }

    /** Ends all streams after the present burst; the packets that were sent. */
    private String finish() throws Exception {
        finishing = true;
        return Long.toString(sentPackets.get(FINISH_TIMEOUT_S, TimeUnit.SECONDS));
    }

    private void burst(List<Stream> open) {
        ByteBuffer payload = Load.payload(Load.header(0), packetOctets);
        ByteBuffer burst = ByteBuffer.allocateDirect(burstPackets * packetOctets);
        long sent = 0;
        long dueNs = System.nanoTime();
        try {
            while (!finishing) {
                for (Stream stream : open) {
                    burst.clear();
                    for (int i = 0; i < burstPackets; i++) {
                        stream.builder.write(burst, payload);
                    }
                    burst.flip();
                    while (burst.hasRemaining()) {
                        stream.channel.write(burst);
                    }
                    sent += burstPackets;
                }
                dueNs += TimeUnit.MILLISECONDS.toNanos(periodMs);
                while (!finishing && dueNs - System.nanoTime() > 0) {
                    LockSupport.parkNanos(Math.min(dueNs - System.nanoTime(), 50_000_000L));
                }
            }
            for (Stream stream : open) {
                stream.channel.shutdownOutput();
            }
            sentPackets.complete(sent);
        } catch (IOException e) {
            sentPackets.completeExceptionally(e);
        }
    }
}
