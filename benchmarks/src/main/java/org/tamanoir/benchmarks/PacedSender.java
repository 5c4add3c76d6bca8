package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.anep.PacketBuilder;

/**
 * Sends at a steady rate whatever the forwarder does (open loop): one packet per system call, each with the time
 * of its writing. A sender that woke late sends what is due at once. Told to {@code end}, it does, and begins anew when
 * told where {@code to}: so it is warm when a fresh forwarder gets its first packet.
 */
final class PacedSender {
    private static final double END_TIMEOUT_S = 10;

    private final boolean udp;
    private final int packetBytes;
    private final long intervalNs;
    private final AtomicLong sent = new AtomicLong();
    private final ByteChannel channel;
    private final Thread thread;

    private PacedSender(Arguments arguments, int port) throws IOException {
        udp = arguments.text("transport").equals(Transport.UDP.name());
        packetBytes = arguments.number("size");
        intervalNs = 1_000_000_000L / arguments.number("rate");
        channel = udp ? DatagramChannel.open().connect(Load.loopback(port)) : Load.connect(Load.loopback(port));
        thread = Threads.start("the forwarder ended the stream", this::send);
    }

    /** Returns the words that start it, but for the port. */
    static String part(Transport transport, int packetBytes, long packetsPerSecond) {
        return "paced-sender transport=%s size=%d rate=%d".formatted(transport, packetBytes, packetsPerSecond);
    }

    static void run(Arguments arguments) throws Exception {
        PacedSender[] now = {new PacedSender(arguments, arguments.number("port"))};
        Control.serve("", words -> {
            if (words[0].equals("end")) {
                now[0].channel.close();
                Threads.join(now[0].thread, END_TIMEOUT_S);
            } else if (words[0].equals("to")) {
                now[0] = new PacedSender(arguments, Integer.parseInt(words[1]));
            }
            return System.nanoTime() + " " + now[0].sent.get();
        });
    }

    private void send() throws IOException {
        PacketBuilder builder = Load.header(1).timestamps();
        ByteBuffer payload = Load.payload(builder, packetBytes);
        ByteBuffer packet = ByteBuffer.allocateDirect(packetBytes);
        for (long dueNs = System.nanoTime(); ; dueNs += intervalNs) {
            Threads.until(dueNs);
            builder.write(packet.clear(), payload);
            try {
                Load.write(channel, packet.flip());
                sent.lazySet(sent.get() + 1);
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                if (!udp) {
                    throw e;
                }
                // The refusal of an earlier packet; it counts as not sent.
            }
        }
    }
}
