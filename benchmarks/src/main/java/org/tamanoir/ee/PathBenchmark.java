package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
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
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.Transit;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.services.Monitor;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.WriteCoalescer;

/**
 * What one packet costs between the read and the write: framing, receive rules, demultiplexer, Monitor service,
 * routing and collecting into runs. 200-byte packets stand back to back in 64 KiB, as a TCP read leaves them;
 * sockets are left out. All scores are nanoseconds per packet; {@code -prof gc} shows that nothing is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class PathBenchmark {
    private static final int PACKET_BYTES = 200;
    private static final int BATCH_BYTES = 64 * 1024;
    private static final int PACKETS = BATCH_BYTES / PACKET_BYTES;

    /** More than anybody keeps in mind of what packets are like. */
    private static final int STRANGERS = 61;

    private final BufferPool pool = new BufferPool(4);
    private final Buffer batch = pool.take(BATCH_BYTES, BATCH_BYTES);
    private final Buffer twoFlows = pool.take(BATCH_BYTES, BATCH_BYTES);
    private final Buffer strangers = pool.take(BATCH_BYTES, BATCH_BYTES);
    private final Path monitor = path(Monitor.class.getName(), Monitor::new);
    private final Path transit = path("transit", Transit::new);
    private long departed;

    private static Path path(String name, Supplier<Service> factory) {
        return path(name, factory, List.of(new Route(Prefix.parse("127.0.0.0/8"), host(4000))));
    }

    private static NextHop host(int port) {
        return new NextHop(Addresses.of(0, 0xFFFF_7F00_0001L), port, NextHop.Transport.SAME, NextHop.Kind.HOST);
    }

    private static Path path(String name, Supplier<Service> factory, List<Route> routes) {
        ExecutionEnvironment environment =
                new ExecutionEnvironment(EeConfig.defaults(), new RoutingTable(routes), new ServiceCatalog());
        return new Path(environment, new ServiceDefinition(name, factory, ServiceConfig.EMPTY, FailurePolicy.DROP));
    }

    /** A million destinations, of both families by turns, inside 100,000 prefixes that lead to 32 next hops. */
    @State(Scope.Thread)
    public static class Many {
        private static final int DESTINATIONS = 1_000_000;
        private static final int ROUTES = 100_000;
        private static final int HOPS = 32;

        private final long[] highs = new long[DESTINATIONS];
        private final long[] lows = new long[DESTINATIONS];
        private final Path path;
        private final Packet packet = new Packet();
        private int next;

        /** Makes the table. */
        public Many() {
            Random random = new Random(1);
            NextHop[] hops = new NextHop[HOPS];
            Arrays.setAll(hops, i -> host(4000 + i));
            List<Route> routes = new ArrayList<>();
            for (int i = 0; i < ROUTES; i++) {
                NextHop hop = hops[random.nextInt(HOPS)];
                routes.add(new Route(
                        i % 2 == 0
                                ? new Prefix(
                                        0, 0xFFFF_0000_0000L | random.nextInt(1 << 24) << 8 & 0xFFFF_FFFFL, 96 + 24)
                                : new Prefix(0x2000L << 48 | (long) random.nextInt(1 << 29) << 32, 0, 32),
                        hop));
            }
            for (int i = 0; i < DESTINATIONS; i++) {
                Prefix prefix =
                        routes.get(i % 2 + 2 * random.nextInt(ROUTES / 2)).prefix();
                highs[i] = prefix.high() | (i % 2 == 0 ? 0 : random.nextInt() & 0xFFFF_FFFFL);
                lows[i] = prefix.low() | (i % 2 == 0 ? random.nextInt(256) : random.nextLong());
            }
            path = path("transit", Transit::new, routes);
        }

        /** Sends the packets of a batch to the destinations that are next. */
        private long depart(Buffer batch) {
            path.memory.arrivals(batch);
            ByteBuffer bytes = batch.nio();
            for (int i = 0; i < PACKETS; i++) {
                packet.parse(bytes, i * PACKET_BYTES, PACKET_BYTES);
                if (path.nextHops.depart(packet, highs[next], lows[next], 0) != null) {
                    throw new IllegalStateException("a destination without a route");
                }
                next = next + 1 == DESTINATIONS ? 0 : next + 1;
            }
            path.nextHops.flush();
            path.path.publish(0);
            return path.collector.bytes;
        }

        /** Frees the loop. */
        @TearDown
        public void close() {
            path.free();
        }
    }

    /** Fills the batches. */
    @Setup
    public void fill() throws Exception {
        fill(batch, 1);
        fill(twoFlows, 2);
        fill(strangers, STRANGERS);
        monitor.thread.initialise();
        transit.thread.initialise();
    }

    /** Fills a batch with packets to so many destinations by turns. */
    private static void fill(Buffer batch, int destinations) throws Exception {
        ByteBuffer bytes = batch.nio().duplicate();
        for (int i = 0; i < PACKETS; i++) {
            PacketBuilder builder = new PacketBuilder()
                            .destination(
                                    InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) (1 + i % destinations)}))
                            .service(Monitor.class.getName())
                            .classOfService(0, 0)
                            .stream(7)
                            .nextSequence(i)
                            .hopBudget(16);
            builder.write(bytes, ByteBuffer.allocate(PACKET_BYTES - builder.headerLength()));
        }
    }

    /** Frees the loops. */
    @TearDown
    public void close() {
        if (monitor.collector.bytes + transit.collector.bytes + departed == 0) {
            throw new IllegalStateException("nothing was forwarded: what was measured is not the path");
        }
        monitor.free();
        transit.free();
    }

    /** The whole path through Monitor, which marks the class of service and keeps its statistics. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long monitor() {
        return monitor.walk(batch);
    }

    /** The same for packets of two flows by turns, no two of which go together. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long monitorOfTwoFlows() {
        return monitor.walk(twoFlows);
    }

    /** The same for packets none of which is like those before it. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long monitorOfStrangers() {
        return monitor.walk(strangers);
    }

    /** The same for packets that go on as they are: another service's key, which this node passes. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long parseAndRoute() {
        return transit.walkPassing(batch);
    }

    /** Parsing a packet, looking up where it goes, each to another one of a million destinations, and collecting it. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long departToMany(Many many) {
        departed = many.depart(batch);
        return departed;
    }

    /** An instance without sockets: what leaves it ends in a counter. */
    private static final class Path implements PacketSource, Ingress, PacketPath.Owner, PacketRuns.Input {
        private final ServiceThread thread;
        private final ScratchBuffers memory;
        private final NextHops nextHops;
        private final PacketPath path;
        private final Collector collector;

        Path(ExecutionEnvironment environment, ServiceDefinition definition) {
            Service service = definition.factory().get();
            StreamInfo stream = new StreamInfo(StreamInfo.Transport.TCP, null, new InetSocketAddress(0));
            thread = new ServiceThread(environment.context, definition, service, stream, "benchmark") {
                /** The benchmark's threads stand for it. */
                @Override
                boolean isOwnThread() {
                    return true;
                }
            };
            memory = new ScratchBuffers(environment.context.pool(), stream, service, () -> true);
            collector = new Collector(memory, thread.traffic);
            nextHops = new NextHops(
                    environment.context,
                    thread,
                    memory,
                    new Connections<>((address, isTls) -> collector),
                    (packet, departure) -> {},
                    null,
                    hop -> false,
                    null);
            path = new PacketPath(environment.context, thread, memory, nextHops, this, this, this);
            service.attach(thread); // As start() does, which would begin a thread.
        }

        long walk(Buffer batch) {
            ByteBuffer bytes = batch.nio();
            memory.arrivals(batch);
            int end = PACKETS * PACKET_BYTES;
            int at = 0;
            int length = 1;
            while (length > 0) {
                int next = path.runs.walk(batch, at, end, this);
                if (next == at) {
                    length = path.parseNext(bytes, at, end);
                    next = at + length;
                    if (length > 0) {
                        path.handleParsed();
                    }
                }
                at = next;
            }
            nextHops.flush();
            path.publish(0);
            return collector.bytes;
        }

        long walkPassing(Buffer batch) {
            ByteBuffer bytes = batch.nio();
            memory.arrivals(batch);
            int at = 0;
            int length;
            while ((length = Framing.next(bytes, at, PACKETS * PACKET_BYTES)) > 0) {
                path.handleFarPacket(bytes, at, length);
                at += length;
            }
            nextHops.flush();
            path.publish(0);
            return collector.bytes;
        }

        @Override
        public @Nullable TurnGate gate(QosSnapshot now, @Nullable TurnGate before) {
            return null;
        }

        @Override
        public void consumed(int at) {}

        @Override
        public int proof() {
            return 0;
        }

        @Override
        public void prove(int proof) {}

        void free() {
            thread.loop.own();
            thread.loop.close();
        }

        private static final class Collector implements Connections.Way, Egress.Runs {
            private final ScratchBuffers memory;
            private final Traffic traffic;
            private long held;
            private long bytes;
            private final WriteCoalescer runs;

            Collector(ScratchBuffers memory, Traffic traffic) {
                this.memory = memory;
                this.traffic = traffic;
                this.runs = new WriteCoalescer(memory, (buffer, generation, from, to) -> bytes += to - from);
            }

            @Override
            public @Nullable DropReason add(Packet packet, RouteCacheEntry hop) {
                runs.add(memory.holderOf(packet), packet.offset(), packet.length());
                held++;
                return null;
            }

            @Override
            public @Nullable DropReason addOverLink(Packet packet, RouteCacheEntry hop, int trafficClass) {
                return add(packet, hop);
            }

            @Override
            public Egress.Runs runs() {
                return this;
            }

            @Override
            public void add(Buffer buffer, int offset, int bytes, int packets) {
                runs.add(buffer, offset, bytes);
                held += packets;
            }

            @Override
            public void flush() {
                runs.write();
                traffic.out(held, bytes);
                held = 0;
            }

            @Override
            public long held() {
                return held;
            }

            @Override
            public void retire() {}

            @Override
            public boolean isSpent() {
                return false;
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
        public void run() {}

        @Override
        public void reply(Packet packet) {}

        @Override
        public long heldBack() {
            return 0;
        }

        @Override
        public void handOver(@Nullable ServiceDefinition other, Packet packet) {}

        @Override
        public void end(boolean isBroken) {
            throw new IllegalStateException("a service ended the stream");
        }

        @Override
        public void abort(DropReason reason, String why) {}

        @Override
        public boolean hasRoom(Packet packet) {
            return false;
        }

        @Override
        public void suspend(Packet packet, Suspended suspended) {
            throw new IllegalStateException("no service of these holds packets");
        }

        @Override
        public void settle() {}

        @Override
        public @Nullable DropReason ended() {
            return null;
        }

        @Override
        public @Nullable InetSocketAddress peer() {
            return null;
        }

        @Override
        public InetSocketAddress local() {
            return thread.stream().local();
        }

        @Override
        public boolean adopts(long key) {
            return true;
        }

        @Override
        public @Nullable DropReason forwardInTransit(Packet packet, long answerBytes) {
            return null;
        }
    }
}
