package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the datagrams of one size that arrive, on one thread. */
final class UdpSink {
    private static final int RECEIVE_BUFFER_BYTES = 8 << 20;
    private static final int LARGEST_MESSAGE_BYTES = 1 << 16;

    private UdpSink() {}

    static void run(Arguments arguments) throws Exception {
        int packetBytes = arguments.number("size");
        int socket = UdpCalls.openSink(RECEIVE_BUFFER_BYTES);
        AtomicLong packets = new AtomicLong();
        Threads.start("read", () -> {
            ByteBuffer buffer = ByteBuffer.allocateDirect(LARGEST_MESSAGE_BYTES);
            while (true) {
                long bytes = UdpCalls.receive(socket, buffer);
                packets.lazySet(packets.get() + bytes / packetBytes);
            }
        });
        Control.serve(UdpCalls.localPort(socket), words -> System.nanoTime() + " " + packets.get() * packetBytes);
    }
}
