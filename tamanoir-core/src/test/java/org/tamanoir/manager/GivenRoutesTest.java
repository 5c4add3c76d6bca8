package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;

class GivenRoutesTest {
    private static final NextHop HOP = new NextHop(null, 0, NextHop.Transport.SAME, NextHop.Kind.HOST);

    private final RoutingTable table = new RoutingTable();
    private final GivenRoutes given = new GivenRoutes(table);

    private static Route route(String prefix) {
        return new Route(Prefix.parse(prefix), HOP);
    }

    private void put(Route route) {
        table.add(route);
        given.add(route.prefix());
    }

    private void load(String... prefixes) {
        RouteSet routes = new RouteSet();
        for (String prefix : prefixes) {
            routes.put(Prefix.parse(prefix), HOP);
        }
        table.replace(routes);
    }

    @Test
    void theConfigurationsRoutesAreThoseGivenAndAFilesAreCounted() {
        load("10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8");
        given.replace(List.of(route("11.0.0.0/8")), "/rib\n.gz");

        assertThat(given.inForce()).containsExactly(route("11.0.0.0/8"));
        assertThat(given.others(false)).isEqualTo("besides 2 routes of /rib?.gz: GET /v1/routes lists them");
    }

    @Test
    void aRouteThatWasPutIsGivenUntilItIsRemoved() {
        put(route("10.0.0.0/8"));
        assertThat(given.inForce()).containsExactly(route("10.0.0.0/8"));
        assertThat(given.others(false)).isEmpty();

        table.remove(Prefix.parse("10.0.0.0/8"));
        given.remove(Prefix.parse("10.0.0.0/8"));
        put(route("11.0.0.0/8"));
        assertThat(given.inForce()).containsExactly(route("11.0.0.0/8"));
    }

    @Test
    void aRouteThatAFileHasReplacedIsNotGiven() {
        put(route("10.0.0.0/8"));
        load("10.0.0.0/8");
        given.replace(List.of(), "rib");

        assertThat(given.inForce()).isEmpty();
        assertThat(given.others(true)).isEqualTo("besides 1 routes of rib, of the feed: GET /v1/routes lists them");
    }

    @Test
    void routesThatWerePutAreCountedBeyondABound() {
        for (int i = 0; i < 5_000; i++) {
            put(route("10." + (i >> 8) + "." + (i & 0xFF) + ".0/24"));
        }

        assertThat(given.inForce()).hasSize(4_096);
        assertThat(given.others(false))
                .isEqualTo("besides 904 routes put while the node runs: GET /v1/routes lists them");
    }
}
