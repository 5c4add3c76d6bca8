package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.BitSet;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;

/**
 * Takes the packets of a flow, over UDP and TCP, and checks their sequence numbers; at another address it takes streams
 * and acknowledges them late. Questions:
 *
 * <pre>
 *   clear     → 0
 *   counts    → packets, different ones, that came after a later one, with the class of service set, malformed
 * </pre>
 *
 * <p>Thread contract: any thread.
 */
public final class Sink implements PacketHandler {
    private static final long LATE_POLL_NS = 200_000;
    private static final int MAX_SEQUENCE = 1 << 22;

    private final BitSet seen = new BitSet();
    private long packets;
    private long late;
    private long marked;
    private long latest = -1;
    private long malformedBefore;

    private Sink() {}

    /** Runs until nobody asks any more. */
    public static void run(Arguments arguments) throws Exception {
        Sink sink = new Sink();
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(arguments.address("late-on"));
                AnepReceiver receiver =
                        AnepReceiver.on(arguments.address("on")).tcp().udp().start(() -> sink)) {
            Threads.start("late", () -> takeLate(listener));
            Control.serve("", words -> switch (words[0]) {
                case "clear" -> sink.clear(malformed(receiver));
                case "counts" -> sink.counts(malformed(receiver));
                default -> throw Control.unknown(words[0], "clear, counts");
            });
        }
    }

    @Override
    public synchronized void packet(Packet packet, Peer peer) {
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

    private synchronized String clear(long malformed) {
        seen.clear();
        packets = 0;
        late = 0;
        marked = 0;
        latest = -1;
        malformedBefore = malformed;
        return "0";
    }

    private synchronized String counts(long malformed) {
        return packets + " " + seen.cardinality() + " " + late + " " + marked + " " + (malformed - malformedBefore);
    }

    /** Takes streams, one after another, and has their acknowledgements delayed; nothing is counted. */
    private static void takeLate(ServerSocketChannel listener) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 16);
        while (listener.isOpen()) {
            try (SocketChannel stream = listener.accept()) {
                stream.configureBlocking(false);
                int read;
                do {
                    // Else Linux acknowledges at once what was read, while nothing is sent back; it holds until the
                    // next late acknowledgement, so it is said again and again.
                    stream.setOption(ExtendedSocketOptions.TCP_QUICKACK, false);
                    read = stream.read(bytes.clear());
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
