package org.tamanoir.benchmarks;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Next hops, a socket and a thread each, that count the packets of {@link DestinationFlood} and those which are for
 * another next hop. Answers with the time, the packets, and the misled ones.
 */
final class DestinationSink {
    private static final int RECEIVE_BUFFER_BYTES = 8 << 20;
    private static final int LARGEST_MESSAGE_BYTES = 1 << 16;
    /** Of the header's length in words of four bytes, in a packet. */
    private static final int HEADER_WORDS_AT = 4;

    private DestinationSink() {}

    static void run(Arguments arguments) throws Exception {
        int size = arguments.number("size");
        int ipv4 = Load.header(InetAddress.getByAddress(new byte[4]), 1).headerLength();
        int ipv6 = Load.header(InetAddress.getByAddress(new byte[16]), 1).headerLength();
        AtomicLong packets = new AtomicLong();
        AtomicLong misled = new AtomicLong();
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < arguments.number("sinks"); i++) {
            int number = i;
            int socket = UdpCalls.openSink(RECEIVE_BUFFER_BYTES);
            ports.add(UdpCalls.localPort(socket));
            Threads.start("read", () -> {
                ByteBuffer buffer = ByteBuffer.allocateDirect(LARGEST_MESSAGE_BYTES);
                while (true) {
                    int bytes = (int) UdpCalls.receive(socket, buffer);
                    int wrong = bytes % size == 0 ? 0 : 1;
                    for (int at = 0; at + size <= bytes; at += size) {
                        int header = 4 * Short.toUnsignedInt(buffer.getShort(at + HEADER_WORDS_AT));
                        wrong += (header == ipv4 || header == ipv6) && buffer.getInt(at + header) == number ? 0 : 1;
                    }
                    packets.addAndGet(bytes / size);
                    misled.addAndGet(wrong);
                }
            });
        }
        Control.serve(
                ports.stream().map(String::valueOf).collect(Collectors.joining(" ")),
                words -> System.nanoTime() + " " + packets.get() + " " + misled.get());
    }
}
