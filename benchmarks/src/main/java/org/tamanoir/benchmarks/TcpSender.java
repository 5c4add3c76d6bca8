package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Sends prepared batches over n TCP streams as fast as they are taken, one blocking thread per stream. */
@Command(name = "tcp-sender", hidden = true, description = "Floods TCP streams with packets.")
final class TcpSender implements Callable<Integer> {
    @Option(names = "--port", required = true)
    private int port;

    @Option(names = "--streams", required = true)
    private int streams;

    @Option(names = "--size", required = true)
    private int packetOctets;

    @Override
    public Integer call() throws Exception {
        for (int stream = 0; stream < streams; stream++) {
            SocketChannel channel = SocketChannel.open(Load.loopback(port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            ByteBuffer batch = Load.batch(stream, packetOctets, Load.BATCH_OCTETS, Integer.MAX_VALUE);
            Thread writer = new Thread(() -> write(channel, batch), "stream-" + stream);
            writer.setDaemon(true);
            writer.start();
        }
        Control.serve("", Map.of());
        return 0;
    }

    private static void write(SocketChannel channel, ByteBuffer batch) {
        try (channel) {
            while (true) {
                channel.write(batch);
                if (!batch.hasRemaining()) {
                    batch.rewind();
                }
            }
        } catch (IOException e) {
            System.err.println("the forwarder ended the stream: " + e.getMessage());
        }
    }
}
