package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Routes that come and go while a table stays as large as it is. */
class ChurnTest {
    private static final int ROUTES = 4096;
    private static final NextHop HOP =
            new NextHop(Addresses.of(0, 0xFFFF_7F00_0001L), 1, NextHop.Transport.SAME, NextHop.Kind.HOST);

    /** Host routes of IPv6, each in a /64 of its own: places of /64s that are withdrawn are not used again. */
    private static Route host(long number) {
        return new Route(new Prefix(0x2001_0DB8L << 32 | number, 1, 128), HOP);
    }

    @Test
    void newPrefixesLongerThan64BitsAreRarelyARebuild() {
        RouteSet set = new RouteSet();
        for (int i = 0; i < ROUTES; i++) {
            set.put(host(i).prefix(), HOP);
        }
        RoutingTable table = new RoutingTable();
        table.replace(set);
        int rebuilds = 0;
        for (int i = 0; i < 2 * ROUTES; i++) {
            HopSearch before = table.fib().ipv6;
            table.remove(host(i).prefix());
            table.add(host(ROUTES + i));
            rebuilds += table.fib().ipv6 == before ? 0 : 1;
        }

        assertThat(rebuilds).isBetween(1, 80);
        assertThat(table.lookup(host(3L * ROUTES - 1).prefix().high(), 1)).isEqualTo(HOP);
        assertThat(table.lookup(host(2L * ROUTES - 1).prefix().high(), 1)).isNull();
    }
}
