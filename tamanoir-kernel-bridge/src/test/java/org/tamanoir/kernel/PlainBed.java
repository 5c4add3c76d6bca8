package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.offload.PlainChange;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.TestNet;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/**
 * A client, a router that forwards, and a server, whose frames are seen whole; and on the router, for one test at a time, a
 * node with rules for plain IP.
 *
 * <p>Thread contract: one thread.
 */
final class PlainBed implements AutoCloseable {
    private final TestNet net;
    private final byte[] routerLink;
    private final byte[] clientLink;
    private final PlainWire client;
    private final PlainWire server;
    private ServiceCatalog services = new ServiceCatalog();
    private @Nullable ExecutionEnvironment started;
    private PlainTraffic plain = PlainTraffic.NONE;

    /** Makes the network, or skips where the host cannot have it. */
    PlainBed(String part) throws Exception {
        BpfBed.require();
        net = new TestNet(part);
        run(net.router(), "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
        routerLink = PlainWire.linkAddress(net, net.router(), TestNet.ROUTER_CLIENT_DEVICE);
        clientLink = PlainWire.linkAddress(net, net.client(), TestNet.CLIENT_DEVICE);
        client = PlainWire.open(net, net.client(), TestNet.CLIENT_DEVICE);
        server = PlainWire.open(net, net.server(), TestNet.SERVER_DEVICE);
    }

    TestNet net() {
        return net;
    }

    PlainWire client() {
        return client;
    }

    PlainWire server() {
        return server;
    }

    /** Returns the services of the node that comes next, or is there. */
    ServiceCatalog services() {
        return services;
    }

    PlainTraffic plain() {
        return plain;
    }

    ExecutionEnvironment environment() {
        return Objects.requireNonNull(started);
    }

    String run(String namespace, String command) {
        return net.namespaces().run(namespace, command);
    }

    /** Leaves out frames that have come so far. */
    void forget() {
        client.forget();
        server.forget();
    }

    /** Starts a node to which plain IP comes up. */
    void start(PlainConfig config) throws Exception {
        begin(config);
        assertThat(plain.status().isThere()).as(plain.status().detail()).isTrue();
    }

    /** Starts a node. */
    void begin(PlainConfig config) throws Exception {
        plain = net.namespaces().in(net.router(), () -> KernelBridge.plain(config));
        ExecutionEnvironment environment = new ExecutionEnvironment(
                TransitNode.patient(1 << 20, TransportKind.NATIVE), new RoutingTable(), services);
        started = environment;
        environment.plain(plain);
        net.namespaces().in(net.router(), () -> {
            environment.start();
            return null;
        });
    }

    /** Puts other rules in force, as a reload does. */
    void change(PlainRule... rules) throws Exception {
        PlainChange change = environment().stage(new PlainRules(List.of(rules)), PlainConfig.DEFAULT_ALERTS);
        change.commit();
    }

    /** Stops the node, if one is there. */
    void stop() {
        if (started != null) {
            started.stop(TransitNode.PATIENCE);
            plain.close();
        }
        started = null;
        services = new ServiceCatalog();
    }

    /** Returns a frame from the client to the router. */
    byte[] framed(byte[] packet) {
        return PlainPackets.framed(routerLink, clientLink, packet);
    }

    /** Sends a packet from the client's device to the router. */
    void send(byte[] packet) {
        client.send(framed(packet));
    }

    long met(String what) {
        return plain.status().met().getOrDefault(what, -1L);
    }

    /** Waits until so many packets have come in, and every one is accounted for. */
    TrafficSnapshot balanced(long packetsIn) {
        ExecutionEnvironment environment = environment();
        eventually().untilAsserted(() -> {
            TrafficSnapshot now = environment.traffic();
            assertThat(now.packetsIn()).as("%s", now).isEqualTo(packetsIn);
            assertThat(now.held()).isZero();
            assertThat(now.packetsOut() + now.dropped()).isEqualTo(now.packetsIn() + now.packetsMade());
        });
        return environment.traffic();
    }

    @Override
    public void close() {
        client.close();
        server.close();
        net.close();
    }
}
