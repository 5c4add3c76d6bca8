package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.PacketBuilder;

/**
 * Holds thousands of TCP streams that are idle but for a burst each period, all at once. A burst is small enough
 * for the socket's buffer, so that one blocking thread serves all streams.
 */
final class StreamSender {
    private static final long FINISH_TIMEOUT_S = 60;
    private static final double LOOK_S = 0.05;

    private final List<Stream> open = new ArrayList<>();
    private final int packetBytes;
    private final int burstPackets;
    private final double periodS;
    private final CompletableFuture<Long> sentPackets = new CompletableFuture<>();
    private volatile boolean finishing;

    private record Stream(SocketChannel channel, PacketBuilder builder) {}

    private StreamSender(Arguments arguments) throws IOException {
        packetBytes = arguments.number("size");
        burstPackets = arguments.number("burst");
        periodS = arguments.number("period-ms") / 1e3;
        for (int id = 0; id < arguments.number("streams"); id++) {
            open.add(new Stream(Load.connect(Load.loopback(arguments.number("port"))), Load.header(id)));
        }
    }

    static void run(Arguments arguments) throws Exception {
        StreamSender sender = new StreamSender(arguments);
        Threads.start("burst", sender::burst);
        Control.serve("", words -> sender.finish());
    }

    /** Ends all streams after the present burst; the packets that were sent. */
    private String finish() throws Exception {
        finishing = true;
        return Long.toString(sentPackets.get(FINISH_TIMEOUT_S, TimeUnit.SECONDS));
    }

    private void burst() {
        ByteBuffer payload = Load.payload(Load.header(0), packetBytes);
        ByteBuffer burst = ByteBuffer.allocateDirect(burstPackets * packetBytes);
        long sent = 0;
        long dueNs = System.nanoTime();
        try {
            while (!finishing) {
                for (Stream stream : open) {
                    burst.clear();
                    for (int i = 0; i < burstPackets; i++) {
                        stream.builder.write(burst, payload);
                    }
                    Load.write(stream.channel, burst.flip());
                    sent += burstPackets;
                }
                dueNs += Math.round(periodS * 1e9);
                while (!finishing && dueNs - System.nanoTime() > 0) {
                    Threads.pause(Math.min((dueNs - System.nanoTime()) / 1e9, LOOK_S));
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
