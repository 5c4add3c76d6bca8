package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
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
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/**
 * A node on a router, and rules that send all packets for its port up to it as a level would: marked with the slot that
 * the last digit of the source port names, from 7000 to 7009.
 */
final class TransitNode implements AutoCloseable {
    static final int PORT = 3322;
    static final Duration PATIENCE = Waiting.PATIENCE;

    final TransitLevels levels;
    final RoutingTable routes = new RoutingTable();
    final ServiceCatalog services = new ServiceCatalog();
    final ExecutionEnvironment environment;
    private final TestNet net;

    TransitNode(TestNet net) {
        this(net, config(1 << 20, TransportKind.NATIVE), "");
    }

    TransitNode(TestNet net, EeConfig config, String refusal) {
        this.net = net;
        levels = new TransitLevels(refusal);
        environment = new ExecutionEnvironment(config, routes, services);
        environment.levels(levels);
    }

    static EeConfig config(int inboxBytes, TransportKind kind) {
        return config(inboxBytes, kind, Duration.ofSeconds(2), Duration.ofSeconds(20), Duration.ofSeconds(2));
    }

    /** As {@link #config}, but ends no stream because a test, or who it connects to, is slow. */
    static EeConfig patient(int inboxBytes, TransportKind kind) {
        return config(inboxBytes, kind, PATIENCE, PATIENCE, PATIENCE);
    }

    private static EeConfig config(
            int inboxBytes, TransportKind kind, Duration connect, Duration stall, Duration linger) {
        List<InetSocketAddress> any = List.of(at("0.0.0.0", PORT), at("::", PORT));
        return new EeConfig(
                kind == TransportKind.NATIVE ? List.of(at("::", PORT)) : List.of(at("0.0.0.0", PORT)),
                kind == TransportKind.NATIVE ? any : any.subList(0, 1),
                Anep.DEFAULT_TYPE_ID,
                kind,
                FailurePolicy.DROP,
                64,
                32,
                inboxBytes,
                Duration.ofSeconds(5),
                connect,
                stall,
                linger);
    }

    /** Skips tests where the host lacks what they need. */
    static void require() {
        Namespaces.require("namespace", "nft");
    }

    /** The rules, in the router of the net: what goes to the node's port comes up. */
    static void sendUp(TestNet net) {
        StringBuilder slots = new StringBuilder();
        for (int slot = 1; slot < 10; slot++) {
            slots.append(slot == 1 ? "" : ", ")
                    .append(7000 + slot)
                    .append(" : ")
                    .append(TransitLevels.MARK + slot);
        }
        String mark = Integer.toString(TransitLevels.MARK);
        String rule = " rule add fwmark " + mark + "/0xfff00000 lookup 5400";
        String route = " route add local default dev lo table 5400";
        net.namespaces()
                .run(
                        net.router(),
                        "nft add table inet up; "
                                + "nft add chain inet up pre \"{ type filter hook prerouting priority mangle ; }\"; "
                                + "nft add rule inet up pre tcp dport " + PORT + " meta mark set " + mark + "; "
                                + "nft add rule inet up pre udp dport " + PORT + " meta mark set " + mark + "; "
                                + "nft add rule inet up pre udp dport " + PORT
                                + " meta mark set udp sport map \"{ " + slots + " }\"; "
                                + "ip" + rule + "; ip" + route + "; ip -6" + rule + "; ip -6" + route);
    }

    TransitNode start() throws Exception {
        return net.namespaces().in(net.router(), () -> {
            environment.start();
            return this;
        });
    }

    TransitNode service(String name, Function<Packet, Verdict> step) {
        return service(name, FailurePolicy.DROP, step);
    }

    TransitNode service(String name, FailurePolicy policy, Function<Packet, Verdict> step) {
        services.add(definition(name, policy, step));
        return this;
    }

    /** A service that sends its packets to another destination. */
    TransitNode elsewhere(String name, InetSocketAddress destination) {
        services.add(new ServiceDefinition(
                name,
                () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        return forwardTo(destination.getAddress(), destination.getPort());
                    }
                },
                ServiceConfig.EMPTY,
                FailurePolicy.DROP));
        return this;
    }

    static ServiceDefinition definition(String name, FailurePolicy policy, Function<Packet, Verdict> step) {
        return new ServiceDefinition(name, () -> new Scripted(step), ServiceConfig.EMPTY, policy);
    }

    /** Lets packets for this prefix go to a host by UDP. */
    TransitNode route(String prefix, InetSocketAddress host) {
        routes.add(new Route(
                Prefix.parse(prefix),
                new NextHop(host.getAddress(), host.getPort(), NextHop.Transport.SAME, NextHop.Kind.HOST)));
        return this;
    }

    private static final class Scripted extends Service {
        private final Function<Packet, Verdict> step;

        Scripted(Function<Packet, Verdict> step) {
            this.step = step;
        }

        @Override
        public Verdict process(Packet packet) {
            return step.apply(packet);
        }
    }

    static InetSocketAddress at(String address, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(address), port);
        } catch (java.net.UnknownHostException e) {
            throw new IllegalArgumentException(address, e);
        }
    }

    /** Packet {@code number} of stream 7, whose payload begins with the number. */
    static byte[] packet(String service, int number, int bytes) {
        PacketBuilder builder =
                new PacketBuilder().classOfService(0, 0).stream(7).checksum();
        if (!service.isEmpty()) {
            builder.service(service);
        }
        builder.destination(at("203.0.113.1", 1).getAddress());
        ByteBuffer payload = ByteBuffer.allocate(bytes - builder.headerLength());
        payload.putInt(0, number);
        Packet packet = builder.nextSequence(number).build(payload);
        byte[] whole = new byte[packet.length()];
        packet.buffer().get(packet.offset(), whole);
        return whole;
    }

    static int number(byte[] bytes) {
        Packet packet = new Packet();
        assertThat(packet.parse(ByteBuffer.wrap(bytes), 0, bytes.length)).isNull();
        return packet.buffer().getInt(packet.payloadOffset());
    }

    /** Waits until so many packets have come in and none is held, and every one is accounted for. */
    TrafficSnapshot balanced(long packetsIn) {
        eventually().untilAsserted(() -> {
            TrafficSnapshot now = environment.traffic();
            assertThat(now.packetsIn()).as("packets in, %s", now).isEqualTo(packetsIn);
            assertThat(now.held()).as("held, %s", now).isZero();
            assertThat(now.packetsIn() + now.packetsMade())
                    .as("in + made = out + dropped, %s", now)
                    .isEqualTo(now.packetsOut() + now.dropped());
        });
        return environment.traffic();
    }

    /** Waits until so many packets of a slot have settled, and checks that no more do. */
    void assertSettled(int slot, int packets) {
        eventually().untilAsserted(() -> assertThat(levels.settled.get(slot)).isEqualTo(packets));
        assertThat(levels.arrived.get(slot)).as("read, before they settled").isGreaterThanOrEqualTo(packets);
    }

    @Override
    public void close() {
        environment.stop(PATIENCE);
    }
}
