package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Streams that begin, send their packets, end, and wait for the end to come back through the forwarder: so many in all
 * and so many at once, each of these on a thread of its own. Questions are {@code PORT STREAMS AT-ONCE}, the answer is
 * the time that all took and the sum of their lives, in ns.
 */
final class LifeSender {
    private final ByteBuffer packets;

    private LifeSender(Arguments arguments) {
        int count = arguments.number("packets");
        int bytes = arguments.number("size");
        packets = Load.batch(1, bytes, count * bytes, count);
    }

    static void run(Arguments arguments) throws Exception {
        LifeSender sender = new LifeSender(arguments);
        Control.serve(
                "",
                words -> sender.pass(
                        Integer.parseInt(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2])));
    }

    private String pass(int port, int streams, int atOnce) throws Exception {
        AtomicInteger left = new AtomicInteger(streams);
        AtomicLong beganNs = new AtomicLong();
        // The last to come reads the clock: when all run, a thread that only measures may wait long for its turn.
        CyclicBarrier begin = new CyclicBarrier(atOnce, () -> beganNs.set(System.nanoTime()));
        ExecutorService threads = Executors.newFixedThreadPool(atOnce);
        try {
            List<Future<Long>> lives = new ArrayList<>();
            for (int i = 0; i < atOnce; i++) {
                lives.add(threads.submit(() -> {
                    ByteBuffer end = ByteBuffer.allocateDirect(1);
                    begin.await();
                    long ns = 0;
                    while (left.getAndDecrement() > 0) {
                        ns += live(port, packets.duplicate(), end);
                    }
                    return ns;
                }));
            }
            long livesNs = 0;
            for (Future<Long> one : lives) {
                livesNs += one.get();
            }
            return System.nanoTime() - beganNs.get() + " " + livesNs;
        } finally {
            threads.shutdownNow();
        }
    }

    private static long live(int port, ByteBuffer packets, ByteBuffer end) throws IOException {
        long beganNs = System.nanoTime();
        try (SocketChannel channel = Load.connect(Load.loopback(port))) {
            Load.write(channel, packets);
            channel.shutdownOutput();
            if (channel.read(end.clear()) >= 0) {
                throw new IOException("a reply came where none was due");
            }
        }
        return System.nanoTime() - beganNs;
    }
}
