package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class RouteFeedTest {
    private static final String PREFIX = "10.0.0.0/24";

    private final RoutingTable table = new RoutingTable();
    /** The last number of a gateway is its next hop's port; those above 9 have none. */
    private final RouteFeed feed = table.feed(hops());

    private static Map<String, NextHop> hops() {
        Map<String, NextHop> hops = new HashMap<>();
        for (int i = 1; i < 10; i++) {
            hops.put("192.0.2." + i, hop(i));
        }
        hops.put("fe80::1%eth1", hop(11));
        hops.put("eth2", hop(12));
        return hops;
    }

    private static NextHop hop(int port) {
        return new NextHop(InetAddress.getLoopbackAddress(), port, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);
    }

    private static FeedPath path(long metric, String gateway, String device) {
        try {
            return new FeedPath(metric, gateway.isEmpty() ? null : InetAddress.getByName(gateway), device);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static List<FeedPath> by(int gateway) {
        return List.of(path(32, "192.0.2." + gateway, "eth0"));
    }

    private void announce(String prefix, List<FeedPath> paths) {
        feed.announce(Prefix.parse(prefix), paths);
        feed.apply();
    }

    private boolean withdraw(String prefix, List<FeedPath> paths) {
        boolean isKnown = feed.withdraw(Prefix.parse(prefix), paths);
        feed.apply();
        return isKnown;
    }

    /** Port of the next hop, and {@code f} of the feed or {@code o} of an operator; empty = there is no route. */
    private String route(String prefix) {
        Route route = table.get(Prefix.parse(prefix));
        return route == null
                ? ""
                : (route.isFed() ? "f" : "o") + route.nextHop().port();
    }

    @Test
    void aRouteComesAndGoes() {
        announce(PREFIX, by(1));
        assertThat(route(PREFIX)).isEqualTo("f1");
        assertThat(withdraw(PREFIX, by(1))).isTrue();
        assertThat(table.size()).isZero();
    }

    @Test
    void anOperatorsRouteHidesTheFeedsUntilItGoes() {
        announce(PREFIX, by(1));
        table.add(new Route(Prefix.parse(PREFIX), hop(7)));
        assertThat(route(PREFIX)).isEqualTo("o7");

        announce(PREFIX, by(2));
        assertThat(route(PREFIX)).isEqualTo("o7");

        table.remove(Prefix.parse(PREFIX));
        assertThat(route(PREFIX)).isEqualTo("f1");
    }

    @Test
    void aRouteThatWasWithdrawnUnderAnOperatorsDoesNotComeBack() {
        announce(PREFIX, by(1));
        table.add(new Route(Prefix.parse(PREFIX), hop(7)));
        withdraw(PREFIX, by(1));
        assertThat(route(PREFIX)).isEqualTo("o7");

        table.remove(Prefix.parse(PREFIX));
        assertThat(table.size()).isZero();
    }

    @Test
    void anOperatorDoesNotRemoveTheFeeds() {
        announce(PREFIX, by(1));
        assertThat(table.remove(Prefix.parse(PREFIX))).isFalse();
        assertThat(route(PREFIX)).isEqualTo("f1");
    }

    @Test
    void allOfTheOperatorsRoutesAreReplacedAndTheFeedsStay() {
        announce(PREFIX, by(1));
        announce("10.0.1.0/24", by(2));
        table.add(new Route(Prefix.parse("10.0.2.0/24"), hop(7)));

        table.replace(List.of(new Route(Prefix.parse(PREFIX), hop(8))));

        assertThat(table.size()).isEqualTo(2);
        assertThat(route(PREFIX)).isEqualTo("o8");
        assertThat(route("10.0.1.0/24")).isEqualTo("f2");
    }

    @Test
    void theLowestMetricCountsWhateverCameFirst() {
        announce(PREFIX, List.of(path(50, "192.0.2.1", "eth0")));
        announce(PREFIX, List.of(path(20, "192.0.2.2", "eth0")));
        announce(PREFIX, List.of(path(0xFFFF_FFFFL, "192.0.2.3", "eth0")));
        assertThat(route(PREFIX)).isEqualTo("f2");

        withdraw(PREFIX, List.of(path(20, "192.0.2.2", "eth0")));
        assertThat(route(PREFIX)).isEqualTo("f1");
    }

    @Test
    void ofPathsWithOneMetricTheLowestGatewayWithANextHopCounts() {
        announce(
                PREFIX,
                List.of(
                        path(32, "192.0.2.3", "eth0"),
                        path(32, "192.0.1.200", "eth0"),
                        path(32, "192.0.2.2", "eth0"),
                        path(32, "192.0.2.200", "eth0")));
        assertThat(route(PREFIX)).isEqualTo("f2");
    }

    @Test
    void aReplacementTakesThePlaceOfItsMetricAlone() {
        announce(PREFIX, by(1));
        announce(PREFIX, List.of(path(33, "192.0.2.9", "eth0")));
        feed.replace(Prefix.parse(PREFIX), 32, by(2));
        feed.apply();
        assertThat(route(PREFIX)).isEqualTo("f2");

        withdraw(PREFIX, by(2));
        assertThat(route(PREFIX)).isEqualTo("f9");
    }

    @Test
    void aGatewayIsFoundByItsAddressAndDeviceItsAddressOrItsDevice() {
        announce("fd00:1::/32", List.of(path(1, "fe80::1", "eth1")));
        announce("fd00:2::/32", List.of(path(1, "fe80::1", "eth2")));
        announce("fd00:3::/32", List.of(path(1, "", "eth2")));
        announce("fd00:4::/32", List.of(path(1, "fe80::1", "eth3")));

        assertThat(List.of(route("fd00:1::/32"), route("fd00:2::/32"), route("fd00:3::/32"), route("fd00:4::/32")))
                .containsExactly("f11", "f12", "f12", "");
    }

    @Test
    void routesWithoutANextHopAreCountedByGateway() {
        announce("10.0.0.0/24", by(20));
        announce("10.0.1.0/24", by(20));
        announce("10.0.2.0/24", by(21));
        announce("10.0.3.0/24", List.of(path(1, "", "")));
        announce("10.0.4.0/24", by(1));

        assertThat(table.size()).isOne();
        FeedStatus status = feed.status();
        assertThat(status.routes()).isEqualTo(5);
        assertThat(status.unmapped()).isEqualTo(3);
        assertThat(status.unmappedGateways()).isEqualTo(Map.of("192.0.2.20%eth0", 2, "192.0.2.21%eth0", 1));

        withdraw("10.0.0.0/24", by(20));
        withdraw("10.0.1.0/24", by(20));
        assertThat(feed.status().unmappedGateways()).isEqualTo(Map.of("192.0.2.21%eth0", 1));
    }

    @Test
    void aDefaultTakesAllGatewaysThatAreNotNamedButNoUnreachableOnes() {
        RoutingTable other = new RoutingTable();
        RouteFeed named = other.feed(Map.of("default", hop(1), "192.0.2.2", hop(2)));
        named.announce(Prefix.parse("10.0.0.0/24"), by(2));
        named.announce(Prefix.parse("10.0.1.0/24"), by(77));
        named.announce(Prefix.parse("10.0.2.0/24"), List.of(path(1, "", "")));
        named.apply();

        assertThat(other.routes().stream().map(route -> route.nextHop().port())).containsExactly(2, 1);
    }

    @Test
    void aBatchIsOneChange() {
        int before = table.generation();
        for (int i = 0; i < 100; i++) {
            feed.announce(Prefix.parse("10.0." + i + ".0/24"), by(1));
        }
        assertThat(table.size()).isZero();
        feed.apply();

        assertThat(table.size()).isEqualTo(100);
        assertThat(table.generation()).isEqualTo(before + 1);
    }

    @Test
    void aReadingChangesNothingUntilItEndsThenWhatDiffers() {
        announce("10.0.0.0/24", by(1));
        announce("10.0.1.0/24", by(1));
        announce("10.0.2.0/24", by(1));

        feed.beginReading();
        feed.list(Prefix.parse("10.0.1.0/24"), by(2));
        feed.list(Prefix.parse("10.0.2.0/24"), by(1));
        feed.list(Prefix.parse("10.0.3.0/24"), by(3));
        feed.apply();
        assertThat(table.size()).isEqualTo(3);
        long changes = feed.status().changes();
        feed.endReading(true);

        assertThat(List.of(route("10.0.0.0/24"), route("10.0.1.0/24"), route("10.0.2.0/24"), route("10.0.3.0/24")))
                .containsExactly("", "f2", "f1", "f3");
        assertThat(feed.status().changes() - changes).isEqualTo(3);
    }

    @Test
    void aReadingThatSaysTheSameChangesNothing() {
        announce(PREFIX, by(1));
        int before = table.generation();
        feed.beginReading();
        feed.list(Prefix.parse(PREFIX), by(1));
        feed.endReading(true);
        assertThat(table.generation()).isEqualTo(before);
    }

    @Test
    void whatWasAnnouncedBeforeAReadingIsGoneWhereItIsNotListed() {
        feed.announce(Prefix.parse(PREFIX), by(1));
        feed.beginReading();
        feed.endReading(true);
        assertThat(table.size()).isZero();
    }

    @Test
    void whereTheListOfIpv6IsNotWholeItsRoutesStayUnlessTheyWereWithdrawn() {
        List<FeedPath> paths = List.of(path(1, "", "eth2"));
        for (String prefix : List.of("fd00::/32", "fd01::/32", PREFIX)) {
            announce(prefix, paths);
        }
        feed.beginReading();
        feed.list(Prefix.parse("fd02::/32"), paths);
        feed.withdraw(Prefix.parse("fd01::/32"), paths);
        assertThat(feed.endReading(false)).isEqualTo(3);
        assertThat(List.of(route("fd00::/32"), route("fd01::/32"), route("fd02::/32"), route(PREFIX)))
                .containsExactly("f12", "", "f12", "");

        feed.beginReading();
        feed.list(Prefix.parse("fd02::/32"), paths);
        feed.endReading(true);
        assertThat(table.routes()).hasSize(1);
    }

    @Test
    void theListTakesThePlaceOfAllPathsThatAPrefixHad() {
        announce(PREFIX, List.of(path(20, "192.0.2.1", "eth0")));
        announce(PREFIX, List.of(path(30, "192.0.2.2", "eth0")));
        feed.beginReading();
        feed.list(Prefix.parse(PREFIX), List.of(path(30, "192.0.2.2", "eth0")));
        feed.list(Prefix.parse(PREFIX), List.of(path(40, "192.0.2.3", "eth0")));
        feed.endReading(false);
        assertThat(route(PREFIX)).isEqualTo("f2");

        withdraw(PREFIX, List.of(path(30, "192.0.2.2", "eth0")));
        assertThat(route(PREFIX)).isEqualTo("f3");
    }

    @Test
    void aListMayKnowWhatIsAnnouncedAndWithdrawnBehindIt() {
        announce(PREFIX, by(1));
        feed.beginReading();
        feed.list(Prefix.parse(PREFIX), by(2));
        assertThat(feed.withdraw(Prefix.parse(PREFIX), by(1))).isTrue();
        feed.announce(Prefix.parse(PREFIX), by(2));
        feed.endReading(true);
        assertThat(route(PREFIX)).isEqualTo("f2");
        assertThat(withdraw(PREFIX, by(2))).isTrue();
    }

    @Test
    void aRouteOfAnotherInItsPlaceTakesItAway() {
        announce(PREFIX, by(1));
        announce(PREFIX, List.of(path(33, "192.0.2.9", "eth0")));
        assertThat(feed.replace(Prefix.parse(PREFIX), 32, List.of())).isTrue();
        feed.apply();
        assertThat(route(PREFIX)).isEqualTo("f9");
    }

    @Test
    void ofSeveralRoutesWithOneMetricOneThatGoesLeavesTheOthersInDoubt() {
        announce(PREFIX, by(1));
        announce(PREFIX, by(1));
        announce("10.0.1.0/24", by(1));
        announce("10.0.1.0/24", by(2));
        assertThat(withdraw(PREFIX, by(1))).isFalse();
        assertThat(feed.replace(Prefix.parse("10.0.1.0/24"), 32, by(3))).isFalse();
    }

    @Test
    void severalRoutesWithOneMetricInAListAreKnown() {
        feed.beginReading();
        feed.list(Prefix.parse(PREFIX), by(1));
        feed.list(Prefix.parse(PREFIX), by(1));
        feed.endReading(true);
        assertThat(withdraw(PREFIX, by(1))).isFalse();
    }

    @Test
    void anIpv6RouteThatGetsAnotherPathIsOne() {
        List<FeedPath> paths = List.of(path(1, "fe80::1", "eth1"), path(1, "fe80::1", "eth2"));
        announce("fd00::/32", paths.subList(0, 1));
        announce("fd00::/32", paths);
        assertThat(withdraw("fd00::/32", paths.subList(0, 1))).isTrue();
        assertThat(route("fd00::/32")).isEqualTo("f12");
    }

    @Test
    void morePathsThanAPrefixMayHaveAreLeftOut() {
        for (int i = 0; i < 300; i++) {
            announce(PREFIX, List.of(path(1_000 - i, "192.0.2.1", "eth0")));
        }
        assertThat(feed.status().leftOut()).isEqualTo(44);
        assertThat(feed.status().why()).isEqualTo("10.0.0.0/24: more than 256 paths");
    }

    @Test
    void aGatewayChangesThoughAllSetsAreTaken() {
        for (int i = 0; i < 1 << 16; i++) {
            feed.announce(new Prefix(0, 0xFFFF_0A00_0000L + i, 128), List.of(path(i, "192.0.2.1", "eth0")));
        }
        feed.apply();
        assertThat(feed.replace(new Prefix(0, 0xFFFF_0A00_0000L, 128), 0, List.of(path(0, "192.0.2.2", "eth0"))))
                .isTrue();
        feed.apply();
        assertThat(route("10.0.0.0/32")).isEqualTo("f2");
        assertThat(feed.status().leftOut()).isZero();
    }

    @Test
    void aPathThatItDidNotKnowOfAKnownPrefixIsInDoubt() {
        announce(PREFIX, by(1));
        assertThat(withdraw(PREFIX, by(2))).isFalse();
        assertThat(withdraw("10.0.9.0/24", by(2))).isTrue();
        assertThat(route(PREFIX)).isEqualTo("f1");
    }

    @Test
    void routesStayWhenItFails() {
        announce(PREFIX, by(1));
        feed.failed("no memory");
        assertThat(route(PREFIX)).isEqualTo("f1");
        assertThat(feed.status().fault()).isEqualTo("no memory");
    }

    @Test
    void changesASecondAreThoseOfTheLastTen() {
        long[] nowNs = {5_000_000_000L};
        RouteFeed timed = new RouteFeed(new RoutingTable(), hops(), () -> nowNs[0]);
        for (int i = 0; i < 30; i++) {
            timed.announce(Prefix.parse("10.0." + i + ".0/24"), by(1));
        }
        timed.apply();

        nowNs[0] += 1_000_000_000L;
        assertThat(timed.status().changesPerSecond()).isEqualTo(3);
        nowNs[0] += 9_000_000_000L;
        assertThat(timed.status().changesPerSecond()).isEqualTo(3);
        nowNs[0] += 1_000_000_000L;
        assertThat(timed.status().changesPerSecond()).isZero();
        assertThat(timed.status().changes()).isEqualTo(30);
    }

    @Test
    void aTableHasOneFeed() {
        assertThatThrownBy(() -> table.feed(Map.of())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void itsNextHopsHaveNumbersWhateverOperatorsTake() {
        List<Route> routes = new ArrayList<>();
        for (int i = 0; i <= HopTable.MAX - hops().size(); i++) {
            routes.add(new Route(new Prefix(0, 0xFFFF_0A00_0000L + i, 128), hop(1 + i)));
        }
        assertThatThrownBy(() -> table.replace(routes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("with the 11 of the feed there are more than 32767");
        assertThat(table.size()).isZero();

        table.replace(routes.subList(0, routes.size() - 1));
        announce("fd00::/32", by(9));
        assertThat(route("fd00::/32")).isEqualTo("f9");
    }

    /** Past 2,048 prefixes, where look-ups change in place, and back. */
    @Test
    void agreesWithAPlainModelWhateverOperatorsAndTheFeedDo() {
        long seed = Seeds.ofCommit(RouteFeedTest.class);
        Random random = new Random(seed);
        Map<Prefix, NextHop> own = new HashMap<>();
        Map<Prefix, Integer> fed = new HashMap<>();
        List<Prefix> prefixes = new ArrayList<>();
        for (int i = 0; i < 4_000; i++) {
            prefixes.add(new Prefix(0, 0xFFFF_0A00_0000L | (long) i << 12, 96 + 20));
            if (i % 8 == 0) {
                prefixes.add(new Prefix(0x2001_0DB8_0000_0000L | i, 0, 64));
            }
        }
        int largest = 0;
        int smallestAfter = Integer.MAX_VALUE;
        for (int round = 0; round < 100; round++) {
            boolean grows = round % 50 < 20;
            for (int i = 0; i < 400; i++) {
                Prefix prefix = prefixes.get(random.nextInt(prefixes.size()));
                Integer gateway = fed.get(prefix);
                if (random.nextInt(10) < (grows ? 8 : 1)) {
                    int next = 1 + random.nextInt(10); // 10 has no next hop
                    feed.replace(prefix, 32, by(next));
                    fed.put(prefix, next);
                } else if (gateway != null) {
                    assertThat(feed.withdraw(prefix, by(gateway))).isTrue();
                    fed.remove(prefix);
                }
            }
            change(random, own, prefixes.get(random.nextInt(prefixes.size())));
            if (random.nextInt(10) == 0) {
                feed.beginReading();
                fed.forEach((prefix, gateway) -> feed.list(prefix, by(gateway)));
                feed.endReading(true);
            }
            feed.apply();
            check("seed " + seed + ", round " + round, own, fed);
            largest = Math.max(largest, table.size());
            smallestAfter = grows ? table.size() : Math.min(smallestAfter, table.size());
        }
        assertThat(largest).isGreaterThan(2_600);
        assertThat(smallestAfter).isLessThan(1_024);
    }

    private void change(Random random, Map<Prefix, NextHop> own, Prefix prefix) {
        if (random.nextInt(20) == 0) {
            own.values().removeIf(hop -> random.nextBoolean());
            table.replace(own.entrySet().stream()
                    .map(each -> new Route(each.getKey(), each.getValue()))
                    .toList());
        } else if (random.nextInt(3) > 0) {
            own.put(prefix, hop(100));
            table.add(new Route(prefix, hop(100)));
        } else {
            assertThat(table.remove(prefix)).isEqualTo(own.remove(prefix) != null);
        }
    }

    private void check(String round, Map<Prefix, NextHop> own, Map<Prefix, Integer> fed) {
        Map<String, Route> expected = new TreeMap<>();
        fed.forEach((prefix, gateway) -> {
            if (gateway < 10) {
                expected.put(prefix.toString(), new Route(prefix, hop(gateway), true));
            }
        });
        own.forEach((prefix, hop) -> expected.put(prefix.toString(), new Route(prefix, hop)));
        Map<String, Route> found = new TreeMap<>();
        for (Route route : table.routes()) {
            found.put(route.prefix().toString(), route);
            @Nullable
            NextHop hop = table.lookup(route.prefix().high(), route.prefix().low() | 1);
            assertThat(hop).as(round).isEqualTo(route.nextHop());
        }
        assertThat(found).as(round).isEqualTo(expected);
    }
}
