package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.PacketBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends at a steady rate whatever the forwarder does (open loop): one packet per system call, each with the time
 * of its writing. A sender that woke late sends what is due at once.
 */
@Command(name = "paced-sender", hidden = true, description = "Sends packets at a steady rate.")
final class PacedSender implements Callable<Integer> {
    @Option(names = "--transport", required = true)
    private Transport transport = Transport.TCP;

    @Option(names = "--port", required = true)
    private int port;

    @Option(names = "--size", required = true)
    private int packetOctets;

    @Option(names = "--rate", required = true)
    private long packetsPerSecond;

    private final AtomicLong sent = new AtomicLong();

    @Override
    public Integer call() throws Exception {
        ByteChannel channel = connect();
        Thread writer = new Thread(() -> send(channel), "send");
        writer.setDaemon(true);
        writer.start();
        Control.serve("", Map.of("sample", () -> System.nanoTime() + " " + sent.get()));
        return 0;
    }

    private ByteChannel connect() throws IOException {
        if (transport == Transport.UDP) {
            return DatagramChannel.open().connect(Load.loopback(port));
        }
        SocketChannel channel = SocketChannel.open(Load.loopback(port));
        return channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    private void send(ByteChannel channel) {
        PacketBuilder builder = Load.header(1).timestamps();
        ByteBuffer payload = Load.payload(builder, packetOctets);
        ByteBuffer packet = ByteBuffer.allocateDirect(packetOctets);
        long intervalNs = 1_000_000_000L / packetsPerSecond;
        long dueNs = System.nanoTime();
        while (true) {
            long earlyNs = dueNs - System.nanoTime();
            if (earlyNs > 0) {
                LockSupport.parkNanos(earlyNs);
                continue;
            }
            builder.write(packet.clear(), payload);
            packet.flip();
            try {
                while (packet.hasRemaining()) {
                    channel.write(packet);
                }
                sent.lazySet(sent.get() + 1);
            } catch (IOException e) {
                if (transport == Transport.TCP) {
                    System.err.println("the forwarder ended the stream: " + e.getMessage());
                    return;
                }
                // UDP: the refusal of an earlier packet; it counts as not sent.
            }
            dueNs += intervalNs;
        }
    }
}
