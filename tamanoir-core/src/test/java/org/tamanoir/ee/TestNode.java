package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.anep.Anep;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.format.FormatSource;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/** A node that listens on a free TCP port of the loopback, and what tests ask of it. */
final class TestNode {
    /** Those of tests that do not say which. */
    static ThreadKind usualThreads = ThreadKind.PLATFORM;

    final RoutingTable routes = new RoutingTable();
    final ServiceCatalog services = new ServiceCatalog();
    final ExecutionEnvironment environment;

    private TestNode(EeConfig config, Settings settings) {
        environment = new ExecutionEnvironment(
                config,
                routes,
                services,
                settings.memoryBytes == 0 ? new BufferPool() : BufferPool.of(settings.memoryBytes),
                settings.platform,
                settings.network.apply(Transport.of(config.transport())));
    }

    /** Settings with short times where a test would have to wait for them; the setters change this object. */
    static final class Settings {
        TransportKind transport = TransportKind.AUTO;
        FailurePolicy unknownService = FailurePolicy.DROP;
        InetSocketAddress listen = new InetSocketAddress("127.0.0.1", 0);
        List<InetSocketAddress> udp = List.of();
        int maxStreams = 4096;
        int hopBudget = 32;
        Duration firstPacketTimeout = Waiting.PATIENCE;
        Duration connectTimeout = Waiting.PATIENCE;
        Duration stallTimeout = Waiting.PATIENCE;
        Duration lingerTimeout = Waiting.PATIENCE;
        Duration stuckTimeout = Waiting.PATIENCE;
        Duration deployTimeout = Waiting.PATIENCE;
        Duration makeTimeout = Waiting.PATIENCE;
        StreamLimits streamLimits = StreamLimits.DEFAULT;
        ThreadKind threads = usualThreads;
        Platform platform = Platform.SYSTEM;
        /** For packets; 0 = as much as the JVM has. */
        long memoryBytes;

        /** What stands between the node and its sockets. */
        UnaryOperator<Transport> network = UnaryOperator.identity();

        @Nullable
        ServiceSource source;

        @Nullable
        FormatSource formats;

        @Nullable
        TlsFiles tls;

        /** To listen for QUIC, too, where there is TLS. */
        boolean quic;

        int quicConnections = 64;

        List<Gateway> gateways = List.of();

        List<UdpGateway> udpGateways = List.of();

        SapfSettings sapf = SapfSettings.OFF;

        EeConfig config() {
            TlsFiles files = tls;
            boolean serves = files != null && files.certificate() != null;
            return new EeConfig(
                            List.of(listen),
                            udp,
                            Anep.DEFAULT_TYPE_ID,
                            transport,
                            unknownService,
                            maxStreams,
                            hopBudget,
                            1 << 18,
                            firstPacketTimeout,
                            connectTimeout,
                            stallTimeout,
                            lingerTimeout)
                    .withTls(serves ? List.of(listen) : List.of(), files)
                    .deploying(deployTimeout, makeTimeout, 1 << 20)
                    .limiting(streamLimits)
                    .running(UdpSockets.resolve(transport) == TransportKind.NATIVE ? threads : ThreadKind.PLATFORM);
        }
    }

    static TestNode start(Settings settings, ServiceDefinition... definitions) throws IOException {
        TestNode node = new TestNode(settings.config(), settings);
        List.of(definitions).forEach(node.services::add);
        node.environment.stuckAfter(settings.stuckTimeout);
        if (settings.formats != null) {
            node.environment.formats(settings.formats);
        }
        if (settings.source != null) {
            node.environment.fetchFrom(settings.source);
        }
        if (settings.quic) {
            node.environment.quic(List.of(settings.listen), settings.quicConnections);
        }
        node.environment.sapf(settings.sapf);
        node.environment.gateways(settings.gateways);
        node.environment.udpGateways(settings.udpGateways);
        node.environment.start();
        return node;
    }

    InetSocketAddress address() {
        return environment.tcpAddresses().get(0);
    }

    InetSocketAddress tlsAddress() {
        return environment.tlsAddresses().get(0);
    }

    InetSocketAddress quicAddress() {
        return environment.quicAddresses().get(0);
    }

    /** Everything that has a route goes there by QUIC. */
    TestNode overQuic(InetSocketAddress next, NextHop.Kind kind) {
        return over(NextHop.Transport.QUIC, next, kind);
    }

    /** Everything that has a route goes there inside TLS. */
    TestNode overTls(InetSocketAddress next, NextHop.Kind kind) {
        return over(NextHop.Transport.TLS, next, kind);
    }

    private TestNode over(NextHop.Transport transport, InetSocketAddress next, NextHop.Kind kind) {
        routes.add(
                new Route(Prefix.parse("0.0.0.0/0"), new NextHop(next.getAddress(), next.getPort(), transport, kind)));
        return this;
    }

    TestNode route(String prefix, @Nullable InetSocketAddress next, NextHop.Kind kind) {
        routes.add(new Route(
                Prefix.parse(prefix),
                new NextHop(
                        next == null ? null : next.getAddress(),
                        next == null ? 0 : next.getPort(),
                        NextHop.Transport.SAME,
                        kind)));
        return this;
    }

    /** Everything that has a route goes to this host. */
    TestNode toHost(InetSocketAddress next) {
        return route("0.0.0.0/0", next, NextHop.Kind.HOST);
    }

    /** Everything that has a route goes to this node. */
    TestNode toNode(TestNode next) {
        return route("0.0.0.0/0", next.address(), NextHop.Kind.ACTIVE_NODE);
    }

    TrafficSnapshot traffic() {
        return environment.traffic();
    }

    long dropped(DropReason reason) {
        return traffic().drops().getOrDefault(reason, 0L);
    }

    /** Waits until no stream is left. */
    TestNode settle() {
        eventually().until(() -> environment.streams().open() == 0);
        return this;
    }

    /** No packet is forgotten: all that came in, or was made, left or ended for these reasons. */
    void assertDrops(Map<DropReason, Long> expected) {
        Map<DropReason, Long> drops = expected.isEmpty() ? Map.of() : new EnumMap<>(expected);
        eventually().untilAsserted(() -> assertThat(traffic().drops()).isEqualTo(drops));
        settle();
        assertThat(traffic().drops()).isEqualTo(drops);
        assertConserved();
    }

    /** Waits until packets were dropped for this reason and no stream is left. */
    void settleAfterDrop(DropReason reason) {
        eventually().until(() -> dropped(reason) > 0 && environment.streams().open() == 0);
    }

    void assertConserved() {
        TrafficSnapshot traffic = traffic();
        assertThat(traffic.held()).describedAs("held: %s", traffic).isZero();
        assertThat(traffic.packetsIn() + traffic.packetsMade())
                .describedAs("in and out: %s", traffic)
                .isEqualTo(traffic.packetsOut() + traffic.dropped());
    }
}
