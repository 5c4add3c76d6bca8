package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.services.Monitor;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * What one packet costs between the read and the write: framing, receive rules, demultiplexer, Monitor service,
 * routing and collecting into runs. 200-octet packets stand back to back in 64 KiB, as a TCP read leaves them;
 * sockets are left out. All scores are nanoseconds per packet; {@code -prof gc} shows that nothing is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class PathBenchmark {
    private static final int PACKET_OCTETS = 200;
    private static final int BATCH_OCTETS = 64 * 1024;
    private static final int PACKETS = BATCH_OCTETS / PACKET_OCTETS;

    private final BufferPool pool = new BufferPool(4);
    private final Buffer batch = pool.take(BATCH_OCTETS, BATCH_OCTETS);
    private final Path monitor = path(Monitor.class.getName(), Monitor::new);
    private final Path transit = path("transit", Transit::new);

    private static Path path(String name, Supplier<Service> factory) {
        try {
            InetAddress sink = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
            NextHop host = new NextHop(sink, 4000, NextHop.Transport.SAME, NextHop.Kind.HOST);
            RoutingTable routes = new RoutingTable(List.of(new Route(Prefix.parse("127.0.0.0/8"), host)));
            ExecutionEnvironment environment =
                    new ExecutionEnvironment(EeConfig.defaults(), routes, new ServiceCatalog());
            return new Path(environment, new ServiceDefinition(name, factory, ServiceConfig.EMPTY, FailurePolicy.DROP));
        } catch (java.net.UnknownHostException e) {
            throw new IllegalStateException("4 octets are an address", e);
        }
    }

    /** Fills the batch. */
    @Setup
    public void fill() throws Exception {
        PacketBuilder builder = new PacketBuilder()
                        .destination(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))
                        .service(Monitor.class.getName())
                        .classOfService(0, 0)
                        .stream(7)
                        .hopBudget(16);
        ByteBuffer payload = ByteBuffer.allocate(PACKET_OCTETS - builder.headerLength());
        ByteBuffer octets = batch.nio().duplicate();
        for (int i = 0; i < PACKETS; i++) {
            builder.write(octets, payload);
        }
        monitor.initialise();
        transit.initialise();
    }

    /** Frees the loops. */
    @TearDown
    public void close() {
        monitor.free();
        transit.free();
    }

    /** The whole path through Monitor, which marks the class of service and keeps its statistics. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long monitor() {
        return monitor.walk(batch);
    }

    /** The same for packets that go on as they are: another service's key, which this node passes. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long parseAndRoute() {
        return transit.walkPassing(batch);
    }

    /** An instance without sockets: its departures end in a counter. */
    private static final class Path extends ServiceInstance {
        private final Collector collector = new Collector();

        Path(ExecutionEnvironment environment, ServiceDefinition definition) {
            super(
                    environment,
                    definition,
                    definition.factory().get(),
                    new StreamInfo(StreamInfo.Transport.TCP, null, new InetSocketAddress(0)),
                    "benchmark");
        }

        long walk(Buffer batch) {
            ByteBuffer octets = batch.nio();
            memory.arrivals(batch);
            int at = 0;
            int length;
            while ((length = parseNext(octets, at, PACKETS * PACKET_OCTETS)) > 0) {
                at += length;
                handleParsed();
            }
            departures.flush();
            publish();
            return collector.octets;
        }

        long walkPassing(Buffer batch) {
            ByteBuffer octets = batch.nio();
            memory.arrivals(batch);
            int at = 0;
            int length;
            while ((length = Framing.next(octets, at, PACKETS * PACKET_OCTETS)) > 0) {
                handleFarPacket(octets, at, length);
                at += length;
            }
            departures.flush();
            publish();
            return collector.octets;
        }

        @Override
        @Nullable
        TurnGate gate(QualityOfService.Now now, @Nullable TurnGate before) {
            return null;
        }

        void free() {
            loop.own();
            loop.close();
        }

        private final class Collector implements Departure {
            private long held;
            private long octets;
            private final Runs runs = new Runs(memory, (buffer, from, to) -> octets += to - from);

            @Override
            public @Nullable DropReason add(Packet packet) {
                runs.add(memory.holderOf(packet), packet.offset(), packet.length());
                held++;
                return null;
            }

            @Override
            public void flush() {
                runs.write();
                traffic.out(held, octets);
                held = 0;
            }

            @Override
            public long held() {
                return held;
            }

            @Override
            public boolean isClosed() {
                return false;
            }

            @Override
            public void resetFromOutside() {}

            @Override
            public void close(DropReason reason) {}
        }

        @Override
        Departure connect(InetSocketAddress address, boolean tls) {
            return collector;
        }

        @Override
        public void run(Service service) {}

        @Override
        void reply(Packet packet) {}

        @Override
        long heldBack() {
            return 0;
        }

        @Override
        void handOver(@Nullable ServiceDefinition other, Packet packet) {}

        @Override
        void abort(DropReason reason, String why) {}

        @Override
        boolean cameFrom(Hop hop) {
            return false;
        }

        @Override
        void drain() {}

        @Override
        void leaveBehind(DropReason reason) {}
    }
}
