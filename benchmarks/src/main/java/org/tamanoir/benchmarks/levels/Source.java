package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.UdpCalls;

/**
 * Sends flows, one at a time, each when it is told to. Sequence numbers of a flow begin at 0. Questions:
 *
 * <pre>
 *   udp SIZE COUNT RATE      one datagram per system call    → packets sent, ns from the first to the last
 *   tcp SIZE COUNT RATE [TO] one connection, TCP_NODELAY     → the same
 *   flood SIZE MILLIS        as fast as it goes, to nobody   → datagrams sent, ns
 * </pre>
 *
 * <p>Up to {@value #MAX_SPACED_RATE} packets a second, packets stand apart by at least half of their interval; at higher
 * rates a sender that woke late sends at once what is due.
 */
public final class Source {
    private static final int FLOOD_BATCH = 64;
    private static final int MAX_SPACED_RATE = 4000;

    private Source() {}

    /** Runs until nobody asks any more. */
    public static void run(Arguments arguments) throws Exception {
        InetSocketAddress to = arguments.address("to");
        // All datagrams from one port: for the levels they are one flow.
        try (DatagramChannel udp = DatagramChannel.open()) {
            udp.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20);
            udp.connect(to);
            Control.serve("", words -> switch (words[0]) {
                case "udp" -> paced(udp, to, words);
                case "tcp" -> tcp(words.length > 4 ? Load.address(words[4]) : to, to, words);
                case "flood" ->
                    flood(arguments.address("flood-to"), to, Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                default -> throw Control.unknown(words[0], "udp, tcp, flood");
            });
        }
    }

    private static String tcp(InetSocketAddress peer, InetSocketAddress to, String[] words) throws IOException {
        try (SocketChannel channel = Load.connect(peer)) {
            String sent = paced(channel, to, words);
            Load.drain(channel, 5000);
            return sent;
        }
    }

    private static String paced(ByteChannel channel, InetSocketAddress to, String[] words) throws IOException {
        int bytes = Integer.parseInt(words[1]);
        int count = Integer.parseInt(words[2]);
        int packetsPerSecond = Integer.parseInt(words[3]);
        PacketBuilder builder = Load.header(to.getAddress(), 1);
        ByteBuffer payload = Load.payload(builder, bytes);
        ByteBuffer packet = ByteBuffer.allocateDirect(bytes);
        long intervalNs = 1_000_000_000L / packetsPerSecond;
        long beginNs = System.nanoTime();
        long dueNs = beginNs;
        for (int sent = 0; sent < count; sent++) {
            Threads.until(dueNs);
            builder.write(packet.clear(), payload);
            Load.write(channel, packet.flip());
            dueNs += intervalNs;
            if (packetsPerSecond <= MAX_SPACED_RATE) {
                dueNs = Math.max(dueNs, System.nanoTime() + intervalNs / 2);
            }
        }
        return count + " " + (System.nanoTime() - beginNs);
    }

    private static String flood(InetSocketAddress nobody, InetSocketAddress to, int bytes, int millis) {
        ByteBuffer packets = ByteBuffer.allocateDirect(FLOOD_BATCH * bytes);
        PacketBuilder builder = Load.header(to.getAddress(), 1);
        ByteBuffer payload = Load.payload(builder, bytes);
        for (int i = 0; i < FLOOD_BATCH; i++) {
            builder.write(packets, payload);
        }
        int socket = UdpCalls.openSender(nobody);
        try {
            ByteBuffer messages = UdpCalls.messages(packets.flip(), bytes);
            long beginNs = System.nanoTime();
            long sent = 0;
            while (System.nanoTime() - beginNs < millis * 1_000_000L) {
                sent += UdpCalls.sendEach(socket, messages);
            }
            return sent + " " + (System.nanoTime() - beginNs);
        } finally {
            UdpCalls.close(socket);
        }
    }
}
