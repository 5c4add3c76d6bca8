package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;

/**
 * Sends a flow on a thread of its own, steadily or as fast as it is taken.
 *
 * <p>Thread contract: one thread.
 */
final class FlowSender implements AutoCloseable {
    private static final int BATCH_OCTETS = 32 * 1024;
    /** Packets that are due leave together, this often. */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(2);
    /** A class that others starve is taken in again at the end of the run. */
    private static final Duration STALL_TIMEOUT = Duration.ofMinutes(30);

    private static final long END_TIMEOUT_MS = 5000;

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
                AnepSender.to(node).stallTimeout(STALL_TIMEOUT).batchOctets(BATCH_OCTETS);
        sender = flow.udp() ? settings.udp() : settings.tcp();
        startNs = System.nanoTime() + delayNs;
        thread = new Thread(this::run, "flow " + flow.name());
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            await(startNs);
            if (flow.octetsPerSecond() == 0) {
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
        double intervalNs = flow.packetOctets() * 1e9 / flow.octetsPerSecond();
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
            join();
        }
        sender.close();
        join();
    }

    private void join() throws IOException {
        try {
            thread.join(END_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while flow " + flow.name() + " ended", e);
        }
    }
}
