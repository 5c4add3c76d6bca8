package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.UdpCalls;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
@Command(name = "level-source", hidden = true, description = "Sends flows of packets.")
public final class Source implements Callable<Integer> {
    private static final int FLOOD_BATCH = 64;
    private static final int MAX_SPACED_RATE = 4000;

    @Option(names = "--to", required = true)
    private String to = "";

    @Option(names = "--flood-to", required = true)
    private String floodTo = "";

    /** Made by picocli. */
    public Source() {}

    @Override
    public Integer call() throws Exception {
        // All datagrams from one port: for the levels they are one flow.
        try (DatagramChannel udp = DatagramChannel.open()) {
            udp.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20);
            udp.connect(address(to));
            Control.serve("", words -> switch (words[0]) {
                case "udp" -> paced(udp, number(words[1]), number(words[2]), number(words[3]));
                case "tcp" ->
                    tcp(
                            address(words.length > 4 ? words[4] : to),
                            number(words[1]),
                            number(words[2]),
                            number(words[3]));
                case "flood" -> flood(number(words[1]), number(words[2]));
                default -> throw new IOException("no answer to '" + words[0] + "': known are udp, tcp, flood");
            });
        }
        return 0;
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    private String tcp(InetSocketAddress peer, int octets, int count, int packetsPerSecond) throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.connect(peer);
            String sent = paced(channel, octets, count, packetsPerSecond);
            drain(channel.socket());
            return sent;
        }
    }

    /** Ends this side and waits until the other has taken everything and ended too. */
    private static void drain(Socket socket) throws IOException {
        socket.shutdownOutput();
        socket.setSoTimeout(5000);
        socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    }

    private String paced(ByteChannel channel, int octets, int count, int packetsPerSecond) throws IOException {
        PacketBuilder builder = Load.header(address(to).getAddress(), 1);
        ByteBuffer payload = Load.payload(builder, octets);
        ByteBuffer packet = ByteBuffer.allocateDirect(octets);
        long intervalNs = 1_000_000_000L / packetsPerSecond;
        long beginNs = System.nanoTime();
        long dueNs = beginNs;
        int sent = 0;
        while (sent < count) {
            long earlyNs = dueNs - System.nanoTime();
            if (earlyNs > 0) {
                LockSupport.parkNanos(earlyNs);
                continue;
            }
            builder.write(packet.clear(), payload);
            packet.flip();
            while (packet.hasRemaining()) {
                channel.write(packet);
            }
            sent++;
            dueNs += intervalNs;
            if (packetsPerSecond <= MAX_SPACED_RATE) {
                dueNs = Math.max(dueNs, System.nanoTime() + intervalNs / 2);
            }
        }
        return sent + " " + (System.nanoTime() - beginNs);
    }

    private String flood(int octets, int millis) {
        ByteBuffer packets = ByteBuffer.allocateDirect(FLOOD_BATCH * octets);
        PacketBuilder builder = Load.header(address(to).getAddress(), 1);
        ByteBuffer payload = Load.payload(builder, octets);
        for (int i = 0; i < FLOOD_BATCH; i++) {
            builder.write(packets, payload);
        }
        packets.flip();
        int socket = UdpCalls.openSender(address(floodTo));
        try {
            ByteBuffer messages = UdpCalls.messages(packets, octets);
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
