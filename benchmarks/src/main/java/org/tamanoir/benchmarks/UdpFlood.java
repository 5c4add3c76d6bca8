package org.tamanoir.benchmarks;

import com.sun.jna.LastErrorException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends one UDP flow as fast as the kernel takes it, on one thread: as single datagrams (sendmmsg), or up to 64 in one
 * message (UDP_SEGMENT). On loopback those of one message reach a receiver that asks for it (UDP_GRO) still joined,
 * others one by one.
 */
final class UdpFlood {
    /** Kernels before 6.9 take no more datagrams in one call. */
    private static final int MAX_SEGMENTS = 64;

    private static final int MAX_MESSAGE_BYTES = 65_507;

    private UdpFlood() {}

    static void run(Arguments arguments) throws Exception {
        int packetBytes = arguments.number("size");
        boolean joined = arguments.flag("joined");
        int socket = UdpCalls.openSender(Load.loopback(arguments.number("port")));
        if (joined) {
            UdpCalls.segment(socket, packetBytes);
        }
        AtomicLong sent = new AtomicLong();
        Threads.start("flood", () -> flood(socket, packetBytes, joined, sent));
        Control.serve("", words -> System.nanoTime() + " " + sent.get());
    }

    private static void flood(int socket, int packetBytes, boolean joined, AtomicLong sent) {
        ByteBuffer batch = Load.batch(1, packetBytes, MAX_MESSAGE_BYTES, MAX_SEGMENTS);
        ByteBuffer messages = UdpCalls.messages(batch, packetBytes);
        while (true) {
            try {
                long packets =
                        joined ? UdpCalls.send(socket, batch) / packetBytes : UdpCalls.sendEach(socket, messages);
                sent.lazySet(sent.get() + packets);
            } catch (LastErrorException e) {
                // The refusal of earlier datagrams (ECONNREFUSED) or a full queue: those count as not sent.
                Thread.onSpinWait();
            }
        }
    }
}
