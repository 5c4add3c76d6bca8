package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RouteFeed;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Namespaces;

class KernelRoutesTest {
    private static final int BIRD = 12;
    private static final NextHop HOP =
            new NextHop(InetAddress.getLoopbackAddress(), 1, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);

    private final RoutingTable table = new RoutingTable();
    private final RouteFeed feed = table.feed(Map.of("default", HOP));
    private final List<String> events = new CopyOnWriteArrayList<>();
    private @Nullable KernelRoutes following;
    private Namespaces namespaces;
    private String here;

    @BeforeEach
    void makeNamespace() {
        Namespaces.require("bpf");
        namespaces = new Namespaces("feed");
        here = namespaces.add("here");
        namespaces.link(here, "d0", namespaces.add("there"), "d1");
        namespaces.address(here, "d0", "192.0.2.2/24");
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
        follow(16 << 20);
    }

    private void follow(int bufferBytes) throws Exception {
        following = namespaces.in(here, () -> KernelRoutes.start(100, Set.of(BIRD), feed, events::add, bufferBytes));
    }

    private List<String> prefixes() {
        return table.routes().stream().map(route -> route.prefix().toString()).toList();
    }

    private void batch(String verb, int first, int count) {
        String lines = IntStream.range(first, first + count)
                .mapToObj(i -> "route " + verb + " 10." + (i >> 8) + "." + (i & 255)
                        + ".0/24 via 192.0.2.1 proto bird table 100")
                .collect(Collectors.joining("\n"));
        namespaces.run(here, "ip -batch - <<E\n" + lines + "\nE\n");
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
        assertThat(events).anyMatch(line -> line.endsWith("for interface d0 is down"));
    }

    @Test
    void afterNotificationsWereLostTheTableIsTheKernelsAndRoutesThatStayedWereAlwaysThere() throws Exception {
        batch("add", 0, 200);
        Prefix stays = Prefix.parse("10.0.0.1");
        AtomicBoolean wasAway = new AtomicBoolean();
        AtomicBoolean isDone = new AtomicBoolean();
        follow(1);
        Thread reader = new Thread(() -> {
            while (!isDone.get()) {
                wasAway.compareAndSet(false, table.lookup(stays.high(), stays.low()) == null);
            }
        });
        reader.start();
        // The smallest buffer holds a few notifications: some of a thousand are lost.
        for (int i = 0; i < 3; i++) {
            batch("add", 200, 1_000);
            batch("del", 200, 1_000);
        }
        batch("del", 100, 100);
        batch("add", 2_000, 10);
        try {
            eventually()
                    .untilAsserted(() -> assertThat(table.size())
                            .as("%s %s", feed.status(), events)
                            .isEqualTo(110));
        } finally {
            isDone.set(true);
            reader.join();
        }
        assertThat(events).anyMatch(line -> line.endsWith("for notifications were lost"));
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
}
