package org.tamanoir.sapf;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Fold;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.Monitor;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * What it costs to know which service a packet is for: with ANEP's options for source, destination and service key, and
 * with a selector, by which a run of packets of one flow is one message. Payloads of 64 octets, as many as the kernel joins.
 * Scores are nanoseconds a packet.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class SapfBenchmark {
    private static final int PACKETS = 64;
    private static final int PAYLOAD_OCTETS = 64;
    private static final long LOW = 0xFFFF_7F00_0001L;
    private static final int PORT = 3322;

    private final ServiceCatalog services = new ServiceCatalog();
    private final PacketLoan loan = new PacketLoan(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    private final Packet view = loan.packet();
    private final ByteBuffer header = ByteBuffer.allocate(HeaderTemplate.MAX_OCTETS + Long.BYTES);
    private final Sapf sapf = new Sapf(
            new SapfSettings(true, List.of(), Duration.ofHours(1)),
            8,
            Anep.DEFAULT_TYPE_ID,
            System::nanoTime,
            new Tap());
    private final Joined anep = new Joined();
    private final Joined bySelector = new Joined();
    private @Nullable UdpSocket answers;
    private final Joined byTurns = new Joined();
    private @Nullable SapfBatch folding;
    private @Nullable SapfBatch turning;
    private @Nullable SapfBatch unfolding;

    /** Binds a flow and fills both batches. */
    @Setup
    public void fill() throws Exception {
        UdpSocket socket =
                UdpSockets.bind(TransportKind.NIO, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        answers = socket;
        SapfSocket over = new SapfSocket(sapf, socket);
        folding = new SapfBatch(sapf, over, bySelector);
        folding.leaveFolded(true);
        turning = new SapfBatch(sapf, over, byTurns);
        turning.leaveFolded(true);
        unfolding = new SapfBatch(sapf, over, bySelector);
        String name = Monitor.class.getName();
        services.add(new ServiceDefinition(name, Monitor::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        PacketBuilder builder = new PacketBuilder()
                .source(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}))
                .destination(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))
                .service(name);
        ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_OCTETS);
        for (int i = 0; i < PACKETS; i++) {
            builder.write(anep.memory, payload.clear());
        }
        anep.octets = builder.headerLength() + PAYLOAD_OCTETS;
        bySelector.octets = Selector.OCTETS + PAYLOAD_OCTETS;
        byTurns.octets = bySelector.octets;
        long one = bind(1, anep.memory, anep.octets);
        builder.source(InetAddress.getByAddress(new byte[] {10, 0, 0, 2}));
        ByteBuffer another = ByteBuffer.allocate(anep.octets);
        builder.write(another, payload.clear());
        long other = bind(2, another, anep.octets);
        for (int i = 0; i < PACKETS; i++) {
            bySelector.memory.putLong(i * bySelector.octets, one);
            byTurns.memory.putLong(i * byTurns.octets, i % 2 == 0 ? one : other);
        }
    }

    private long bind(long request, ByteBuffer packet, int octets) {
        HeaderTemplate bound = Objects.requireNonNull(HeaderTemplate.of(packet, 0, octets));
        Binding binding = Objects.requireNonNull(sapf.issued()
                .bind(request, bound, 0, LOW, PORT, sapf.nowNs(), TimeUnit.HOURS.toNanos(1))
                .binding());
        sapf.issued().prove(binding);
        return binding.selector;
    }

    /** Frees the socket. */
    @TearDown
    public void close() {
        Objects.requireNonNull(answers).close();
    }

    /** Parses each header and looks its service up. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int headers() {
        return serve(anep, 1);
    }

    /** Looks the selector up: slot, tag, source and lifetime. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long selector() {
        long found = 0;
        long now = sapf.nowNs();
        for (int i = 0; i < PACKETS; i++) {
            long selector = bySelector.memory.getLong(i * bySelector.octets);
            Binding binding = sapf.issued().find(selector);
            if (binding == null || !binding.isFrom(0, LOW, PORT) || binding.isExpired(now)) {
                throw new IllegalStateException("a selector that is not bound");
            }
            found += binding.header.octets();
        }
        return found;
    }

    /**
     * The same by selectors: looks each message up, parses the header that it stands for and finds the service once, and
     * points the view at packet after packet.
     */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int sapf() {
        return serveFolded(bySelector);
    }

    /** The same where each packet is of another flow than the one before, and so a message of its own. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int sapfByTurns() {
        return serveFolded(byTurns);
    }

    /** The same as {@link #sapf}, made whole packets in other memory, which are parsed one by one. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int whole() {
        SapfBatch batch = Objects.requireNonNull(unfolding);
        return serve(batch, batch.open(1));
    }

    private int serveFolded(Joined datagrams) {
        SapfBatch batch = Objects.requireNonNull(datagrams == byTurns ? turning : folding);
        int messages = batch.open(1);
        int served = 0;
        for (int m = 0; m < messages; m++) {
            Fold fold = Objects.requireNonNull(batch.fold(m));
            int octets = batch.segmentBytes(m);
            int at = batch.start(m);
            ByteBuffer memory = batch.buffer(m);
            fold.write(header, 0, fold.octets());
            if (view.parse(header, 0, fold.octets()) != null || services.find(view.serviceKey()) == null) {
                throw new IllegalStateException("a packet that is for nobody");
            }
            loan.fold(memory, at + Fold.OCTETS, octets - Fold.OCTETS);
            for (; at < batch.end(m); at += octets) {
                loan.nextFolded(at + Fold.OCTETS, octets - Fold.OCTETS);
                served += view.payloadLength() > 0 ? 1 : 0;
            }
        }
        return all(served);
    }

    private int serve(UdpBatch batch, int messages) {
        int served = 0;
        for (int m = 0; m < messages; m++) {
            ByteBuffer memory = batch.buffer(m);
            int octets = batch.segmentBytes(m);
            for (int at = batch.start(m); at < batch.end(m); at += octets) {
                if (view.parse(memory, at, octets) != null || services.find(view.serviceKey()) == null) {
                    throw new IllegalStateException("a packet that is for nobody");
                }
                served += view.payloadLength() > 0 ? 1 : 0;
            }
        }
        return all(served);
    }

    private static int all(int served) {
        if (served != PACKETS) {
            throw new IllegalStateException(served + " packets were served");
        }
        return served;
    }

    /** One message of datagrams that the kernel joined. */
    private static final class Joined implements UdpBatch {
        private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 16);
        private int octets;

        @Override
        public ByteBuffer buffer(int message) {
            return memory;
        }

        @Override
        public int start(int message) {
            return 0;
        }

        @Override
        public int end(int message) {
            return PACKETS * octets;
        }

        @Override
        public int segmentBytes(int message) {
            return octets;
        }

        @Override
        public long addressHigh(int message) {
            return 0;
        }

        @Override
        public long addressLow(int message) {
            return LOW;
        }

        @Override
        public int port(int message) {
            return PORT;
        }
    }
}
