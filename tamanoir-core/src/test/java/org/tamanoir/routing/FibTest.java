package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/** Tables that are changed in place. {@code -Dtamanoir.fib.updates=1000000} makes more changes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FibTest {
    private static final int UPDATES = Seeds.number("tamanoir.fib.updates", Seeds.scaled(2_500));
    private static final long SEED = Seeds.ofCommit(FibTest.class);

    /** Routes of a large table that tests have in common, which leave model and table equal. */
    private RandomRoutes common;

    private RoutingTable commonTable;

    @BeforeAll
    void makeTable() {
        common = new RandomRoutes(SEED);
        commonTable = largeTable(common, false);
    }

    /** Returns a table that is large in both families, which the model has too. */
    private static RoutingTable largeTable(RandomRoutes routes, boolean isCompact) {
        while (routes.model.size() < 6000) {
            routes.put(routes.prefix(), routes.hop());
        }
        List<Route> list = new ArrayList<>();
        routes.model.forEach((prefix, hop) -> list.add(new Route(prefix, hop)));
        RoutingTable table = new RoutingTable(list, isCompact);
        assertThat(table.fib().ipv4).isInstanceOf(isCompact ? Poptrie.class : Dir24.class);
        assertThat(table.fib().ipv6).isInstanceOf(Poptrie.class);
        return table;
    }

    private static void check(RandomRoutes routes, RoutingTable table, long high, long low) {
        NextHop expected = routes.lookup(high, low);
        if (table.lookup(high, low) != expected) {
            assertThat(table.lookup(high, low))
                    .as("seed %d, address %s", SEED, new Prefix(high, low, 128))
                    .isSameAs(expected);
        }
    }

    /** Compares the first and the last address of a prefix, and those beside it. */
    private static void checkBoundaries(RandomRoutes routes, RoutingTable table, Prefix prefix) {
        long lastHigh = prefix.high() | ~Prefix.highMask(prefix.length());
        long lastLow = prefix.low() | ~Prefix.lowMask(prefix.length());
        check(routes, table, prefix.high(), prefix.low());
        check(routes, table, lastHigh, lastLow);
        check(routes, table, prefix.low() == 0 ? prefix.high() - 1 : prefix.high(), prefix.low() - 1);
        check(routes, table, lastLow == -1 ? lastHigh + 1 : lastHigh, lastLow + 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void agreesWithThePlainModelAfterEachChange(boolean isCompact) {
        RandomRoutes routes = new RandomRoutes(SEED);
        Random random = new Random(SEED);
        RoutingTable table = largeTable(routes, isCompact);
        List<Prefix> known = new ArrayList<>(routes.model.keySet());
        for (int i = 0; i < UPDATES; i++) {
            int at = random.nextInt(known.size());
            Prefix prefix = known.get(at);
            if (random.nextBoolean()) {
                assertThat(table.remove(prefix)).isEqualTo(routes.remove(prefix));
                Prefix next = routes.prefix();
                known.set(at, next);
                checkBoundaries(routes, table, prefix);
                prefix = next;
            }
            // Often short prefixes would cost minutes: they are tried below.
            if (prefix.length() % 96 > 16 || random.nextInt(300) == 0) {
                NextHop hop = routes.hop();
                routes.put(prefix, hop);
                table.add(new Route(prefix, hop));
                checkBoundaries(routes, table, prefix);
            }
        }
        assertThat(table.size()).isEqualTo(routes.model.size());
        for (Prefix prefix : routes.model.keySet()) {
            checkBoundaries(routes, table, prefix);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void agreesWithThePlainModelAfterManyChangesAtOnce(boolean isCompact) {
        RandomRoutes routes = new RandomRoutes(SEED);
        Random random = new Random(SEED);
        RoutingTable table = largeTable(routes, isCompact);
        List<Prefix> known = new ArrayList<>(routes.model.keySet());
        known.add(Prefix.parse("0.0.0.0/0"));
        known.add(Prefix.parse("::/0"));
        for (int batch = 0; batch < 20; batch++) {
            int generation = table.generation();
            List<Route> put = new ArrayList<>();
            List<Prefix> removed = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                Prefix prefix = known.get(i < 2 ? known.size() - 1 - i : random.nextInt(known.size()));
                if (random.nextBoolean()) {
                    removed.add(prefix);
                }
                if (random.nextBoolean()) {
                    put.add(new Route(prefix, routes.hop()));
                }
            }
            removed.forEach(routes::remove);
            put.forEach(route -> routes.put(route.prefix(), route.nextHop()));
            table.change(put, removed);
            assertThat(table.generation()).isEqualTo(generation + 1);
            removed.forEach(prefix -> checkBoundaries(routes, table, prefix));
            put.forEach(route -> checkBoundaries(routes, table, route.prefix()));
        }
        assertThat(table.size()).isEqualTo(routes.model.size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void batchesFindWhatSingleLookUpsFind(boolean isCompact) {
        RandomRoutes routes = new RandomRoutes(SEED);
        RoutingTable table = largeTable(routes, isCompact);
        table.change(
                List.of(
                        new Route(Prefix.parse("0.0.0.0/0"), routes.hop()),
                        new Route(Prefix.parse("::/0"), routes.hop())),
                List.of());
        Fib fib = table.fib();
        int n = 1000;
        int[] addresses = new int[n];
        long[] highs = new long[n];
        long[] lows = new long[n];
        for (int i = 0; i < n; i++) {
            addresses[i] = (int) routes.prefix().low();
            Prefix ipv6 = routes.prefix();
            highs[i] = ipv6.high() | 1L << 62;
            lows[i] = ipv6.low();
        }
        char[] hops4 = new char[n];
        char[] hops6 = new char[n];
        fib.lookup4(addresses, hops4, n);
        fib.lookup6(highs, lows, hops6, n);
        for (int i = 0; i < n; i++) {
            assertThat((int) hops4[i]).isEqualTo(fib.lookup(0, 0xFFFFL << 32 | addresses[i] & 0xFFFF_FFFFL));
            assertThat((int) hops6[i]).isEqualTo(fib.lookup6(highs[i], lows[i]));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0/0",
                "10.0.0.0/31",
                "10.0.0.7/32",
                "10.0.0.0/24",
                "10.0.0.0/8",
                "::/0",
                "2001:db8::/127",
                "2001:db8::1/128",
                "2001:db8::/64",
                "2001::/20",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
                "255.255.255.255/32",
                "::ffff:10.7.0.0/112",
                "::/128",
                "::fffe:0:0/96",
                "::/1"
            })
    void aPrefixOfEachKindComesAndGoes(String text) {
        Prefix prefix = Prefix.parse(text);
        for (int round = 0; round < 3; round++) {
            NextHop hop = common.hop();
            common.put(prefix, hop);
            commonTable.add(new Route(prefix, hop));
            checkBoundaries(common, commonTable, prefix);
            commonTable.remove(prefix);
            common.remove(prefix);
            checkBoundaries(common, commonTable, prefix);
        }
        for (Prefix other : common.model.keySet()) {
            checkBoundaries(common, commonTable, other);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.0/12 10.0.0.0/16 10.0.0.0/24 10.0.0.0/31 10.0.0.0/32",
                "10.0.0.0/15 10.1.0.0/23 10.1.1.0/24 10.1.1.128/25 10.1.1.255/32",
                "2001:db8::/21 2001:db8::/32 2001:db8::/64 2001:db8::/127 2001:db8::/128",
                "2001:db8::/26 2001:db8:0:8000::/49 2001:db8:0:8001::/64 2001:db8:0:8001:8000::/65 2001:db8:0:8001:8000::/128"
            })
    void nestedPrefixesAreWithdrawnInEveryOrder(String texts) {
        List<Prefix> nested = Stream.of(texts.split(" ")).map(FibTest::masked).toList();
        withdraw(common, commonTable, nested, new ArrayList<>());
    }

    private static Prefix masked(String text) {
        Prefix address = Prefix.parse(text.substring(0, text.indexOf('/')));
        int length = Integer.parseInt(text.substring(text.indexOf('/') + 1)) + (text.contains(":") ? 0 : 96);
        return new Prefix(address.high() & Prefix.highMask(length), address.low() & Prefix.lowMask(length), length);
    }

    /** Withdraws those of an order that are not gone yet, in every order, after all have been announced. */
    private static void withdraw(RandomRoutes routes, RoutingTable table, List<Prefix> nested, List<Prefix> gone) {
        if (gone.size() < nested.size()) {
            for (Prefix next : nested) {
                if (!gone.contains(next)) {
                    List<Prefix> more = new ArrayList<>(gone);
                    more.add(next);
                    withdraw(routes, table, nested, more);
                }
            }
            return;
        }
        for (Prefix prefix : nested) {
            NextHop hop = routes.hop();
            routes.put(prefix, hop);
            table.add(new Route(prefix, hop));
        }
        for (Prefix prefix : gone) {
            routes.remove(prefix);
            table.remove(prefix);
            nested.forEach(each -> checkBoundaries(routes, table, each));
        }
    }

    private static NextHop[] oneByOne(RoutingTable table, List<Prefix> addresses) {
        return addresses.stream()
                .map(address -> table.lookup(address.high(), address.low()))
                .toArray(NextHop[]::new);
    }

    private static NextHop[] batch(Fib fib, List<Prefix> addresses) {
        int n = addresses.size();
        char[] ipv4 = new char[n];
        char[] ipv6 = new char[n];
        fib.lookup4(addresses.stream().mapToInt(address -> (int) address.low()).toArray(), ipv4, n);
        fib.lookup6(
                addresses.stream().mapToLong(Prefix::high).toArray(),
                addresses.stream().mapToLong(Prefix::low).toArray(),
                ipv6,
                n);
        NextHop[] found = new NextHop[n];
        for (int i = 0; i < n; i++) {
            found[i] = fib.hop(addresses.get(i).isIpv4() ? ipv4[i] : ipv6[i]);
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readersSeeTheOldAnswerOrTheNewOne(boolean isCompact) throws Exception {
        int changes = UPDATES / 5;
        RandomRoutes routes = new RandomRoutes(SEED);
        Random random = new Random(SEED);
        RoutingTable table = largeTable(routes, isCompact);
        List<Prefix> moving = new ArrayList<>(List.of(Prefix.parse("0.0.0.0/0"), Prefix.parse("::/0")));
        while (moving.size() < 40) {
            Prefix prefix = routes.prefix();
            if (prefix.length() % 96 > 12) {
                moving.add(prefix);
            }
        }
        // What each address leads to after each change.
        Route[] steps = new Route[changes];
        boolean[] withdrawn = new boolean[changes];
        Object[][] answers = new Object[changes + 1][moving.size()];
        for (int step = 0; step <= changes; step++) {
            for (int i = 0; i < moving.size(); i++) {
                answers[step][i] =
                        routes.lookup(moving.get(i).high(), moving.get(i).low());
            }
            if (step < changes) {
                Prefix prefix = moving.get(random.nextInt(moving.size()));
                steps[step] = new Route(prefix, routes.hop());
                withdrawn[step] = routes.remove(prefix);
                if (!withdrawn[step]) {
                    routes.put(prefix, steps[step].nextHop());
                }
            }
        }
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        ExecutorService readers = Executors.newFixedThreadPool(2);
        try {
            List<Future<?>> results = new ArrayList<>();
            for (boolean inBatches : new boolean[] {false, true}) {
                results.add(readers.submit(() -> {
                    while (done.get() < changes) {
                        int first = done.get();
                        NextHop[] found = inBatches ? batch(table.fib(), moving) : oneByOne(table, moving);
                        int last = begun.get();
                        for (int i = 0; i < found.length; i++) {
                            boolean right = false;
                            for (int step = first; step <= last; step++) {
                                right |= answers[step][i] == found[i];
                            }
                            if (!right) {
                                throw new AssertionError("seed " + SEED + ", " + moving.get(i) + " led to " + found[i]
                                        + " from change " + first + " to " + last);
                            }
                        }
                    }
                    return null;
                }));
            }
            for (int step = 0; step < changes; step++) {
                begun.incrementAndGet();
                if (withdrawn[step]) {
                    table.remove(steps[step].prefix());
                } else {
                    table.add(steps[step]);
                }
                done.incrementAndGet();
            }
            for (Future<?> result : results) {
                result.get(40, TimeUnit.SECONDS);
            }
        } finally {
            done.set(changes);
            readers.shutdownNow();
        }
    }
}
