package org.tamanoir.node.config;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.routing.FeedPath;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;

/**
 * Which of the kernel's routes a node follows.
 *
 * @param table of the kernel
 * @param protocols who put them there, by name or number
 * @param via next hops as texts, by gateway, device or {@value FeedPath#DEFAULT}
 */
public record FeedConfig(long table, List<String> protocols, Map<String, String> via) {
    private static final long MAX_TABLE = 0xFFFF_FFFFL;
    private static final int MAX_VIA = 4096;
    private static final Map<String, Long> TABLES = Map.of("main", 254L);
    /** As in /etc/iproute2/rt_protos. */
    private static final Map<String, Integer> PROTOCOLS = Map.ofEntries(
            Map.entry("kernel", 2),
            Map.entry("static", 4),
            Map.entry("zebra", 11),
            Map.entry("bird", 12),
            Map.entry("babel", 42),
            Map.entry("bgp", 186),
            Map.entry("isis", 187),
            Map.entry("ospf", 188),
            Map.entry("rip", 189),
            Map.entry("eigrp", 192));

    /** The kernel's names of devices have no colon, but may look hexadecimal: {@code fade.10}. */
    private static final Pattern DEVICE = Pattern.compile("[^ /%:]{1,15}");

    /** A link-local address belongs to a device. */
    private static final Pattern GATEWAY =
            Pattern.compile("([0-9]+(?:\\.[0-9]+){3}|[0-9a-fA-F.]*:[0-9a-fA-F.:]*)(%" + DEVICE + ")?");

    static final Records<FeedConfig> FEED = new Records<>("routing.feed");
    private static final Setting<Long> TABLE = FEED.require(
            "table",
            Kind.of("`main`, or 1 to 4294967295", FeedConfig::table, table -> (Object) table),
            "100",
            FeedConfig::table);
    private static final Setting<List<String>> PROTOCOL = FEED.add(
            "protocols",
            Kind.list(
                    "list of "
                            + new TreeSet<>(PROTOCOLS.keySet()).stream().collect(Collectors.joining("`, `", "`", "`"))
                            + ", or numbers",
                    FeedConfig::protocol),
            List.of("bird", "zebra", "bgp"),
            FeedConfig::protocols);
    private static final Setting<Map<String, String>> VIA = FEED.require(
            "via",
            Kind.structured(
                    "next hops, each as behind the `=` of `--route`, by gateway",
                    (feed, key) -> via(feed.section(key)),
                    via -> via),
            "{192.0.2.1: 10.0.1.9:3322}",
            FeedConfig::via);

    static final Kind<FeedConfig> KIND =
            Kind.structured("`table`, `protocols` and `via`", (routing, key) -> read(routing.section(key)), FEED::data);

    private static @Nullable FeedConfig read(Section section) {
        Values feed = FEED.read(section);
        Long table = feed.find(TABLE);
        Map<String, String> via = feed.find(VIA);
        if (section.isEmptyList("protocols")) {
            section.problems()
                    .add(
                            section.where("protocols"),
                            "0 protocols: no route would count; name 1 at least, or leave it out for "
                                    + PROTOCOL.preset());
        }
        return table == null || via == null ? null : new FeedConfig(table, feed.get(PROTOCOL), via);
    }

    private static Long table(String text) {
        Long named = TABLES.get(text);
        if (named != null) {
            return named;
        }
        try {
            return Decimals.whole(text, 1, MAX_TABLE);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "table '" + text + "': main, or a number from 1 to " + MAX_TABLE
                            + " is wanted, as ip route show table takes it",
                    e);
        }
    }

    private static String protocol(String text) {
        if (!PROTOCOLS.containsKey(text) && !(text.matches("[1-9]\\d{0,2}") && Integer.parseInt(text) <= 255)) {
            throw new IllegalArgumentException("protocol '" + text + "': one of "
                    + String.join(", ", new TreeSet<>(PROTOCOLS.keySet())) + ", or a number from 1 to 255 is wanted");
        }
        return text;
    }

    private static Map<String, String> via(Section section) {
        Map<String, String> via = new TreeMap<>();
        for (String gateway : section.texts().keySet()) {
            section.value(gateway, text -> {
                RouteTable.nextHop(text);
                if (via.put(name(gateway), text) != null) {
                    throw new IllegalArgumentException(Kind.repeated(gateway));
                }
                return text;
            });
        }
        int given = section.texts().size();
        if (given == 0 || given > MAX_VIA) {
            section.problems()
                    .add(section.where(), given + " gateways: 1 to " + MAX_VIA + " with a next hop are wanted");
        }
        return via;
    }

    /** Returns a gateway as {@link FeedPath} writes it. */
    private static String name(String gateway) {
        var address = GATEWAY.matcher(gateway);
        if (address.matches()) {
            String prefix = Prefix.parse(address.group(1)).toString();
            return prefix.substring(0, prefix.indexOf('/')) + (address.group(2) == null ? "" : address.group(2));
        }
        if (!DEVICE.matcher(gateway).matches()) {
            throw new IllegalArgumentException("gateway '" + gateway + "': an address, ADDRESS%DEVICE, a device, or "
                    + FeedPath.DEFAULT + " is wanted");
        }
        return gateway;
    }

    /** Returns the table's number as the kernel has it, without a sign. */
    public int tableNumber() {
        return (int) table;
    }

    /** Returns the protocols' numbers. */
    public Set<Integer> protocolNumbers() {
        return protocols.stream()
                .map(name -> {
                    Integer number = PROTOCOLS.get(name);
                    return number == null ? Integer.parseInt(name) : number;
                })
                .collect(Collectors.toSet());
    }

    /** Returns the next hops by gateway; names are looked up. */
    public Map<String, NextHop> nextHops() {
        return via.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> RouteTable.nextHop(entry.getValue())));
    }
}
