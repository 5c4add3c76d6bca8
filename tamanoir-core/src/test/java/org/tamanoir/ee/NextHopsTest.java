package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.ScratchBuffers;

/** Ways out by the routes, without sockets. */
class NextHopsTest {
    private static final int HOPS = 255;

    private final RoutingTable routes = new RoutingTable();
    private final ExecutionEnvironment environment =
            new ExecutionEnvironment(EeConfig.defaults(), routes, new ServiceCatalog());
    private final Service service = new Service() {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    };
    private final ServiceThread thread = new ServiceThread(
            environment.context,
            new ServiceDefinition("test", () -> service, ServiceConfig.EMPTY, FailurePolicy.DROP),
            service,
            new StreamInfo(StreamInfo.Transport.UDP, null, new InetSocketAddress(0)),
            "test");
    private final NextHops hops = new NextHops(
            environment.context,
            thread,
            new ScratchBuffers(environment.context.pool(), thread.stream(), service, () -> true),
            new Connections<>((address, isTls) -> null),
            (packet, departure) -> {},
            null,
            hop -> false,
            null);

    @AfterEach
    void close() {
        thread.loop.own();
        thread.loop.close();
    }

    private static NextHop via(int number, int port) {
        return new NextHop(Addresses.of(0, 0xFFFF_C000_0200L | number), port, NextHop.Transport.UDP, NextHop.Kind.HOST);
    }

    private RouteCacheEntry to(String destination, int port) {
        Prefix address = Prefix.parse(destination);
        return hops.routes.hop(address.high(), address.low(), port);
    }

    @Test
    void aMillionDestinationsBehindAFullTableTakeNoMemory() {
        RouteSet full = new RouteSet();
        for (int i = 0; i < 1 << 16; i++) {
            full.put(new Prefix(0, 0xFFFF_0A00_0000L | (long) i << 8, 120), via(i % HOPS, 4000));
        }
        routes.replace(full);
        hops.refresh();
        forward(1000);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(self);
        forward(1_000_000);

        assertThat(threads.getThreadAllocatedBytes(self) - before).isLessThan(100_000);
    }

    private void forward(int destinations) {
        for (int i = 0; i < destinations; i++) {
            // Neighbours are far apart: each has another next hop than the one before.
            long low = 0xFFFF_0A00_0000L | i * 0x9E37_79B1L & 0xFF_FFFFL;
            assertThatLeadsTo(hops.routes.hop(0, low, i % 5), (int) (low >>> 8 & 0xFFFF) % HOPS);
        }
    }

    /** Compares without an assertion's objects. */
    private static void assertThatLeadsTo(RouteCacheEntry hop, int number) {
        if (hop.low != (0xFFFF_C000_0200L | number) || hop.port() != 4000) {
            assertThat(hop.address).isEqualTo(via(number, 4000));
        }
    }

    @Test
    void aChangeOfRoutesLeavesOtherNextHopsAsTheyAre() {
        routes.add(new Route(Prefix.parse("10.0.0.0/8"), via(1, 4000)));
        hops.refresh();
        RouteCacheEntry before = to("10.1.1.1", 9);
        routes.add(new Route(Prefix.parse("10.2.0.0/16"), via(2, 4000)));
        hops.refresh();

        assertThat(to("10.1.1.1", 9)).isSameAs(before);
        assertThat(to("10.2.1.1", 9).port()).isEqualTo(4000);
        assertThat(to("10.2.1.1", 9)).isNotSameAs(before);
        routes.remove(Prefix.parse("10.0.0.0/8"));
        hops.refresh();
        assertThat(to("10.1.1.1", 9).refusal).isEqualTo(DropReason.NO_ROUTE);
    }

    @Test
    void aTableOfTheSameNextHopsLeavesThemAsTheyAre() {
        routes.add(new Route(Prefix.parse("10.0.0.0/8"), via(1, 4000)));
        hops.refresh();
        RouteCacheEntry before = to("10.1.1.1", 9);
        RouteSet same = new RouteSet();
        same.put(Prefix.parse("10.0.0.0/9"), via(1, 4000));
        routes.replace(same);
        hops.refresh();

        assertThat(to("10.1.1.1", 9)).isSameAs(before);
    }

    @Test
    void aNextHopWithoutAPortIsReachedAtThePacketsPort() {
        routes.add(new Route(Prefix.parse("10.0.0.0/8"), via(1, 0)));
        hops.refresh();

        assertThat(to("10.1.1.1", 9).port()).isEqualTo(9);
        assertThat(to("10.1.1.2", 8).port()).isEqualTo(8);
        assertThat(to("10.1.1.1", 9).port()).isEqualTo(9);
        assertThat(to("10.1.1.3", 0).port()).isEqualTo(3322);
    }

    @Test
    void portsThatTakeTurnsBehindANextHopWithoutOneTakeNoMemory() {
        routes.add(new Route(Prefix.parse("10.0.0.0/8"), via(1, 0)));
        hops.refresh();
        takeTurns(2000);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(self);
        takeTurns(100_000);

        assertThat(threads.getThreadAllocatedBytes(self) - before).isLessThan(100_000);
    }

    private void takeTurns(int destinations) {
        for (int i = 0; i < destinations; i++) {
            RouteCacheEntry hop = hops.routes.hop(0, 0xFFFF_0A00_0000L | i, 1 + i % 1000);
            if (hop.port() != 1 + i % 1000) {
                assertThat(hop.address).isEqualTo(UdpTestNode.at("192.0.2.1", 1 + i % 1000));
            }
        }
    }

    @Test
    void aTableThatTakesThePlaceOfAnotherLeavesNoWayOfIt() {
        RouteSet many = new RouteSet();
        for (int i = 0; i < HOPS; i++) {
            many.put(new Prefix(0, 0xFFFF_0A00_0000L | i << 8, 120), via(i, 4000));
        }
        routes.replace(many);
        hops.refresh();
        for (int i = 0; i < HOPS; i++) {
            hops.routes.hop(0, 0xFFFF_0A00_0001L | i << 8, 9);
        }
        assertThat(hops.routes.waysKept()).isEqualTo(HOPS);

        RouteSet few = new RouteSet();
        few.put(Prefix.parse("10.0.0.0/8"), via(0, 4000));
        few.put(Prefix.parse("10.0.0.0/16"), via(2, 4000));
        routes.replace(few);
        hops.refresh();

        assertThat(hops.routes.waysKept()).isOne();
    }

    @Test
    void aRouteWithoutAnAddressLeadsToEachDestinationItself() {
        routes.add(new Route(
                Prefix.parse("10.0.0.0/8"), new NextHop(null, 4000, NextHop.Transport.UDP, NextHop.Kind.HOST)));
        hops.refresh();

        assertThat(to("10.1.1.1", 9).address).isEqualTo(UdpTestNode.at("10.1.1.1", 4000));
        assertThat(to("10.1.1.2", 9).address).isEqualTo(UdpTestNode.at("10.1.1.2", 4000));
    }
}
