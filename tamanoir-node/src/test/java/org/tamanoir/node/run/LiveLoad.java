package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;

/**
 * TCP streams and UDP datagrams that cross a node without a break, and a far end that looks at each byte of them: each
 * packet has to come whole, once, and over TCP in its order.
 *
 * <p>Senders go on only while at most {@value #WINDOW} of their packets are under way, so that no buffer of the kernel
 * can overflow: what is missing then was lost by a node.
 */
final class LiveLoad implements AutoCloseable {
    private static final int WINDOW = 48;
    private static final int PAYLOAD_BYTES = 600;
    private static final int UDP = 0;
    /** Nothing takes this long unless it hangs, also where several JVMs start meanwhile. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Packets of a short stream: some tens of connections begin and end each second. */
    private static final int SHORT_STREAM = 10;

    /** Between two packets of a sender: leaves processors to the nodes' starts. */
    private static final long PACE_NS = 3_000_000;

    private final AnepReceiver receiver;
    /** Packets that came, by stream; of TCP the number that comes next. */
    private final Map<Integer, Integer> come = new HashMap<>();

    private final Map<Integer, boolean[]> datagrams = new HashMap<>();
    private final AtomicInteger streams = new AtomicInteger();
    private final List<Thread> senders = new ArrayList<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private volatile boolean stopped;
    private int finishedStreams;

    LiveLoad() throws IOException {
        receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0))
                .tcp()
                .udp()
                .start(() -> (packet, peer) -> {
                    ByteBuffer bytes = packet.buffer();
                    int at = packet.payloadOffset();
                    look(bytes, at, packet.payloadLength());
                });
    }

    InetSocketAddress address() {
        return receiver.address();
    }

    private synchronized void look(ByteBuffer bytes, int at, int length) {
        int stream = bytes.getInt(at);
        int number = bytes.getInt(at + Integer.BYTES);
        for (int i = 2 * Integer.BYTES; i < length; i++) {
            if (bytes.get(at + i) != octet(stream, number, i)) {
                faults.add("stream " + stream + ", packet " + number + ": octet " + i + " is another");
                return;
            }
        }
        if (length != PAYLOAD_BYTES) {
            faults.add("stream " + stream + ", packet " + number + ": " + length + " octets");
        }
        int before = come.merge(stream, 1, Integer::sum) - 1;
        if (stream != UDP && number != before) {
            faults.add("stream " + stream + ": packet " + number + " where " + before + " is next");
        }
        if (stream == UDP) {
            boolean[] seen = datagrams.computeIfAbsent(number >> 16, page -> new boolean[1 << 16]);
            if (seen[number & 0xFFFF]) {
                faults.add("datagram " + number + " came twice");
            }
            seen[number & 0xFFFF] = true;
        }
    }

    private static byte octet(int stream, int number, int at) {
        return (byte) (stream * 31 + number * 7 + at);
    }

    private synchronized int come(int stream) {
        return come.getOrDefault(stream, 0);
    }

    /**
     * Sends through a node, which has a route for 10.0.0.7 to here: so many threads short streams, one a stream to the end
     * where that is wanted, one datagrams. Returns when some of each have come.
     */
    void start(LiveProcess node, int shortStreams, boolean hasLong) throws IOException {
        InetSocketAddress tcp = node.address("tcp");
        InetSocketAddress udp = node.address("udp");
        PacketBuilder packets = new PacketBuilder()
                .destination(InetAddress.getByName("10.0.0.7"))
                .service("org.tamanoir.services.Monitor")
                .hopBudget(16);
        if (hasLong) {
            sender("long stream", () -> {
                int stream = streams.incrementAndGet();
                try (AnepSender to = AnepSender.tcp(tcp)) {
                    int sent = send(to, packets, stream, Integer.MAX_VALUE);
                    to.finish();
                    await(stream, sent);
                }
            });
        }
        for (int i = 0; i < shortStreams; i++) {
            sender("short streams", () -> {
                while (!stopped) {
                    int stream = streams.incrementAndGet();
                    try (AnepSender to = AnepSender.tcp(tcp)) {
                        int sent = send(to, packets, stream, SHORT_STREAM);
                        to.finish();
                        await(stream, sent);
                    }
                    synchronized (this) {
                        finishedStreams++;
                    }
                }
            });
        }
        sender("datagrams", () -> {
            try (AnepSender to = AnepSender.udp(udp)) {
                await(UDP, send(to, packets, UDP, Integer.MAX_VALUE));
                if (to.refusedPackets() > 0) {
                    faults.add(to.refusedPackets() + " datagrams refused: " + to.lastError());
                }
            }
        });
        awaitMore(1);
    }

    private int send(AnepSender to, PacketBuilder packets, int stream, int count) throws IOException {
        ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_BYTES);
        int number = 0;
        for (; number < count && !stopped; number++) {
            payload.clear();
            payload.putInt(stream).putInt(number);
            for (int i = 2 * Integer.BYTES; i < PAYLOAD_BYTES; i++) {
                payload.put(octet(stream, number, i));
            }
            to.send(packets, payload.flip());
            to.flush();
            await(stream, number + 1 - WINDOW);
            LockSupport.parkNanos(PACE_NS);
        }
        return number;
    }

    private void await(int stream, int packets) {
        long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
        while (come(stream) < packets) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(
                        "stream " + stream + ": " + come(stream) + " packets came, " + packets + " were awaited");
            }
            LockSupport.parkNanos(PACE_NS);
        }
    }

    private interface Sending {
        void run() throws IOException;
    }

    private void sender(String name, Sending sending) {
        Thread thread = new Thread(
                () -> {
                    try {
                        sending.run();
                    } catch (IOException | RuntimeException e) {
                        faults.add(name + ": " + e);
                    }
                },
                name);
        senders.add(thread);
        thread.start();
    }

    /** Waits until so many short streams more have come whole, and datagrams too, or something is wrong. */
    void awaitMore(int moreStreams) {
        int streamsBefore = finished();
        int datagramsBefore = come(UDP);
        eventually()
                .atMost(PATIENCE.multipliedBy(2))
                .until(() ->
                        !faults.isEmpty() || finished() >= streamsBefore + moreStreams && come(UDP) > datagramsBefore);
        assertThat(faults).isEmpty();
    }

    private synchronized int finished() {
        return finishedStreams;
    }

    /** Ends the senders, and returns how many packets came when all that were sent are there. */
    long finish() throws InterruptedException {
        stopped = true;
        for (Thread thread : senders) {
            thread.join(PATIENCE.multipliedBy(2).toMillis());
            if (thread.isAlive()) {
                faults.add(thread.getName() + " does not end");
            }
        }
        assertThat(faults).isEmpty();
        synchronized (this) {
            return come.values().stream().mapToLong(Integer::longValue).sum();
        }
    }

    @Override
    public void close() {
        stopped = true;
        receiver.close();
    }
}
