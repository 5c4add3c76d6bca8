package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.PacketBuilder;

/**
 * Sends at a steady rate whatever the forwarder does (open loop): one packet per system call, each with the time
 * of its writing. A sender that woke late sends what is due at once.
 */
final class PacedSender {
    private PacedSender() {}

    static void run(Arguments arguments) throws Exception {
        boolean udp = arguments.text("transport").equals(Transport.UDP.name());
        int port = arguments.number("port");
        ByteChannel channel =
                udp ? DatagramChannel.open().connect(Load.loopback(port)) : Load.connect(Load.loopback(port));
        AtomicLong sent = new AtomicLong();
        int bytes = arguments.number("size");
        long intervalNs = 1_000_000_000L / arguments.number("rate");
        Threads.start("the forwarder ended the stream", () -> send(channel, udp, bytes, intervalNs, sent));
        Control.serve("", words -> System.nanoTime() + " " + sent.get());
    }

    private static void send(ByteChannel channel, boolean udp, int packetBytes, long intervalNs, AtomicLong sent)
            throws IOException {
        PacketBuilder builder = Load.header(1).timestamps();
        ByteBuffer payload = Load.payload(builder, packetBytes);
        ByteBuffer packet = ByteBuffer.allocateDirect(packetBytes);
        for (long dueNs = System.nanoTime(); ; dueNs += intervalNs) {
            Threads.until(dueNs);
            builder.write(packet.clear(), payload);
            try {
                Load.write(channel, packet.flip());
                sent.lazySet(sent.get() + 1);
            } catch (IOException e) {
                if (!udp) {
                    throw e;
                }
                // The refusal of an earlier packet; it counts as not sent.
            }
        }
    }
}
