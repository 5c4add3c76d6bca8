package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Sends prepared batches over n TCP streams as fast as they are taken, one blocking thread per stream. */
final class TcpSender {
    private TcpSender() {}

    static void run(Arguments arguments) throws Exception {
        for (int stream = 0; stream < arguments.number("streams"); stream++) {
            SocketChannel channel = Load.connect(Load.loopback(arguments.number("port")));
            ByteBuffer batch = Load.batch(stream, arguments.number("size"), Load.BATCH_BYTES, Integer.MAX_VALUE);
            Threads.start("the forwarder ended stream " + stream, () -> Load.flood(channel, batch));
        }
        Control.serve("", words -> System.nanoTime() + " 0");
    }
}
