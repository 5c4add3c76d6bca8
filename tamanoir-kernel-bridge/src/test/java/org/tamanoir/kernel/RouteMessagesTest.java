package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFeed;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Tiers;

/** On what a kernel said, and on what none would say. */
class RouteMessagesTest {
    private static final int BIRD = 12;
    private static final int BGP = 186;

    private static final int UP = 0x1_0041;
    /** Port of the next hop by gateway. */
    private static final Map<String, Integer> PORTS = Map.of(
            "192.0.2.1", 1, "192.0.2.7", 2, "192.0.2.9", 3, "198.51.100.1", 4, "fd01::1", 5, "fd02::1", 6, "d3", 7);

    private final RoutingTable table = new RoutingTable();
    private final RouteFeed feed = table.feed(hops());
    private final RouteMessages messages = messages(Set.of(BIRD, BGP));

    @BeforeEach
    void requireTheOrderOfTheRecord() {
        Tiers.require("native", ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN, "needs a little-endian processor");
    }

    private static Map<String, NextHop> hops() {
        Map<String, NextHop> hops = new TreeMap<>();
        PORTS.forEach((gateway, port) -> hops.put(
                gateway,
                new NextHop(InetAddress.getLoopbackAddress(), port, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE)));
        return hops;
    }

    private RouteMessages messages(Set<Integer> protocols) {
        return new RouteMessages(100, protocols, feed);
    }

    private static List<ByteBuffer> record(String name) throws IOException {
        List<ByteBuffer> datagrams = new ArrayList<>();
        try (InputStream in = Objects.requireNonNull(RouteMessagesTest.class.getResourceAsStream(name))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                if (!line.startsWith("#")) {
                    datagrams.add(ByteBuffer.wrap(HexFormat.of().parseHex(line)));
                }
            }
        }
        return datagrams;
    }

    /** Returns what the kernel says of an interface. */
    private static ByteBuffer link(int number, String name, int flags) {
        ByteBuffer link = ByteBuffer.allocate(40).order(ByteOrder.nativeOrder());
        return link.putInt(0, 40)
                .putShort(4, (short) 16)
                .putInt(20, number)
                .putInt(24, flags)
                .putShort(32, (short) 7)
                .putShort(34, (short) 3)
                .put(36, name.getBytes(StandardCharsets.US_ASCII));
    }

    private void list(RouteMessages reader) throws Exception {
        reader.beginReading();
        feed.beginReading();
        reader.readDump(link(3, "d1", UP));
        reader.readDump(link(5, "d3", UP));
        for (ByteBuffer datagram : record("routes-listed.hex")) {
            reader.readDump(datagram);
        }
        feed.endReading(true);
    }

    /** Returns the port of each prefix's next hop. */
    private Map<String, Integer> ports() {
        Map<String, Integer> ports = new TreeMap<>();
        for (Route route : table.routes()) {
            ports.put(route.prefix().toString(), route.nextHop().port());
        }
        return ports;
    }

    @Test
    void aListGivesEachPrefixTheNextHopOfItsGateway() throws Exception {
        list(messages);

        assertThat(ports())
                .isEqualTo(new TreeMap<>(Map.of(
                        "0.0.0.0/0", 1,
                        "10.1.0.0/16", 1,
                        "10.2.0.0/16", 1, // of two paths that of the lower gateway
                        "10.4.0.0/16", 5, // by a gateway of the other family
                        "10.5.0.0/16", 3, // by a next hop object
                        "10.9.0.1/32", 1,
                        "fd10::/32", 5,
                        "fd11::/32", 7, // a link-local gateway, by its device
                        "fd12::/32", 5)));
    }

    @Test
    void whatHasNoNextHopIsNamed() throws Exception {
        list(messages);

        assertThat(feed.status().unmappedGateways()).isEqualTo(Map.of("d1", 1));
    }

    @Test
    void whatIsOfNoUseIsCounted() throws Exception {
        list(messages);

        // For a TOS, for some sources, IPv4 in IPv6.
        assertThat(feed.status().leftOut()).isEqualTo(3);
    }

    @Test
    void routesOfOtherProtocolsDoNotCount() throws Exception {
        list(messages(Set.of(4)));

        assertThat(ports().keySet()).isEqualTo(Set.of("10.7.0.0/16"));
    }

    @Test
    void changesAreFollowed() throws Exception {
        list(messages);
        List<String> reasons = new ArrayList<>();
        for (ByteBuffer datagram : record("routes-told.hex")) {
            String reason = messages.readNotice(datagram);
            if (reason != null && !reasons.contains(reason)) {
                reasons.add(reason);
            }
        }
        feed.apply();

        assertThat(ports())
                .isEqualTo(new TreeMap<>(Map.of(
                        "0.0.0.0/0", 1,
                        "10.1.0.0/16", 1,
                        "10.20.0.0/16", 2, // added, then replaced
                        "10.4.0.0/16", 5,
                        "10.9.0.1/32", 1,
                        "fd10::/32", 5,
                        "fd12::/32", 5,
                        "fd20::/32", 5)));
        assertThat(reasons).containsExactly("interface d3 changed", "an address was removed");
    }

    @Test
    void bytesThatLieAreNeverReadPastTheirEnd() throws Exception {
        long seed = Seeds.ofCommit(RouteMessagesTest.class);
        Random random = new Random(seed);
        List<ByteBuffer> all = record("routes-listed.hex");
        all.addAll(record("routes-told.hex"));
        for (ByteBuffer whole : all) {
            for (int round = 0; round < Seeds.scaled(300); round++) {
                byte[] bytes = whole.array().clone();
                for (int i = 0; i < 1 + random.nextInt(4); i++) {
                    bytes[random.nextInt(Math.min(bytes.length, 200))] = (byte) random.nextInt();
                }
                ByteBuffer damaged =
                        ByteBuffer.wrap(bytes, 0, random.nextBoolean() ? bytes.length : random.nextInt(bytes.length));
                readAll(damaged, "seed " + seed + ", round " + round);
            }
        }
    }

    /** Anything but a {@link NetlinkException} is the test's failure. */
    private void readAll(ByteBuffer datagram, String round) {
        try {
            messages.readNotice(datagram);
            messages.readDump(datagram);
        } catch (NetlinkException refused) {
            assertThat(refused).as(round).hasMessageStartingWith("route netlink: ");
        }
    }

    @Test
    void aMessageThatIsCutAnywhereIsRefused() throws Exception {
        byte[] whole = record("routes-told.hex").get(2).array();
        for (int length = 1; length < whole.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(whole.clone(), 0, length).slice();
            assertThatThrownBy(() -> messages.readNotice(cut))
                    .isInstanceOf(NetlinkException.class)
                    .hasMessageStartingWith("route netlink: broken answer, message of ");
        }
    }

    @Test
    void attributesThatAreCutAnywhereAreRefused() throws Exception {
        byte[] whole = record("routes-told.hex").get(0).array();
        int refused = 0;
        for (int length = 16; length < whole.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(whole.clone(), 0, length).slice().order(ByteOrder.nativeOrder());
            cut.putInt(0, length);
            try {
                messages.readNotice(cut);
            } catch (NetlinkException broken) {
                refused++;
            }
        }
        // It is whole where an attribute ends, but not without its destination, which is the second of five.
        assertThat(refused).isEqualTo(whole.length - 16 - 3);
    }

    @Test
    void theKernelsRefusalIsAnError() {
        ByteBuffer error = ByteBuffer.allocate(36).order(ByteOrder.nativeOrder());
        error.putInt(0, 36).putShort(4, (short) 2).putInt(16, -LibC.EPERM);

        assertThatThrownBy(() -> messages.readDump(error))
                .isInstanceOfSatisfying(
                        NetlinkException.class, e -> assertThat(e.errno()).isEqualTo(LibC.EPERM));
    }

    @Test
    void aListThatChangedMeanwhileSaysSo() throws Exception {
        ByteBuffer done = ByteBuffer.allocate(20).order(ByteOrder.nativeOrder());
        done.putInt(0, 20).putShort(4, (short) 3).putShort(6, (short) 0x12);

        assertThat(messages.readDump(done)).isTrue();
        assertThat(messages.mayLack()).isTrue();
        messages.beginList();
        assertThat(messages.mayLack()).isFalse();
    }

    @Test
    void aListMayLackRoutesWhenAnIpv6RouteOfTheTableWent() throws Exception {
        list(messages);
        messages.readNotice(withdrawn(LibC.AF_INET, 100));
        messages.readNotice(withdrawn(LibC.AF_INET6, 101));
        assertThat(messages.mayLack()).isFalse();

        messages.readNotice(withdrawn(LibC.AF_INET6, 100));
        assertThat(messages.mayLack()).isTrue();
    }

    /** Returns a default route of the protocol static that went. */
    private static ByteBuffer withdrawn(int family, int table) {
        ByteBuffer route = ByteBuffer.allocate(28).order(ByteOrder.nativeOrder());
        return route.putInt(0, 28)
                .putShort(4, (short) 25)
                .put(16, (byte) family)
                .put(20, (byte) table)
                .put(21, (byte) 4)
                .put(23, (byte) 1);
    }

    @Test
    void anInterfaceThatChangesIsAReasonToReadAnewWhereARouteGoesByIt() throws Exception {
        list(messages);
        messages.readDump(link(9, "d9", UP));

        assertThat(messages.readNotice(link(3, "d1", UP))).isNull();
        assertThat(messages.readNotice(link(3, "d1", 1))).isEqualTo("interface d1 changed");
        assertThat(messages.readNotice(link(3, "d1", 1))).isNull();
        assertThat(messages.readNotice(link(3, "d1", UP))).isEqualTo("interface d1 changed");
        assertThat(messages.readNotice(link(3, "e1", UP))).isEqualTo("interface e1 changed");
        assertThat(messages.readNotice(link(9, "d9", 0))).isNull();
        assertThat(messages.readNotice(link(11, "d11", UP))).isNull();
    }

    @Test
    void whatABridgeSaysOfItsPortIsNoReason() throws Exception {
        list(messages);
        assertThat(messages.readNotice(link(3, "d1", 0).put(16, (byte) 7))).isNull();
    }

    @Test
    void thePrefixOfAnOperatorStays() throws Exception {
        Prefix prefix = Prefix.parse("10.1.0.0/16");
        table.add(new Route(prefix, Objects.requireNonNull(hops().get("d3"))));

        list(messages);

        assertThat(ports()).containsEntry("10.1.0.0/16", 7);
    }
}
