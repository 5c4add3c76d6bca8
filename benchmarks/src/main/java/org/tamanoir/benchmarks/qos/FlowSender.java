package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.client.AnepSender;

/**
 * Sends a flow on a thread of its own, steadily or as fast as it is taken.
 *
 * <p>Thread contract: one thread.
 */
final class FlowSender implements AutoCloseable {
    private static final int BATCH_BYTES = 32 * 1024;
    /** Packets that are due leave together, this often. */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(2);
    /** A class that others starve is taken in again at the end of the run. */
    private static final Duration STALL_TIMEOUT = Duration.ofMinutes(30);

    private static final double END_TIMEOUT_S = 5;

    private final Flow flow;
    private final PacketBuilder header;
    private final ByteBuffer payload;
    private final AnepSender sender;
    private final Thread thread;
    private final long startNs;
    private volatile boolean ended;
    private volatile String fault = "";

    /** Connects, and starts {@code delayNs} from now. */
    FlowSender(Flow flow, int stream, InetSocketAddress node, long delayNs) throws IOException {
        this.flow = flow;
        header = flow.header(stream);
        payload = flow.payload(header);
        AnepSender.Settings settings =
                AnepSender.to(node).stallTimeout(STALL_TIMEOUT).batchBytes(BATCH_BYTES);
        sender = flow.udp() ? settings.udp() : settings.tcp();
        startNs = System.nanoTime() + delayNs;
        thread = Threads.start("flow " + flow.name(), this::run);
    }

    private void run() {
        try {
            await(startNs);
            if (flow.bytesPerSecond() == 0) {
                flood();
            } else {
                pace();
            }
        } catch (IOException e) {
            if (!ended) {
                fault = "flow " + flow.name() + ": " + e.getMessage();
            }
        }
    }

    private void flood() throws IOException {
        while (!ended) {
            sender.send(header, payload);
        }
    }

    private void pace() throws IOException {
        double intervalNs = flow.packetBytes() * 1e9 / flow.bytesPerSecond();
        long sent = 0;
        long tickNs = startNs;
        while (!ended) {
            long due = (long) ((System.nanoTime() - startNs) / intervalNs);
            for (; sent < due && !ended; sent++) {
                sender.send(header, payload);
                if (flow.udp()) {
                    // One by one, as most senders do: what leaves joined arrives joined over loopback.
                    sender.flush();
                }
            }
            sender.flush();
            tickNs += TICK_NS;
            await(tickNs);
        }
    }

    private void await(long timeNs) {
        long leftNs;
        while (!ended && (leftNs = timeNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(leftNs);
        }
    }

    /** What went wrong; empty when nothing did. */
    String fault() {
        return fault;
    }

    @Override
    public void close() throws IOException {
        ended = true;
        LockSupport.unpark(thread);
        if (flow.udp()) {
            Threads.join(thread, END_TIMEOUT_S);
        }
        sender.close();
        Threads.join(thread, END_TIMEOUT_S);
    }
}
