package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLongArray;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;

/**
 * Counts what arrives of each flow, by its stream identifier, in slots of time.
 *
 * <p>Thread contract: any thread may read.
 */
final class FlowSink implements AutoCloseable {
    /** Length of a slot. */
    static final double SLOT_S = 0.1;

    private static final long SLOT_NS = Math.round(SLOT_S * 1e9);

    private final int slots;
    private final AtomicLongArray[] bytes;
    private final AtomicLongArray packets;
    private final AnepReceiver receiver;
    private volatile long startNs = System.nanoTime();

    /** Flows have the stream identifiers 0 to {@code flows} - 1; what comes after {@code seconds} counts as packets alone. */
    FlowSink(int flows, double seconds) throws IOException {
        slots = (int) Math.ceil(seconds / SLOT_S);
        bytes = new AtomicLongArray[flows];
        for (int i = 0; i < flows; i++) {
            bytes[i] = new AtomicLongArray(slots);
        }
        packets = new AtomicLongArray(flows);
        receiver = AnepReceiver.on(Load.loopback(0)).tcp().udp().start(Handler::new);
    }

    /** Slots count from here. */
    void begin() {
        startNs = System.nanoTime();
    }

    InetSocketAddress address() {
        return receiver.address();
    }

    long packets(int flow) {
        return packets.get(flow);
    }

    long allPackets() {
        return receiver.statistics().packets();
    }

    /** Bytes of a flow by slot. */
    long[] bytes(int flow) {
        long[] copy = new long[slots];
        for (int i = 0; i < slots; i++) {
            copy[i] = bytes[flow].get(i);
        }
        return copy;
    }

    @Override
    public void close() {
        receiver.close();
    }

    private final class Handler implements PacketHandler {
        private final long[] batchBytes = new long[bytes.length];
        private final long[] batchPackets = new long[bytes.length];

        @Override
        public void packet(Packet packet, Peer peer) {
            if (packet.has(Option.STREAM) && packet.streamId() >= 0 && packet.streamId() < batchBytes.length) {
                batchBytes[packet.streamId()] += packet.length();
                batchPackets[packet.streamId()]++;
            }
        }

        @Override
        public void batchEnd() {
            int slot = (int) ((System.nanoTime() - startNs) / SLOT_NS);
            for (int i = 0; i < batchBytes.length; i++) {
                if (batchPackets[i] > 0) {
                    packets.addAndGet(i, batchPackets[i]);
                    if (slot < slots) {
                        bytes[i].addAndGet(slot, batchBytes[i]);
                    }
                    batchBytes[i] = 0;
                    batchPackets[i] = 0;
                }
            }
        }
    }
}
