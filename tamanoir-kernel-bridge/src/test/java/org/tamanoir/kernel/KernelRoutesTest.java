package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFeed;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Namespaces;

@Tag("once")
@Tag("namespace")
class KernelRoutesTest {
    private static final int BIRD = 12;
    private static final int MAIN = 254;
    /** As many as fit into a command. */
    private static final int MAX_LINES = 1_500;

    private static final NextHop HOP =
            new NextHop(InetAddress.getLoopbackAddress(), 1, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);

    private static final NextHop OTHER =
            new NextHop(InetAddress.getLoopbackAddress(), 2, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);

    private final RoutingTable table = new RoutingTable();
    private final RouteFeed feed = table.feed(Map.of("default", HOP, "e0", OTHER, "192.0.2.9", OTHER));
    private final List<String> events = new CopyOnWriteArrayList<>();
    private @Nullable KernelRoutes following;
    private Namespaces namespaces;
    private String here;
    private String there;

    @BeforeEach
    void makeNamespace() {
        Namespaces.require("bpf");
        namespaces = new Namespaces("feed");
        here = namespaces.add("here");
        there = namespaces.add("there");
        namespaces.link(here, "d0", there, "d1");
        namespaces.link(here, "e0", there, "e1");
        namespaces.address(here, "d0", "192.0.2.2/24");
        namespaces.address(here, "e0", "192.0.3.2/24");
        namespaces.address(here, "d0", "fd01::2/64");
    }

    @AfterEach
    void removeNamespace() {
        if (following != null) {
            following.close();
        }
        if (namespaces != null) {
            namespaces.close();
        }
    }

    private void follow() throws Exception {
        follow(16 << 20, KernelRoutes.PERIOD, events::add);
    }

    private void follow(int bufferBytes, Duration period, Consumer<String> told) throws Exception {
        following = namespaces.in(here, () -> KernelRoutes.start(100, Set.of(BIRD), feed, told, bufferBytes, period));
    }

    /** Has all routes be read anew. */
    private void removeAnAddress() {
        namespaces.run(here, "ip addr add 192.0.2.8/24 dev d0; ip addr del 192.0.2.8/24 dev d0");
    }

    /** Changes a route of table 100, bird's unless the words name another protocol. */
    private void route(String words) {
        namespaces.run(
                here,
                "ip route " + words.replaceFirst("/16", "/16 table 100")
                        + (words.contains("proto") ? "" : " proto bird"));
    }

    /** Returns the port of the next hop of 10.1.0.0/16; 0 = it has none. */
    private int port() {
        Route route = table.get(Prefix.parse("10.1.0.0/16"));
        return route == null ? 0 : route.nextHop().port();
    }

    private void awaitPort(int port) {
        eventually().untilAsserted(() -> assertThat(port()).isEqualTo(port));
    }

    private List<String> prefixes() {
        return table.routes().stream().map(route -> route.prefix().toString()).toList();
    }

    private void batch(String verb, int first, int count) {
        run(first, count, i -> verb + " 10." + (i >> 8) + "." + (i & 255) + ".0/24 via 192.0.2.1");
    }

    private void batch6(String verb, int first, int count) {
        run(first, count, i -> verb + " fd10:" + Integer.toHexString(i) + "::/32 via fd01::1");
    }

    private void run(int first, int count, IntFunction<String> words) {
        for (int from = first; from < first + count; from += MAX_LINES) {
            String lines = IntStream.range(from, Math.min(from + MAX_LINES, first + count))
                    .mapToObj(i -> "route " + words.apply(i) + " proto bird table 100")
                    .collect(Collectors.joining("\n"));
            namespaces.run(here, "ip -batch - <<E\n" + lines + "\nE\n");
        }
    }

    @Test
    void routesThatAreThereCountFromTheStart() throws Exception {
        namespaces.run(here, "ip route add 10.1.0.0/16 via 192.0.2.1 proto bird table 100");
        namespaces.run(here, "ip route add 10.2.0.0/16 via 192.0.2.1 proto static table 100");
        namespaces.run(here, "ip -6 route add fd10::/32 via fd01::1 proto bird table 100");
        follow();
        assertThat(prefixes()).containsExactly("10.1.0.0/16", "fd10::/32");
    }

    @Test
    void aTableThatIsNotThereYetIsFollowed() throws Exception {
        follow();
        namespaces.run(here, "ip route add 10.1.0.0/16 via 192.0.2.1 proto bird table 100");
        namespaces.run(here, "ip -6 route add fd10::/32 via fd01::1 proto bird table 100");

        eventually().until(() -> prefixes().equals(List.of("10.1.0.0/16", "fd10::/32")));

        namespaces.run(here, "ip route del 10.1.0.0/16 table 100; ip -6 route del fd10::/32 table 100");
        eventually().until(() -> table.size() == 0);
    }

    @Test
    void routesThatGoWithTheirInterfaceWithoutAWordGoHereToo() throws Exception {
        batch("add", 0, 3);
        follow();
        assertThat(table.size()).isEqualTo(3);

        namespaces.run(here, "ip link set d0 down");

        eventually().until(() -> table.size() == 0);
        eventually()
                .untilAsserted(() -> assertThat(events).anyMatch(line -> line.endsWith("for interface d0 changed")));
    }

    @Test
    void afterNotificationsWereLostTheTableIsTheKernelsAndRoutesThatStayedWereAlwaysThere() throws Exception {
        batch("add", 0, 200);
        Prefix stays = Prefix.parse("10.0.0.1");
        AtomicBoolean wasAway = new AtomicBoolean();
        AtomicBoolean isDone = new AtomicBoolean();
        AtomicBoolean isHeld = new AtomicBoolean();
        CompletableFuture<Void> goesOn = new CompletableFuture<>();
        follow(1, KernelRoutes.PERIOD, line -> {
            events.add(line);
            if (line.endsWith("for an address was removed")) {
                isHeld.set(true);
                goesOn.join();
            }
        });
        Thread reader = new Thread(() -> {
            while (!isDone.get()) {
                wasAway.compareAndSet(false, table.lookup(stays.high(), stays.low()) == null);
            }
        });
        reader.start();
        try {
            removeAnAddress();
            eventually().untilTrue(isHeld);
            // Nobody reads now, and the smallest buffer holds a few notifications: the last are lost.
            batch("add", 200, 1_000);
            batch("del", 200, 1_000);
            batch("del", 100, 100);
            batch("add", 2_000, 10);
            goesOn.complete(null);
            eventually()
                    .untilAsserted(
                            () -> assertThat(events).anyMatch(line -> line.endsWith("for notifications were lost")));
            eventually()
                    .untilAsserted(() -> assertThat(table.size())
                            .as("%s %s", feed.status(), events)
                            .isEqualTo(110));
        } finally {
            goesOn.complete(null);
            isDone.set(true);
            reader.join();
        }
        assertThat(wasAway).isFalse();
    }

    @Test
    void gatewaysWithoutANextHopAreAnEventOnce() throws Exception {
        RoutingTable other = new RoutingTable();
        RouteFeed narrow = other.feed(Map.of("192.0.2.9", HOP));
        batch("add", 0, 2);
        following = namespaces.in(here, () -> KernelRoutes.start(100, Set.of(BIRD), narrow, events::add));
        eventually()
                .until(() -> events.contains(
                        "192.0.2.1%d0: 2 routes have no next hop by it; name it under routing.feed.via"));
        assertThat(other.size()).isZero();
    }

    @Test
    void aRouteFollowsItsInterfaceToAnotherNameAndGoesWithIt() throws Exception {
        route("add 10.1.0.0/16 dev e0");
        follow();
        assertThat(port()).isEqualTo(2);

        namespaces.run(here, "ip link set e0 name f0");
        awaitPort(1);

        namespaces.run(here, "ip link set f0 down");
        awaitPort(0);
    }

    @Test
    void aPathIsBackWhenItsInterfaceIs() throws Exception {
        route("add 10.1.0.0/16 proto bird nexthop via 192.0.2.1 nexthop via 192.0.3.1");
        follow();
        assertThat(port()).isEqualTo(1);

        namespaces.run(here, "ip link set d0 down");
        awaitPort(2);
        namespaces.run(here, "ip link set d0 up");
        awaitPort(1);
    }

    @Test
    void aRouteWithoutCarrierCountsAsTheKernelHasIt() throws Exception {
        route("add 10.1.0.0/16 via 192.0.2.1");
        follow();
        namespaces.run(there, "ip link set d1 down");
        namespaces.run(here, "sysctl -qw net.ipv4.conf.d0.ignore_routes_with_linkdown=1");
        awaitPort(0);
        namespaces.run(there, "ip link set d1 up");
        awaitPort(1);
    }

    @Test
    void aRouteThatAnotherProtocolOrTypeReplacesIsGone() throws Exception {
        follow();
        for (String other : List.of("10.1.0.0/16 via 192.0.2.1 proto static", "local 10.1.0.0/16 dev lo")) {
            route("add 10.1.0.0/16 via 192.0.2.1");
            awaitPort(1);
            route("replace " + other);
            awaitPort(0);
            route("del " + other);
        }
    }

    @Test
    void routesGoWithTheirNextHopObject() throws Exception {
        namespaces.run(here, "ip nexthop add id 1 via 192.0.2.1 dev d0; ip nexthop add id 2 via 192.0.3.1 dev e0");
        namespaces.run(here, "ip nexthop add id 10 group 1/2");
        route("add 10.1.0.0/16 nhid 10");
        follow();
        assertThat(port()).isEqualTo(1);

        namespaces.run(here, "ip nexthop del id 1");
        awaitPort(2);
        namespaces.run(here, "ip nexthop del id 2");
        awaitPort(0);
    }

    @Test
    void aRouteGoesWithTheAddressThatItSendsFrom() throws Exception {
        namespaces.run(here, "ip addr add 10.9.9.9/32 dev lo");
        namespaces.run(here, "ip route add 10.1.0.0/16 via 192.0.2.1 src 10.9.9.9 proto bird");
        following = namespaces.in(here, () -> KernelRoutes.start(MAIN, Set.of(BIRD), feed, events::add));
        assertThat(port()).isEqualTo(1);

        namespaces.run(here, "ip addr del 10.9.9.9/32 dev lo");
        awaitPort(0);
    }

    @Test
    void addressesAndInterfacesThatNoRouteUsesAreNoReasonToReadAnew() throws Exception {
        batch("add", 0, 3);
        follow();
        namespaces.run(here, "ip addr add 10.9.9.9/32 dev lo; ip addr del 10.9.9.9/32 dev lo; ip link set e0 down");
        batch("add", 3, 1);
        eventually().until(() -> table.size() == 4);
        namespaces.run(here, "ip link set d0 down");
        eventually().until(() -> table.size() == 0);
        assertThat(events).noneMatch(line -> line.contains("address") || line.contains("e0"));
    }

    @Test
    void ofSeveralRoutesWithOneMetricTheOthersStay() throws Exception {
        namespaces.address(here, "d0", "192.0.2.78/24");
        follow();
        route("add 10.1.0.0/16 via 192.0.2.1");
        route("append 10.1.0.0/16 via 192.0.2.1 src 192.0.2.78");
        awaitPort(1);
        route("append 10.1.0.0/16 via 192.0.2.9");
        route("del 10.1.0.0/16 via 192.0.2.1 src 192.0.2.78");
        eventually().until(() -> events.stream().anyMatch(line -> line.contains("a route that went was not known so")));
        assertThat(port()).isEqualTo(1);
    }

    @Test
    void ipv6RoutesThatGoInSilenceGoHereToo() throws Exception {
        namespaces.run(here, "sysctl -qw net.ipv6.route.skip_notify_on_dev_down=1");
        batch6("add", 0, 2);
        follow();
        assertThat(table.size()).isEqualTo(2);

        namespaces.run(here, "sysctl -qw net.ipv6.conf.d0.disable_ipv6=1");
        eventually().until(() -> table.size() == 0);
    }

    @Test
    void whatGivesNoSignIsFoundWhenAPeriodHasPassed() throws Exception {
        follow(16 << 20, Duration.ofSeconds(1), events::add);
        route("add 10.1.0.0/16 via 192.0.2.7 proto static");
        route("append 10.1.0.0/16 via 192.0.2.1");
        awaitPort(1);
        // It takes the place of the first, which is not bird's.
        route("replace 10.1.0.0/16 via 192.0.2.9");
        eventually().untilAsserted(() -> assertThat(events).anyMatch(line -> line.endsWith("for time passed")));
        awaitPort(1);
    }

    @Test
    void ipv6RoutesThatStayAreThereWhileOthersGoAndAllAreReadAnew() throws Exception {
        int count = 20_000;
        batch6("add", 2_000, count);
        follow();
        AtomicBoolean wasAway = new AtomicBoolean();
        AtomicBoolean isDone = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            while (!isDone.get()) {
                for (long i = 2_000; i < 2_000 + count; i++) {
                    wasAway.compareAndSet(false, table.lookup(0xFD10_0000_0000_0000L | i << 32, 1) == null);
                }
            }
        });
        Thread others = new Thread(() -> {
            for (int i = 0; i < 10; i++) {
                batch6("add", 0, 1_500);
                batch6("del", 0, 1_500);
            }
            isDone.set(true);
        });
        others.start();
        reader.start();
        while (!isDone.get()) {
            removeAnAddress();
        }
        reader.join();
        others.join();
        eventually()
                .untilAsserted(() -> assertThat(table.size()).as("%s", events).isEqualTo(count));
        assertThat(wasAway).isFalse();
        eventually().until(() -> feed.status().resyncs() > 1);
    }
}
