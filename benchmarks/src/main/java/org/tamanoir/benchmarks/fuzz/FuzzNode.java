package org.tamanoir.benchmarks.fuzz;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * A live node on loopback, with the services and routes that {@link AnepReference} knows: 10.2.0.0/16 to a next node,
 * all other IPv4 to a host, IPv6 nowhere. One thread.
 */
final class FuzzNode implements AutoCloseable {
    /** The longest packet that {@link Grow} makes. */
    static final int MOST_GROWN = 60_000;

    static final long MARK = ServiceKey.of("fuzz.Mark");
    static final long TOUCH = ServiceKey.of("fuzz.Touch");
    static final long GROW = ServiceKey.of("fuzz.Grow");

    /** Bound of the wait for what has been sent; nothing takes this long unless it hangs. */
    private static final double PATIENCE_S = 30;

    /** Marks in place. */
    static final class Mark extends Service {
        @Override
        public Verdict process(Packet packet) {
            packet.setClassOfService(packet.classOfService() + 1 & 0xFF);
            return Verdict.FORWARD;
        }
    }

    /**
     * Changes its payload, and now and then a byte anywhere in the header: rarely enough that what it spoils does
     * not put it into quarantine. It disturbs its views and writes through them where no packet of its own can be.
     */
    static final class Touch extends Service {
        private ByteBuffer kept = ByteBuffer.allocate(0);

        @Override
        public Verdict process(Packet packet) {
            for (int i = 0; i < kept.capacity(); i += 97) {
                kept.put(i, (byte) 0xEE);
            }
            ByteBuffer payload = packet.payload();
            ByteBuffer bytes = packet.buffer();
            int header = packet.headerLength();
            byte first = payload.remaining() < 3 ? 1 : payload.get(payload.position());
            byte second = payload.remaining() < 3 ? 0 : payload.get(payload.position() + 1);
            byte third = payload.remaining() < 3 ? 0 : payload.get(payload.position() + 2);
            for (int i = payload.position(); i < payload.limit(); i++) {
                payload.put(i, (byte) (payload.get(i) ^ 0x55));
            }
            if ((first & 31) == 0) {
                bytes.put(packet.offset() + (second & 0xFF) % header, third);
            }
            kept = payload.clear().order(java.nio.ByteOrder.LITTLE_ENDIAN);
            bytes.limit(0);
            return Verdict.FORWARD;
        }
    }

    /** Doubles its payload where that fits. */
    static final class Grow extends Service {
        @Override
        public Verdict process(Packet packet) {
            int bytes = packet.payloadLength();
            if (packet.length() + bytes <= MOST_GROWN) {
                ByteBuffer room = packet.newPayload(2 * bytes);
                room.put(packet.payload()).put(packet.payload());
                packet.commitPayload(2 * bytes);
            }
            return Verdict.FORWARD;
        }
    }

    final ExecutionEnvironment environment;
    final AnepReference reference;
    private TrafficSnapshot before;

    FuzzNode(InetSocketAddress host, InetSocketAddress nextNode) throws IOException {
        RoutingTable routes = new RoutingTable(List.of(
                route("0.0.0.0/0", host, NextHop.Kind.HOST), route("10.2.0.0/16", nextNode, NextHop.Kind.ACTIVE_NODE)));
        ServiceCatalog services = new ServiceCatalog();
        services.add(define("fuzz.Mark", Mark::new));
        services.add(define("fuzz.Touch", Touch::new));
        services.add(define("fuzz.Grow", Grow::new));
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        EeConfig config = EeConfig.defaults().listening(List.of(any), List.of(any));
        environment = new ExecutionEnvironment(config, routes, services);
        environment.start();
        reference = new AnepReference(MARK, TOUCH, GROW, config.hopBudget());
        before = environment.traffic();
    }

    private static Route route(String prefix, InetSocketAddress to, NextHop.Kind kind) {
        return new Route(
                Prefix.parse(prefix), new NextHop(to.getAddress(), to.getPort(), NextHop.Transport.SAME, kind));
    }

    private static ServiceDefinition define(String name, Supplier<Service> factory) {
        return new ServiceDefinition(name, factory, ServiceConfig.EMPTY, FailurePolicy.DROP);
    }

    /** Inputs for this node. */
    static AnepInputs inputs() {
        return new AnepInputs(MARK, TOUCH, GROW);
    }

    /**
     * Waits until so many more packets came in and none is held, and compares the counts.
     *
     * @throws FuzzFault if it is not what the oracle says
     */
    void expect(long in, long out, Map<DropReason, Long> drops, boolean untilStreamsEnd) throws FuzzFault, IOException {
        Threads.await(PATIENCE_S, 0.1, () -> {
            TrafficSnapshot seen = environment.traffic();
            return seen.packetsIn() - before.packetsIn() >= in
                    && seen.held() == 0
                    && seen.packetsIn() + seen.packetsMade() == seen.packetsOut() + seen.dropped()
                    && (!untilStreamsEnd || environment.streams().open() == 0);
        });
        TrafficSnapshot now = environment.traffic();
        Map<DropReason, Long> dropped = new EnumMap<>(DropReason.class);
        for (Map.Entry<DropReason, Long> drop : now.drops().entrySet()) {
            long more = drop.getValue() - before.drops().getOrDefault(drop.getKey(), 0L);
            if (more != 0) {
                dropped.put(drop.getKey(), more);
            }
        }
        long cameIn = now.packetsIn() - before.packetsIn();
        long left = now.packetsOut() - before.packetsOut();
        before = now;
        if (cameIn != in || left != out || !dropped.equals(drops)) {
            throw new FuzzFault("counters: in " + cameIn + ", out " + left + ", dropped " + dropped + ", held "
                    + now.held() + ", open streams " + environment.streams().open() + "; by the reference in " + in
                    + ", out " + out + ", dropped " + drops);
        }
    }

    @Override
    public void close() {
        environment.stop(Duration.ZERO);
    }
}
