package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.StreamInfo;

class NextHopResolverTest {
    private final RoutingTable routes = new RoutingTable();
    private final NextHopResolver forwarder = new NextHopResolver(routes);

    private void route(String prefix, String host, int port, NextHop.Transport transport) {
        routes.add(new Route(
                Prefix.parse(prefix),
                new NextHop(host.isEmpty() ? null : UdpTestNode.address(host), port, transport, NextHop.Kind.HOST)));
    }

    private RouteCacheEntry resolve(String host, int port, StreamInfo.Transport arrival) {
        InetSocketAddress destination = UdpTestNode.at(host, port);
        long high = Addresses.high(destination.getAddress());
        long low = Addresses.low(destination.getAddress());
        NextHop next = Objects.requireNonNull(routes.lookup(high, low));
        return forwarder.resolve(next, high, low, destination.getPort(), arrival);
    }

    private RouteCacheEntry resolve(String host, int port) {
        return resolve(host, port, StreamInfo.Transport.UDP);
    }

    @Test
    void takesThePortOfTheRouteElseThePacketsElseTheDefault() {
        route("10.1.0.0/16", "192.0.2.1", 77, NextHop.Transport.SAME);
        route("10.2.0.0/16", "192.0.2.2", 0, NextHop.Transport.SAME);
        route("10.3.0.0/16", "", 0, NextHop.Transport.SAME);
        assertThat(resolve("10.1.2.3", 9).address).isEqualTo(UdpTestNode.at("192.0.2.1", 77));
        assertThat(resolve("10.2.2.3", 9).address).isEqualTo(UdpTestNode.at("192.0.2.2", 9));
        assertThat(resolve("10.2.2.3", 0).address).isEqualTo(UdpTestNode.at("192.0.2.2", 3322));
        assertThat(resolve("10.3.2.3", 9).address).isEqualTo(UdpTestNode.at("10.3.2.3", 9));
    }

    @ParameterizedTest
    @CsvSource({"SAME,UDP,true", "SAME,TCP,false", "UDP,TCP,true", "TCP,UDP,false"})
    void takesTheTransportOfTheRouteElseOfTheArrival(
            NextHop.Transport transport, StreamInfo.Transport arrival, boolean isUdp) {
        route("10.0.0.0/8", "192.0.2.1", 77, transport);
        RouteCacheEntry hop = resolve("10.0.0.1", 9, arrival);
        assertThat(hop.isUdp).isEqualTo(isUdp);
        assertThat(hop.maxBytes).isEqualTo(isUdp ? 65_507 : 65_535);
    }

    @Test
    void keepsAddressesOfBothFamiliesAsTheyAre() {
        route("::/0", "", 0, NextHop.Transport.UDP);
        route("0.0.0.0/0", "", 0, NextHop.Transport.UDP);
        for (String host : new String[] {"2001:db8::1", "255.255.255.254", "::1", "127.0.0.1", "fe80::1"}) {
            RouteCacheEntry hop = resolve(host, 5);
            assertThat(hop.address).isEqualTo(UdpTestNode.at(host, 5));
            assertThat(Addresses.of(hop.high, hop.low)).isEqualTo(UdpTestNode.address(host));
            assertThat(hop.maxBytes).isEqualTo(host.contains(":") ? 65_487 : 65_507);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, UDP, 127.0.0.1, LOCAL",
        "127.0.0.1, UDP, 127.0.0.2,",
        "127.0.0.1, UDP, 0.0.0.0, LOCAL",
        "127.0.0.1, TCP, 127.0.0.1,",
        "0.0.0.0, UDP, 127.0.0.1, LOCAL",
        "0.0.0.0, UDP, 127.8.8.8, LOCAL",
        "0.0.0.0, UDP, 192.0.2.1,",
        "0.0.0.0, UDP, 0.0.0.0, LOCAL",
        "::, UDP, ::1, LOCAL",
        "::1, UDP, ::, LOCAL",
        // A UDP socket on [::] takes IPv6 alone: another program may have the IPv4 port.
        "::, UDP, 127.0.0.1,",
        "0.0.0.0, UDP, ::1,",
    })
    void endsPacketsForTheNodeItself(String bound, StreamInfo.Transport transport, String target, DropReason reason) {
        route("0.0.0.0/0", "", 0, NextHop.Transport.UDP);
        route("::/0", "", 0, NextHop.Transport.UDP);
        forwarder.own(transport, UdpTestNode.at(bound, 4_000));
        assertThat(resolve(target, 4_000).refusal).isEqualTo(reason);
        assertThat(resolve(target, 4_001).refusal).isNull();
    }

    @Test
    void aTcpListenerOnAllIpv6AddressesTakesIpv4AsWell() {
        route("0.0.0.0/0", "", 0, NextHop.Transport.TCP);
        forwarder.own(StreamInfo.Transport.TCP, UdpTestNode.at("::", 4_000));
        assertThat(resolve("127.0.0.1", 4_000).refusal).isEqualTo(DropReason.LOCAL);
        assertThat(resolve("192.0.2.1", 4_000).refusal).isNull();
    }

    /** The numbers are of no interface here; nothing is sent. */
    @Test
    void aLinkLocalAddressIsOwnOnItsInterfaceAlone() {
        forwarder.own(StreamInfo.Transport.UDP, UdpTestNode.at("fe80::1%70001", 5));
        route("10.1.0.0/16", "fe80::1%70001", 5, NextHop.Transport.SAME);
        route("10.2.0.0/16", "fe80::1%70002", 5, NextHop.Transport.SAME);
        assertThat(resolve("10.1.0.1", 9).refusal).isEqualTo(DropReason.LOCAL);
        assertThat(resolve("10.2.0.1", 9).refusal).isNull();
    }
}
