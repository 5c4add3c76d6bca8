package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.benchmarks.Threads;

/**
 * UDP flows: datagrams may get lost, which the counts have to explain, but none may come twice or altered.
 *
 * <p>Thread contract: {@link #start} and {@link #join} by one thread, {@link #arrived} by far ends.
 */
final class Datagrams {
    private static final String[] SERVICES = {"org.tamanoir.services.Monitor", "", "org.tamanoir.services.Monitor"};
    private static final int MAX_BURST = 24;
    private static final int BETWEEN_MS = 60;
    private static final int MIN_BYTES = 64;
    private static final int MAX_BYTES = 1300;

    private final Bed bed;
    private final Map<Integer, Sequence> flows = new ConcurrentHashMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private final LongAdder sent = new LongAdder();
    private final LongAdder arrived = new LongAdder();

    Datagrams(Bed bed) {
        this.bed = bed;
    }

    /** A flow whose packets all have the same size, so that the number of a packet gives its place in the content. */
    private static final class Sequence {
        private static final int WINDOW = 1 << 16;

        final Flow.Shape shape;
        final int bytes;
        private final long[] seen = new long[WINDOW];

        Sequence(Flow.Shape shape, int bytes) {
            this.shape = shape;
            this.bytes = bytes;
        }

        /** Returns whether this number has not come before, as far back as the window goes. */
        synchronized boolean isFirst(long number) {
            int slot = (int) (number % WINDOW);
            boolean isFirst = seen[slot] <= number;
            seen[slot] = Math.max(seen[slot], number + 1);
            return isFirst;
        }
    }

    /** Starts a flow to each far end. */
    void start(Random random) {
        threads.clear();
        for (int end = 0; end < Bed.PLAIN_ENDS; end++) {
            String service = SERVICES[end];
            Flow flow = bed.flows.add(
                    "datagrams to " + end + (service.isEmpty() ? ", transit" : ", Monitor"),
                    end,
                    Bed.classOfService(random),
                    false,
                    false);
            int bytes = MIN_BYTES + random.nextInt(MAX_BYTES - MIN_BYTES);
            flows.put(flow.shape.id(), new Sequence(flow.shape, bytes));
            Lane lane = bed.lane(flow, service, end);
            long own = random.nextLong();
            threads.add(Threads.start("datagrams " + end, () -> send(lane, bytes, new Random(own))));
        }
    }

    private void send(Lane lane, int bytes, Random random) {
        ByteBuffer batch = ByteBuffer.allocate(Lane.MAX_PACKET_OCTETS);
        InetSocketAddress node = bed.node(false);
        try (DatagramSocket socket = new DatagramSocket()) {
            while (!bed.isEnding()) {
                for (int i = random.nextInt(MAX_BURST); i > 0; i--) {
                    batch.clear();
                    lane.write(batch, bytes);
                    socket.send(new DatagramPacket(batch.array(), batch.position(), node));
                    sent.increment();
                }
                Threads.pause(random.nextInt(BETWEEN_MS) / 1e3);
            }
        } catch (IOException e) {
            bed.faults.add(lane.flow + ": datagrams cannot be sent: " + e.getMessage());
        }
    }

    void join() throws InterruptedException {
        for (Thread each : threads) {
            each.join();
        }
    }

    /** Verifies a datagram. */
    void arrived(byte[] bytes, int length, int end) {
        arrived.increment();
        Packet packet = new Packet();
        ParseFault fault = packet.parse(ByteBuffer.wrap(bytes), 0, length);
        if (fault != null) {
            bed.faults.add("far end " + end + ": a datagram that breaks the rules, " + fault + ", with "
                    + bed.flows.content.origin(bytes, 0, length));
            return;
        }
        Sequence flow = flows.get(packet.streamId());
        if (flow == null || flow.shape.end() != end) {
            bed.faults.add("far end " + end + ": a datagram of flow " + packet.streamId() + ", expected others");
            return;
        }
        String where = flow.shape + ", datagram " + packet.sequence();
        int right = packet.payloadLength() != flow.bytes
                ? -1
                : bed.flows.content.match(
                        flow.shape.id(), packet.sequence() * flow.bytes, bytes, packet.payloadOffset(), flow.bytes);
        if (right < 0) {
            bed.faults.add(where + ": expected " + flow.bytes + " bytes of payload, got " + packet.payloadLength());
        } else if (right < flow.bytes) {
            int at = packet.payloadOffset() + right;
            bed.faults.add(where + ", byte " + right + ": got 0x" + Integer.toHexString(bytes[at] & 0xFF)
                    + ", which begins " + bed.flows.content.origin(bytes, at, length));
        } else if (!flow.isFirst(packet.sequence())) {
            bed.faults.add(where + ": came twice");
        }
    }

    long sent() {
        return sent.sum();
    }

    long arrived() {
        return arrived.sum();
    }
}
