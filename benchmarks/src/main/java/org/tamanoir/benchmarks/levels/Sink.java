package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.BitSet;
import java.util.concurrent.Callable;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Takes the packets of a flow, over UDP and TCP, and checks their sequence numbers. Questions:
 *
 * <pre>
 *   clear     → 0
 *   counts    → packets, different ones, that came after a later one, with the class of service set, malformed
 * </pre>
 */
@Command(name = "level-sink", hidden = true, description = "Takes flows of packets.")
public final class Sink implements Callable<Integer> {
    private static final int MAX_SEQUENCE = 1 << 22;

    @Option(names = "--on", required = true)
    private String on = "";

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
        try (AnepReceiver receiver = AnepReceiver.on(Source.address(on)).tcp().udp().start(() -> new PacketHandler() {
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

    private static long malformed(AnepReceiver receiver) {
        return receiver.statistics().malformed().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }
}
