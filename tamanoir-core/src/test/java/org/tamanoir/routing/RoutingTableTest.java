package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class RoutingTableTest {
    private static final Map<Integer, NextHop> HOPS = new HashMap<>();

    /** Returns one object for each port: a table keeps one of those that are alike. */
    private static NextHop hop(int port) {
        return HOPS.computeIfAbsent(
                port,
                to -> new NextHop(
                        InetAddress.getLoopbackAddress(), to, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE));
    }

    private static Route route(String prefix, int port) {
        return new Route(Prefix.parse(prefix), hop(port));
    }

    /** The port of the next hop, -1 when there is none. */
    private static int portFor(RoutingTable table, String address) {
        Prefix whole = Prefix.parse(address);
        NextHop hop = table.lookup(whole.high(), whole.low());
        return hop == null ? -1 : hop.port();
    }

    @Test
    void anEmptyTableHasNoNextHop() {
        RoutingTable table = new RoutingTable();

        assertThat(portFor(table, "10.0.0.1")).isEqualTo(-1);
        assertThat(portFor(table, "::")).isEqualTo(-1);
        assertThat(portFor(table, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")).isEqualTo(-1);
        assertThat(table.routes()).isEmpty();
    }

    @Test
    void theLongestIpv4PrefixWins() {
        RoutingTable table = new RoutingTable(List.of(
                route("10.0.0.0/8", 8), route("10.0.2.7/32", 32), route("10.0.0.0/16", 16), route("10.0.2.0/24", 24)));

        assertThat(portFor(table, "10.0.2.7")).isEqualTo(32);
        assertThat(portFor(table, "10.0.2.6")).isEqualTo(24);
        assertThat(portFor(table, "10.0.2.8")).isEqualTo(24);
        assertThat(portFor(table, "10.0.3.0")).isEqualTo(16);
        assertThat(portFor(table, "10.0.0.0")).isEqualTo(16);
        assertThat(portFor(table, "10.255.255.255")).isEqualTo(8);
        assertThat(portFor(table, "9.255.255.255")).isEqualTo(-1);
        assertThat(portFor(table, "11.0.0.0")).isEqualTo(-1);
    }

    @Test
    void theLongestIpv6PrefixWins() {
        RoutingTable table = new RoutingTable(
                List.of(route("2001:db8::/32", 32), route("2001:db8:0:1::/64", 64), route("2001:db8:0:1::5", 128)));

        assertThat(portFor(table, "2001:db8:0:1::5")).isEqualTo(128);
        assertThat(portFor(table, "2001:db8:0:1::6")).isEqualTo(64);
        assertThat(portFor(table, "2001:db8:0:1:ffff:ffff:ffff:ffff")).isEqualTo(64);
        assertThat(portFor(table, "2001:db8:0:2::")).isEqualTo(32);
        assertThat(portFor(table, "2001:db9::")).isEqualTo(-1);
    }

    @Test
    void theDefaultRoutesOfTheFamiliesAreApart() {
        RoutingTable ipv4 = new RoutingTable(List.of(route("0.0.0.0/0", 4)));
        RoutingTable ipv6 = new RoutingTable(List.of(route("::/0", 6), route("::/64", 64)));
        RoutingTable both = new RoutingTable(List.of(route("::/0", 6), route("0.0.0.0/0", 4)));

        assertThat(portFor(ipv4, "0.0.0.0")).isEqualTo(4);
        assertThat(portFor(ipv4, "255.255.255.255")).isEqualTo(4);
        assertThat(portFor(ipv4, "::1")).isEqualTo(-1);
        assertThat(portFor(ipv4, "2001:db8::1")).isEqualTo(-1);
        assertThat(portFor(ipv6, "10.0.0.1")).isEqualTo(-1);
        assertThat(portFor(ipv6, "::fffe:ffff:ffff")).isEqualTo(64);
        assertThat(portFor(ipv6, "::1:0:0:0")).isEqualTo(64);
        assertThat(portFor(ipv6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")).isEqualTo(6);
        assertThat(portFor(both, "10.0.0.1")).isEqualTo(4);
        assertThat(portFor(both, "2001:db8::1")).isEqualTo(6);
    }

    @Test
    void linkLocalNextHopsOfTwoInterfacesAreApart() throws UnknownHostException {
        RoutingTable table = new RoutingTable();
        for (int device = 1; device <= 2; device++) {
            InetAddress address = InetAddress.getByName("fe80::1%" + device);
            NextHop hop = new NextHop(address, 1, NextHop.Transport.SAME, NextHop.Kind.HOST);
            Prefix prefix = Prefix.parse("10." + device + ".0.0/16");
            table.add(new Route(prefix, hop));

            assertThat(table.lookup(prefix.high(), prefix.low())).isSameAs(hop);
        }
    }

    @Test
    void everyChangeCountsAsAGeneration() {
        RoutingTable table = new RoutingTable();
        int first = table.generation();
        table.add(route("10.0.0.0/8", 1));
        int added = table.generation();

        assertThat(added).isNotEqualTo(first);
        assertThat(table.remove(Prefix.parse("10.0.0.0/9"))).isFalse();
        assertThat(table.generation()).isEqualTo(added);
        assertThat(table.remove(Prefix.parse("10.0.0.0/8"))).isTrue();
        assertThat(table.generation()).isNotIn(first, added);
        assertThat(portFor(table, "10.0.0.1")).isEqualTo(-1);
    }

    @Test
    void aRouteReplacesTheOneWithTheSamePrefix() {
        RoutingTable table = new RoutingTable(List.of(route("10.0.0.0/8", 1), route("10.0.0.0/8", 2)));
        assertThat(table.routes()).containsExactly(route("10.0.0.0/8", 2));

        table.add(route("10.0.0.0/8", 3));
        assertThat(table.routes()).containsExactly(route("10.0.0.0/8", 3));
        assertThat(portFor(table, "10.1.1.1")).isEqualTo(3);
    }

    @Test
    void whatCannotBePutWholeChangesNothing() {
        RoutingTable table = new RoutingTable(List.of(route("10.0.0.0/8", 1)));
        List<Route> tooMany = new ArrayList<>();
        for (int i = 0; i <= HopTable.MAX; i++) {
            tooMany.add(new Route(new Prefix(0, 0xFFFF_0B00_0000L + i, 128), hop(1 + i)));
        }
        int generation = table.generation();

        assertThatThrownBy(() -> table.change(tooMany, List.of(Prefix.parse("10.0.0.0/8"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("let routes share next hops");
        assertThat(table.routes()).containsExactly(route("10.0.0.0/8", 1));
        assertThat(table.generation()).isEqualTo(generation);

        table.change(tooMany.subList(1, tooMany.size()), List.of(Prefix.parse("10.0.0.0/8")));
        assertThat(table.size()).isEqualTo(HopTable.MAX);
        assertThat(portFor(table, "10.0.0.1")).isEqualTo(-1);
    }

    /** Returns these two; the second cannot be had for lack of memory when it was asked for so often. */
    private static <T> List<T> failing(int times, T first, T second) {
        return new AbstractList<>() {
            private int asked;

            @Override
            public T get(int i) {
                if (i == 1 && asked++ >= times) {
                    throw new OutOfMemoryError("on purpose");
                }
                return i == 0 ? first : second;
            }

            @Override
            public int size() {
                return 2;
            }
        };
    }

    @Test
    void aChangeThatEndedForLackOfMemoryCountsWithTheNext() {
        List<Route> many = new ArrayList<>(); // as many as are changed in place
        for (int i = 0; i < 3000; i++) {
            many.add(new Route(new Prefix(0, 0xFFFF_0B00_0000L + i, 128), hop(1)));
        }
        RoutingTable table = new RoutingTable(many);
        List<Route> failing = failing(1, route("10.1.0.0/16", 2), route("10.2.0.0/16", 3));
        assertThatThrownBy(() -> table.change(failing, List.of())).isInstanceOf(OutOfMemoryError.class);

        table.add(route("192.0.2.0/24", 4));

        assertThat(table.get(Prefix.parse("10.1.0.0/16"))).isEqualTo(route("10.1.0.0/16", 2));
        assertThat(portFor(table, "10.1.0.1")).isEqualTo(2);
        assertThat(portFor(table, "192.0.2.1")).isEqualTo(4);
    }

    @Test
    void aRemovalThatEndedForLackOfMemoryCountsWhenItIsRepeated() {
        RoutingTable table = new RoutingTable(List.of(route("10.1.0.0/16", 1), route("10.2.0.0/16", 2)));
        List<Prefix> failing = failing(0, Prefix.parse("10.1.0.0/16"), Prefix.parse("10.2.0.0/16"));
        assertThatThrownBy(() -> table.change(List.of(), failing)).isInstanceOf(OutOfMemoryError.class);

        table.remove(Prefix.parse("10.1.0.0/16"));

        assertThat(portFor(table, "10.1.0.1")).isEqualTo(-1);
        assertThat(portFor(table, "10.2.0.1")).isEqualTo(2);
    }

    @Test
    void aShortPrefixTakesNoMemoryForTheRangesInsideIt() {
        List<Route> routes = new ArrayList<>();
        for (int i = 0; i < 1 << 14; i++) {
            routes.add(new Route(new Prefix(0, 0xFFFF_0000_0000L | (long) i << 17, 120), hop(1 + i % 2)));
            routes.add(new Route(new Prefix((long) i << 49, 0, 48), hop(1 + i % 2)));
        }
        RoutingTable table = new RoutingTable(routes);
        long before = table.fib().bytes();

        table.add(route("0.0.0.0/1", 3));
        table.add(route("::/1", 3));

        assertThat(table.fib().bytes() - before).isLessThan(100_000);
    }

    @Test
    void listsTheRoutesByAddressAndTheWiderPrefixFirst() {
        RoutingTable table = new RoutingTable(
                List.of(route("::/0", 1), route("10.0.0.0/8", 2), route("10.0.2.7", 3), route("2001:db8::/32", 4)));

        assertThat(table.routes()).extracting(route -> route.nextHop().port()).containsExactly(2, 3, 1, 4);
    }

    /** Looks at every prefix: what the table must agree with. */
    private static @Nullable NextHop model(Map<Prefix, Route> routes, long high, long low) {
        Route best = null;
        for (Route route : routes.values()) {
            boolean familyFits = !Prefix.isIpv4(high, low) || route.prefix().isIpv4();
            if (familyFits
                    && route.prefix().contains(high, low)
                    && (best == null || route.prefix().length() > best.prefix().length())) {
                best = route;
            }
        }
        return best == null ? null : best.nextHop();
    }

    /** Addresses that share long prefixes with others, so that prefixes nest. */
    private static long[] randomAddress(Random random) {
        long few = random.nextLong();
        few &= random.nextLong();
        few &= random.nextLong();
        return switch (random.nextInt(4)) {
            case 0 -> new long[] {0, 0xFFFFL << 32 | few & 0xFFFF_FFFFL};
            case 1 -> new long[] {0, few >>> random.nextInt(32)};
            case 2 -> new long[] {few, random.nextLong()};
            default -> new long[] {-1L << random.nextInt(64), -1L << random.nextInt(64)};
        };
    }

    private static Prefix randomPrefix(Random random) {
        long[] address = randomAddress(random);
        int length = address[0] == 0 && random.nextBoolean() ? 80 + random.nextInt(49) : random.nextInt(129);
        return new Prefix(address[0] & Prefix.highMask(length), address[1] & Prefix.lowMask(length), length);
    }

    @Test
    void agreesWithALookAtEveryPrefix() {
        long first = Seeds.ofCommit(RoutingTableTest.class);
        for (long seed = first; seed < first + Seeds.scaled(12); seed++) {
            Random random = new Random(seed);
            Map<Prefix, Route> model = new HashMap<>();
            RoutingTable table = new RoutingTable();
            List<Route> initial = new ArrayList<>();
            for (int i = random.nextInt(300); i > 0; i--) {
                initial.add(new Route(randomPrefix(random), hop(random.nextInt(65_536))));
            }
            initial.forEach(route -> model.put(route.prefix(), route));
            table.replace(initial);
            for (int change = 0; change < 30; change++) {
                if (random.nextBoolean() && !model.isEmpty()) {
                    Prefix gone = new ArrayList<>(model.keySet()).get(random.nextInt(model.size()));
                    model.remove(gone);
                    assertThat(table.remove(gone)).as("seed %d", seed).isTrue();
                } else {
                    Route added = new Route(randomPrefix(random), hop(random.nextInt(65_536)));
                    model.put(added.prefix(), added);
                    table.add(added);
                }
                for (int i = 0; i < 100; i++) {
                    long[] address = randomAddress(random);
                    check(seed, model, table, address[0], address[1]);
                }
            }
            for (Route route : model.values()) {
                Prefix prefix = route.prefix();
                long lastHigh = prefix.high() | ~Prefix.highMask(prefix.length());
                long lastLow = prefix.low() | ~Prefix.lowMask(prefix.length());
                check(seed, model, table, prefix.high(), prefix.low());
                check(seed, model, table, prefix.low() == 0 ? prefix.high() - 1 : prefix.high(), prefix.low() - 1);
                check(seed, model, table, lastHigh, lastLow);
                check(seed, model, table, lastLow == -1 ? lastHigh + 1 : lastHigh, lastLow + 1);
            }
            assertThat(table.routes()).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(model.values());
        }
    }

    private static void check(long seed, Map<Prefix, Route> model, RoutingTable table, long high, long low) {
        assertThat(table.lookup(high, low))
                .as("seed %d, address %s", seed, new Prefix(high, low, 128))
                .isSameAs(model(model, high, low));
    }

    @Test
    void lookupsDuringChangesSeeOneTableOrTheOther() throws Exception {
        RoutingTable table = new RoutingTable(generationOfRoutes(0));
        CountDownLatch lookedUp = new CountDownLatch(2);
        CountDownLatch changed = new CountDownLatch(1);
        ExecutorService readers = Executors.newFixedThreadPool(2);
        try {
            List<Future<?>> results = new ArrayList<>();
            for (int reader = 0; reader < 2; reader++) {
                results.add(readers.submit(() -> {
                    while (changed.getCount() > 0) {
                        int before = table.generation();
                        int inner = portFor(table, "10.0.2.7");
                        int outer = portFor(table, "10.9.9.9");
                        int after = table.generation();
                        // 0.0.0.0/0 has the round's port, and what lies inside it one more.
                        assertThat(inner % 2).isEqualTo(1);
                        assertThat(outer % 2).isZero();
                        if (before == after) {
                            assertThat(inner).isEqualTo(outer + 1);
                        }
                        lookedUp.countDown();
                    }
                    return null;
                }));
            }
            assertThat(lookedUp.await(40, TimeUnit.SECONDS)).isTrue();
            for (int round = 1; round <= 3000; round++) {
                table.replace(generationOfRoutes(round));
            }
            changed.countDown();
            for (Future<?> result : results) {
                result.get(40, TimeUnit.SECONDS);
            }
        } finally {
            changed.countDown();
            readers.shutdownNow();
        }
    }

    private static List<Route> generationOfRoutes(int round) {
        List<Route> routes = new ArrayList<>();
        routes.add(route("0.0.0.0/0", 2 * round));
        for (int i = 0; i < 32 + round % 7; i++) {
            routes.add(route("10.0." + i + ".0/24", 2 * round + 1));
        }
        Collections.shuffle(routes, new Random(round));
        return routes;
    }

    @Test
    void holdsHundredsOfThousandsOfPrefixes() {
        long seed = 7;
        Random random = new Random(seed);
        Map<Prefix, Route> routes = new HashMap<>();
        while (routes.size() < 300_000) {
            int length = 96 + 12 + random.nextInt(21);
            long low = 0xFFFFL << 32 | random.nextLong() & 0xFFFF_FFFFL;
            Prefix prefix = new Prefix(0, low & Prefix.lowMask(length), length);
            routes.put(prefix, new Route(prefix, hop(random.nextInt(30_000))));
        }
        RoutingTable table = new RoutingTable(new ArrayList<>(routes.values()));
        for (int i = 0; i < 100_000; i++) {
            long low = 0xFFFFL << 32 | random.nextLong() & 0xFFFF_FFFFL;
            NextHop expected = null;
            for (int length = 128; length >= 108 && expected == null; length--) {
                Route route = routes.get(new Prefix(0, low & Prefix.lowMask(length), length));
                expected = route == null ? null : route.nextHop();
            }
            if (table.lookup(0, low) != expected) {
                assertThat(table.lookup(0, low))
                        .as("seed %d, round %d", seed, i)
                        .isSameAs(expected);
            }
        }
    }

    @Test
    void refusesMoreNextHopsThanItCanNumberAndStaysAsItIs() {
        RouteSet many = new RouteSet();
        Prefix all = Prefix.parse("0.0.0.0/0");
        for (int port = 1; port <= 32_767; port++) {
            many.put(new Prefix(0, 0xFFFFL << 32 | port, 128), hop(port));
        }
        RoutingTable table = new RoutingTable();
        table.replace(many);

        assertThatThrownBy(() -> table.add(new Route(all, hop(32_768))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("0.0.0.0/0: its next hop is the 32768th different one, and a table has 32767;"
                        + " let routes share next hops");
        assertThat(table.size()).isEqualTo(32_767);
        assertThat(portFor(table, "0.0.0.77")).isEqualTo(77);
        assertThat(portFor(table, "10.0.0.1")).isEqualTo(-1);
    }

    @Test
    void numbersOfNextHopsThatNoRouteHasAreGivenAgain() {
        RoutingTable table = new RoutingTable();
        for (int port = 0; port < 40_000; port++) {
            table.add(route("10.0.0.0/8", port));
        }

        assertThat(portFor(table, "10.1.1.1")).isEqualTo(39_999);
    }

    @Test
    void aRouteWithTheLastNextHopCanBeReplacedByOneWithANewOne() {
        RoutingTable table = new RoutingTable();
        List<Route> routes = new ArrayList<>();
        for (int i = 0; i < HopTable.MAX; i++) {
            routes.add(new Route(new Prefix(0, 0xFFFF_0A00_0000L + i, 128), hop(1 + i)));
        }
        table.replace(routes);

        table.add(route("10.0.0.0/32", 40_000));

        assertThat(portFor(table, "10.0.0.0")).isEqualTo(40_000);
        assertThat(table.size()).isEqualTo(HopTable.MAX);
    }

    @Test
    void nextHopsOfRoutesThatALaterOneReplacesDoNotCount() {
        List<Route> routes = new ArrayList<>();
        for (int i = 0; i <= HopTable.MAX; i++) {
            routes.add(route("10.0.0.0/8", 1 + i));
        }
        assertThat(portFor(new RoutingTable(routes), "10.0.0.0")).isEqualTo(HopTable.MAX + 1);
    }

    @Test
    void saysWhichRouteDecides() {
        RoutingTable table = new RoutingTable(
                List.of(route("::/0", 1), route("10.0.0.0/8", 2), route("10.0.2.7", 3), route("2001:db8::/32", 4)));

        assertThat(table.deciding(0, Prefix.parse("10.0.2.7").low())).isEqualTo(route("10.0.2.7", 3));
        assertThat(table.deciding(0, Prefix.parse("10.0.2.8").low())).isEqualTo(route("10.0.0.0/8", 2));
        assertThat(table.deciding(0, Prefix.parse("11.0.2.8").low())).isNull();
        assertThat(table.deciding(0x2001_0DB8_0000_0000L, 1)).isEqualTo(route("2001:db8::/32", 4));
        assertThat(table.deciding(0, 1)).isEqualTo(route("::/0", 1));
    }

    @Test
    void walksTheRoutesInsideAPrefixByAddress() {
        RoutingTable table = new RoutingTable(
                List.of(route("10.0.2.7", 3), route("::/0", 1), route("10.0.0.0/8", 2), route("11.0.0.0/8", 5)));
        List<Route> inside = new ArrayList<>();
        List<Route> all = new ArrayList<>();
        List<Route> ipv6 = new ArrayList<>();
        table.walk(Prefix.parse("10.0.0.0/7"), null, inside::add);
        table.walk(null, null, all::add);
        table.walk(Prefix.parse("::/0"), null, ipv6::add);

        assertThat(inside).containsExactly(route("10.0.0.0/8", 2), route("10.0.2.7", 3), route("11.0.0.0/8", 5));
        assertThat(all).hasSize(4).last().isEqualTo(route("::/0", 1));
        assertThat(ipv6).containsExactly(route("::/0", 1));
    }

    @Test
    void aWalkGoesOnBehindAnyPrefix() {
        RandomRoutes routes = new RandomRoutes(1);
        RoutingTable table = new RoutingTable();
        while (routes.model.size() < 500) {
            Prefix prefix = routes.prefix();
            routes.put(prefix, routes.hop());
            table.add(new Route(prefix, routes.hop()));
        }
        List<Route> all = table.routes();
        for (int i = 0; i < all.size(); i++) {
            List<Route> behind = new ArrayList<>();
            table.walk(null, all.get(i).prefix(), behind::add);
            assertThat(behind).isEqualTo(all.subList(i + 1, all.size()));
        }
        Route removed = all.get(250);
        table.remove(removed.prefix());
        List<Route> behind = new ArrayList<>();
        table.walk(null, removed.prefix(), route -> behind.add(route) && behind.size() < 10);
        assertThat(behind).isEqualTo(all.subList(251, 261));
    }

    @Test
    void nextHopsOverTlsDifferByTheNameThatTheCertificateIsToHave() throws Exception {
        byte[] address = {10, 0, 0, 1};
        NextHop a = new NextHop(
                InetAddress.getByAddress("a.example", address), 1, NextHop.Transport.TLS, NextHop.Kind.ACTIVE_NODE);
        NextHop b = new NextHop(
                InetAddress.getByAddress("b.example", address), 1, NextHop.Transport.TLS, NextHop.Kind.ACTIVE_NODE);
        RoutingTable table = new RoutingTable();
        table.add(new Route(Prefix.parse("10.1.0.0/16"), a));
        table.add(new Route(Prefix.parse("10.2.0.0/16"), a));
        table.add(new Route(Prefix.parse("10.2.0.0/16"), b));

        InetAddress inside = InetAddress.getByName("10.2.0.1");
        NextHop found = table.lookup(Addresses.high(inside), Addresses.low(inside));
        assertThat(found).isSameAs(b);
    }
}
