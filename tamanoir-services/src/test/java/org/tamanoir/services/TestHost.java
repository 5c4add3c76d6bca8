package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;

/**
 * Runs one service instance on its own thread over packets that a test gives, as a node does, without sockets.
 * Hard on services: packets lie in one receive buffer and are overwritten when {@code process} has returned, and
 * memory that was reserved and not committed is overwritten by every packet that the service emits.
 *
 * <p>Thread contract: one test thread gives packets; results are read after {@link #finish}.
 */
final class TestHost implements ServiceHost {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final InetSocketAddress LOCAL = new InetSocketAddress("127.0.0.1", Anep.DEFAULT_PORT);

    /** One packet that the service let out. */
    record Out(Verdict verdict, boolean emitted, Packet packet) {
        byte[] payload() {
            return octets(packet.payload());
        }
    }

    private record Timed(long dueNs, Runnable task) {}

    private interface Job {
        void run() throws Exception;
    }

    private final Service service;
    private final ServiceConfig config;
    private final Transport transport;
    private final BlockingQueue<Job> jobs = new ArrayBlockingQueue<>(64);
    private final PriorityQueue<Timed> timers = new PriorityQueue<>(Comparator.comparingLong(Timed::dueNs));
    private final ByteBuffer received = ByteBuffer.allocateDirect(Anep.MAX_PACKET_OCTETS + 1);
    private final Arena arena = new Arena();
    private final Packet view = new Packet(Anep.DEFAULT_TYPE_ID, arena);
    private final Map<String, Counter> counters = new TreeMap<>();
    private final List<Out> out = new ArrayList<>();
    private final List<String> drops = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private @Nullable String dropReason;
    private int given;
    private boolean ended;

    private TestHost(Service service, Transport transport, Map<String, String> config) {
        this.service = service;
        this.transport = transport;
        this.config = new ServiceConfig(config);
    }

    /** Starts the service's thread. */
    static TestHost start(Service service, Transport transport, Map<String, String> config) {
        TestHost host = new TestHost(service, transport, config);
        service.attach(host);
        service.start();
        return host;
    }

    /** Runs a service over packets to its end. */
    static TestHost runAll(Service service, Transport transport, Map<String, String> config, List<Packet> packets) {
        TestHost host = start(service, transport, config);
        packets.forEach(host::give);
        host.finish();
        return host;
    }

    static byte[] octets(ByteBuffer buffer) {
        byte[] octets = new byte[buffer.remaining()];
        buffer.get(octets);
        return octets;
    }

    // ---- for tests --------------------------------------------------------------------------------------------

    /** Gives the service one packet; waits while 64 are waiting. */
    void give(Packet packet) {
        packet.seal();
        byte[] octets = new byte[packet.length()];
        packet.buffer().get(packet.offset(), octets);
        given++;
        submit(() -> handle(octets));
    }

    /** Runs something on the service's thread. */
    void onThread(Runnable task) {
        submit(task::run);
    }

    /** Ends the stream, waits for the thread, and checks that no packet went missing and nothing was thrown. */
    void finish() {
        submit(() -> ended = true);
        try {
            service.join(BOUND.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
        assertThat(service.isAlive()).as("service thread after " + BOUND).isFalse();
        assertThat(failures).as("thrown by the service").isEmpty();
        assertThat(forwarded() + drops.size()).as("in = out + dropped").isEqualTo(given);
    }

    List<Out> out() {
        return out;
    }

    long forwarded() {
        return out.stream().filter(o -> !o.emitted()).count();
    }

    List<String> drops() {
        return drops;
    }

    long count(String counter) {
        Counter found = counters.get(counter);
        if (found == null) {
            throw new AssertionError("no counter " + counter + " in " + counters.keySet());
        }
        return found.get();
    }

    List<Packet> packets() {
        return out.stream().map(Out::packet).toList();
    }

    /** The payloads that came out, one behind the other. */
    byte[] payloads() {
        ByteBuffer all = ByteBuffer.allocate(
                out.stream().mapToInt(o -> o.packet().payloadLength()).sum());
        out.forEach(o -> all.put(o.packet().payload()));
        return all.array();
    }

    private void submit(Job job) {
        try {
            if (!jobs.offer(job, BOUND.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the service took no packet for " + BOUND + ": " + failures);
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    // ---- for the service --------------------------------------------------------------------------------------

    @Override
    public void run(Service running) {
        guard(() -> running.init(config));
        while (!ended) {
            guard(this::next);
        }
        guard(running::endOfStream);
        guard(running::close);
    }

    private void next() throws Exception {
        Timed timer = timers.peek();
        long waitNs = timer == null ? BOUND.toNanos() : timer.dueNs() - System.nanoTime();
        Job job = jobs.poll(waitNs, TimeUnit.NANOSECONDS);
        if (job != null) {
            job.run();
        } else if (timer == null) {
            ended = true;
            throw new IllegalStateException("the test did not end its stream");
        } else {
            timers.remove().task().run();
        }
    }

    private void guard(Job job) {
        try {
            job.run();
        } catch (Exception | AssertionError e) {
            failures.add(e);
        }
    }

    private void handle(byte[] octets) throws Exception {
        // Bits before and behind the packet, so that reading outside it gives wrong octets.
        int offset = received.capacity() - octets.length & 1;
        received.put(offset, octets);
        DropReason fault = view.parse(received, offset, octets.length);
        assertThat(fault).isNull();
        arena.clear();
        try {
            Verdict verdict = service.process(view);
            if (verdict == Verdict.DROP) {
                assertThat(dropReason).as("reason for a drop").isNotNull();
                drops.add(String.valueOf(dropReason));
            } else {
                if (verdict == Verdict.REPLY) {
                    view.swapEnds();
                }
                out.add(new Out(verdict, false, view.copy()));
            }
        } finally {
            Arrays.fill(octets, (byte) 0xEE);
            received.put(offset, octets);
            dropReason = null;
        }
    }

    @Override
    public StreamInfo stream() {
        return new StreamInfo(transport, transport == Transport.TCP ? LOCAL : null, LOCAL);
    }

    @Override
    public Counter counter(String name) {
        return counters.computeIfAbsent(name, Counter::new);
    }

    @Override
    public void emit(Packet packet) {
        out.add(new Out(Verdict.FORWARD, true, packet.copy()));
        arena.scribble();
    }

    @Override
    public void elsewhere(InetSocketAddress destination) {
        throw new UnsupportedOperationException("no service that ships with the node sends elsewhere");
    }

    @Override
    public void dropping(String reason) {
        dropReason = reason;
    }

    @Override
    public void schedule(Duration delay, Runnable task) {
        timers.add(new Timed(System.nanoTime() + delay.toNanos(), task));
    }

    /** An output buffer as a node has one: reserved memory is handed out again until it is committed. */
    private static final class Arena implements PacketSpace {
        private final ByteBuffer memory = ByteBuffer.allocateDirect(4 * Anep.MAX_PACKET_OCTETS);
        private int committed;
        private int reserved;

        void clear() {
            committed = 0;
        }

        void scribble() {
            ByteBuffer all = memory.duplicate().clear();
            for (int i = committed; i < reserved; i++) {
                all.put(i, (byte) 0xDD);
            }
        }

        @Override
        public ByteBuffer reserve(int octets) {
            reserved = committed + octets;
            return memory.limit(memory.capacity()).position(committed);
        }

        @Override
        public void commit(int octets) {
            committed += octets;
        }
    }
}
