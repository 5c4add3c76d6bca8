package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.platform.Platform;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.UdpSocket;

/**
 * A node whose only network is this process: a port for each service, which its thread reads alone, as a node does whose
 * port is used by one service.
 *
 * <p>Thread contract: one thread.
 */
final class EmulatedNode implements AutoCloseable {
    /** Each datagram to whichever worker is free. */
    static final Dispatch BY_PACKET = new Dispatch(true, true, Dispatch.DEFAULT_JOBS);

    private static final int PORT = 3322;
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(40);
    private static final long LOOK_NS = 2_000_000;

    private final ExecutionEnvironment environment;
    private final List<EmulatedPort> ports = new ArrayList<>();
    private final EmulatedPort.Departures departures;
    private TrafficSnapshot before;
    /** Packets that were sent before the first of a run. */
    private long primed;

    /** @param services a service's instance for each port; each factory is asked once, but for those by packet */
    EmulatedNode(RoutingTable table, EmulatedPort.Departures departures, List<Supplier<Service>> services)
            throws IOException {
        this(table, departures, services, Dispatch.STREAM);
    }

    /** Makes the same with the services' packets dispatched so. */
    EmulatedNode(
            RoutingTable table, EmulatedPort.Departures departures, List<Supplier<Service>> services, Dispatch dispatch)
            throws IOException {
        this.departures = departures;
        ServiceCatalog catalog = new ServiceCatalog();
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < services.size(); i++) {
            catalog.add(new ServiceDefinition(
                    name(i),
                    "",
                    services.get(i),
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    new ServiceHealth(),
                    new Placement(),
                    DefinedControl.NONE,
                    dispatch,
                    new ServiceTraits(SizeEffect.KEEPS, dispatch.perPacket(), null)));
            addresses.add(new InetSocketAddress(InetAddress.getByAddress(new byte[4]), PORT + i));
        }
        environment = new ExecutionEnvironment(
                EeConfig.defaults().listening(List.of(), addresses),
                table,
                catalog,
                new BufferPool(),
                Platform.SYSTEM,
                network());
        try {
            environment.start();
            for (int i = 0; i < ports.size(); i++) {
                prime(ports.get(i), new PacketWriter(name(i)), dispatch.perPacket());
            }
            before = environment.traffic();
        } catch (IOException | RuntimeException e) {
            environment.close();
            throw e;
        }
    }

    private static String name(int service) {
        return "emulated.Service" + service;
    }

    private Transport network() {
        return new Transport() {
            @Override
            public IoLoop newLoop(BufferPool pool) {
                return new EmulatedLoop();
            }

            @Override
            public UdpSocket bind(InetSocketAddress local) {
                EmulatedPort port = new EmulatedPort(local, departures);
                ports.add(port);
                return port;
            }

            @Override
            public String explain() {
                return "emulated";
            }
        };
    }

    /** Sends packets until the service's own thread, or its workers, are there, and all have left. */
    private void prime(EmulatedPort port, PacketWriter writer, boolean perPacket) throws IOException {
        Ring ring = new Ring(writer, port.memory());
        Arrival arrival = new Arrival();
        arrival.to(0x0A000001);
        port.feed(ring);
        long[] put = new long[1];
        await("its thread to read the port", () -> {
            boolean isThere = perPacket ? hasEnded() : port.isOwn();
            if (!isThere && ring.waiting() == 0) {
                ring.put(arrival, 0);
                port.ring();
                put[0]++;
            }
            return isThere;
        });
        primed += put[0];
        await("the first packets to leave", () -> {
            TrafficSnapshot now = environment.traffic(); // One that was read may not be counted yet.
            return now.packetsIn() == primed && isAtRest(now);
        });
    }

    /** Returns whether a packet has left or been dropped, for want of a route. */
    private boolean hasEnded() {
        TrafficSnapshot now = environment.traffic();
        return now.packetsOut() + now.dropped() > 0;
    }

    private static boolean isAtRest(TrafficSnapshot traffic) {
        return traffic.held() == 0
                && traffic.packetsIn() > 0
                && traffic.packetsIn() + traffic.packetsMade() == traffic.packetsOut() + traffic.dropped();
    }

    private static void await(String what, BooleanSupplier condition) throws IOException {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - beganNs > PATIENCE_NS) {
                throw new IOException("the node did not come to this in 40 s: " + what);
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    /** Has turns scheduled so from now on. */
    void turns(QosConfig config) {
        environment.qos(config);
    }

    EmulatedPort port(int service) {
        return ports.get(service);
    }

    /** Returns what writes packets for the service. */
    static PacketWriter writer(int service) {
        return new PacketWriter(name(service));
    }

    /**
     * Waits, bounded, until so many packets have come since the start and none is left in the node.
     *
     * @throws IOException in one line, with the counts, if they do not come to that
     */
    Counts counts(long packets) throws IOException {
        try {
            await("", () -> {
                TrafficSnapshot now = environment.traffic();
                return isAtRest(now) && now.packetsIn() - before.packetsIn() == packets;
            });
        } catch (IOException e) {
            TrafficSnapshot now = environment.traffic();
            throw new IOException("%d packets went in, the node counts %d in, %d out, %d dropped and %d held"
                    .formatted(
                            packets,
                            now.packetsIn() - before.packetsIn(),
                            now.packetsOut() - before.packetsOut(),
                            now.dropped() - before.dropped(),
                            now.held()));
        }
        TrafficSnapshot now = environment.traffic();
        return new Counts(
                packets, now.packetsOut() - before.packetsOut(), now.dropped() - before.dropped(), now.held());
    }

    /** What became of packets: in = out + dropped + held. */
    record Counts(long in, long out, long dropped, long held) {
        String text() {
            return "%,d in = %,d out + %,d dropped + %,d held".formatted(in, out, dropped, held);
        }
    }

    @Override
    public void close() {
        environment.close();
    }
}
