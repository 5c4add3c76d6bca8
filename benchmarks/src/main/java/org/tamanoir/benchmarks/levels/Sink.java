package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.BitSet;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Takes the packets of a flow, over UDP and TCP, and checks their sequence numbers; at another address it takes streams
 * and acknowledges them late. Questions:
 *
 * <pre>
 *   clear     → 0
 *   counts    → packets, different ones, that came after a later one, with the class of service set, malformed
 * </pre>
 */
@Command(name = "level-sink", hidden = true, description = "Takes flows of packets.")
public final class Sink implements Callable<Integer> {
    private static final long LATE_POLL_NS = 200_000;
    private static final int MAX_SEQUENCE = 1 << 22;

    @Option(names = "--on", required = true)
    private String on = "";

    @Option(names = "--late-on", required = true)
    private String lateOn = "";

    private Counts counts = new Counts();
    private long malformedBefore;

    /** Made by picocli. */
    public Sink() {}

    /** Of one flow. Thread contract: any thread. */
    private static final class Counts {
        private final BitSet seen = new BitSet();
        private long packets;
        private long late;
        private long marked;
        private long latest = -1;

        synchronized void add(Packet packet) {
            packets++;
            long sequence = packet.sequence();
            if (sequence < latest) {
                late++;
            }
            latest = Math.max(latest, sequence);
            if (sequence >= 0 && sequence < MAX_SEQUENCE) {
                seen.set((int) sequence);
            }
            if (packet.classOfService() != 0) {
                marked++;
            }
        }

        synchronized String text() {
            return packets + " " + seen.cardinality() + " " + late + " " + marked;
        }
    }

    private synchronized Counts counts() {
        return counts;
    }

    private synchronized void clear() {
        counts = new Counts();
    }

    @Override
    public Integer call() throws Exception {
        InetSocketAddress late = Source.address(lateOn);
        ServerSocketChannel listener = ServerSocketChannel.open().bind(late);
        Thread thread = new Thread(() -> takeLate(listener), "late");
        thread.setDaemon(true);
        thread.start();
        try (listener;
                AnepReceiver receiver = AnepReceiver.on(Source.address(on))
                        .tcp()
                        .udp()
                        .start(() -> new PacketHandler() {
                            @Override
                            public void packet(Packet packet, Peer peer) {
                                counts().add(packet);
                            }
                        })) {
            Control.serve("", words -> switch (words[0]) {
                case "clear" -> {
                    clear();
                    malformedBefore = malformed(receiver);
                    yield "0";
                }
                case "counts" -> counts().text() + " " + (malformed(receiver) - malformedBefore);
                default -> throw new IOException("no answer to '" + words[0] + "': known are clear, counts");
            });
        }
        return 0;
    }

    /** Takes streams, one after another, and has their acknowledgements delayed; nothing is counted. */
    private static void takeLate(ServerSocketChannel listener) {
        ByteBuffer octets = ByteBuffer.allocateDirect(1 << 16);
        while (listener.isOpen()) {
            try (SocketChannel stream = listener.accept()) {
                stream.configureBlocking(false);
                int read;
                do {
                    // Else Linux acknowledges at once what was read, while nothing is sent back; it holds until the
                    // next
                    // late acknowledgement, so it is said again and again.
                    stream.setOption(ExtendedSocketOptions.TCP_QUICKACK, false);
                    read = stream.read(octets.clear());
                    if (read == 0) {
                        LockSupport.parkNanos(LATE_POLL_NS);
                    }
                } while (read >= 0);
            } catch (IOException e) {
                // The next stream.
            }
        }
    }

    private static long malformed(AnepReceiver receiver) {
        return receiver.statistics().malformed().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }
}
