package org.tamanoir.cluster.setup;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Forwarding;
import tools.jackson.databind.JsonNode;

/**
 * What a back-end's host needs so that it takes packets for virtual addresses.
 *
 * <ul>
 *   <li>Direct routing: the address on the loopback interface, and silence about it on the network. IPv6 needs no setting
 *       for the latter: neighbour discovery answers for addresses of the asked interface alone.
 *   <li>Tunnelling: a device that takes packets out of those of IP, with the address on it. A tunnel from any to any
 *       address can be there once in a namespace, and then it is the one that the kernel itself makes with its module:
 *       {@value #TUNNEL} and {@value #TUNNEL6}. It takes what is sent to any of the host's addresses, so that it fits
 *       whichever address the back-end is known by, and all directors.
 *   <li>NAT: answers must go back through the director, thus a default route that leads there.
 * </ul>
 */
final class BackEndDemand {
    private static final String LOOPBACK = "lo";
    private static final String TUNNEL = "tunl0";
    private static final String TUNNEL6 = "ip6tnl0";

    private final String networkInterface;
    private final List<InetAddress> directors;
    private final Set<InetAddress> direct = new LinkedHashSet<>();
    private final Set<InetAddress> tunnel = new LinkedHashSet<>();
    private final Set<InetAddress> nat = new LinkedHashSet<>();

    private BackEndDemand(String networkInterface, Collection<InetAddress> directors) {
        this.networkInterface = networkInterface;
        this.directors = List.copyOf(directors);
    }

    static Demand of(List<Welcome.Served> services, String networkInterface, Collection<InetAddress> directors)
            throws ClusterException {
        BackEndDemand demand = new BackEndDemand(InterfaceName.check(networkInterface), directors);
        for (Welcome.Served each : services) {
            demand.add(each);
        }
        demand.tunnel.removeAll(demand.direct); // one address on lo does for both
        return new Demand(demand.steps(), demand::obstacles, demand::advice);
    }

    private void add(Welcome.Served service) throws ClusterException {
        InetAddress address = Host.address(service.address());
        if (address == null
                || address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isLinkLocalAddress()
                || address.isMulticastAddress()) {
            throw new ClusterException("service " + service.name() + ": '" + service.address()
                    + "' cannot be a virtual address: one of a host is wanted");
        }
        try {
            switch (Forwarding.of(service.forwarding())) {
                case DIRECT -> direct.add(address);
                case TUNNEL -> tunnel.add(address);
                case NAT -> nat.add(address);
            }
        } catch (IllegalArgumentException e) {
            throw new ClusterException("service " + service.name() + ": forwarding " + e.getMessage(), e);
        }
    }

    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        if (isQuietWanted()) {
            steps.add(Step.interfaceSetting(networkInterface, "arp_ignore", 1));
            steps.add(Step.interfaceSetting(networkInterface, "arp_announce", 2));
        }
        if (!direct.isEmpty()) {
            steps.add(Step.up(LOOPBACK));
        }
        direct.forEach(address -> steps.add(Step.localAddress(LOOPBACK, address)));
        tunnel(steps, false);
        tunnel(steps, true);
        return steps;
    }

    private boolean isQuietWanted() {
        return direct.stream().anyMatch(each -> !isIpv6(each))
                || tunnel.stream().anyMatch(each -> !isIpv6(each));
    }

    private void tunnel(List<Step> steps, boolean ipv6) {
        List<InetAddress> addresses =
                tunnel.stream().filter(each -> isIpv6(each) == ipv6).toList();
        if (addresses.isEmpty()) {
            return;
        }
        String device = ipv6 ? TUNNEL6 : TUNNEL;
        steps.add(Step.device(device, ipv6 ? "ip6tnl mode ip6ip6" : "ipip"));
        if (!ipv6) {
            steps.add(Step.interfaceSetting(device, "rp_filter", 2)); // answers leave by another device; IPv6 has none
        }
        steps.add(Step.up(device)); // before the addresses, as one of IPv6 goes when its device goes down
        addresses.forEach(address -> steps.add(Step.localAddress(device, address)));
    }

    private List<String> obstacles(Host host) {
        List<String> obstacles = new ArrayList<>();
        if (!host.has(networkInterface)) {
            obstacles.add(
                    "no interface " + networkInterface + ": name the one that leads to the director, see ip link");
        }
        int ignored = Sysctl.number(Sysctl.ALL + "arp_ignore");
        if (isQuietWanted() && ignored > 2) { // the larger one of all's and the interface's counts
            String path = Sysctl.ALL + "arp_ignore";
            obstacles.add(Sysctl.name(path) + " is " + ignored
                    + ", and 3 and more let no interface keep quiet about virtual addresses alone: "
                    + Sysctl.command(path, "1"));
        }
        return obstacles;
    }

    private List<String> advice(Host host) throws ClusterException {
        List<String> advice = new ArrayList<>();
        for (Set<InetAddress> addresses : List.of(direct, tunnel)) {
            for (InetAddress each : addresses) {
                if (host.hasAddress(networkInterface, each)) {
                    advice.add("interface " + networkInterface + " has the virtual address " + Host.text(each)
                            + " and answers for it, which is the director's part: ip address del " + Host.prefix(each)
                            + " dev " + networkInterface);
                }
            }
        }
        if (nat.stream().anyMatch(each -> !isIpv6(each))) {
            advice.addAll(wayBack("-4"));
        }
        if (nat.stream().anyMatch(BackEndDemand::isIpv6)) {
            advice.addAll(wayBack("-6"));
        }
        return advice;
    }

    /** By NAT, an answer that does not pass the director comes to the client from an address that it does not know. */
    private List<String> wayBack(String family) throws ClusterException {
        List<String> known = directors.stream()
                .filter(each -> isIpv6(each) == family.equals("-6"))
                .map(Host::text)
                .toList();
        Set<String> gateways = gateways(family);
        if (known.isEmpty() && !gateways.isEmpty() || leadsTo(known, gateways, family)) {
            return List.of();
        }
        String is = gateways.isEmpty() ? "there is no default route" : "the default route leads to " + join(gateways);
        return List.of(is + ", but by NAT answers must pass the director: ip " + family + " route replace default via "
                + (known.isEmpty() ? "ADDRESS-OF-THE-DIRECTOR" : known.get(0)) + " dev " + networkInterface);
    }

    private boolean leadsTo(List<String> known, Set<String> gateways, String family) throws ClusterException {
        if (gateways.isEmpty() || gateways.stream().anyMatch(known::contains)) {
            return !gateways.isEmpty();
        }
        // Directors may share an address for this: the active one answers for it with its own hardware address.
        Map<String, String> hardware = new TreeMap<>();
        for (JsonNode each : Host.json("ip", family, "-json", "neighbour", "show", "dev", networkInterface)) {
            hardware.put(each.path("dst").asString(""), each.path("lladdr").asString(""));
        }
        return gateways.stream()
                .map(each -> hardware.getOrDefault(each, ""))
                .anyMatch(each ->
                        !each.isEmpty() && known.stream().anyMatch(director -> each.equals(hardware.get(director))));
    }

    /** Returns where the default routes of the best metric lead; empty where there is none. */
    private static Set<String> gateways(String family) throws ClusterException {
        Map<Long, Set<String>> byMetric = new TreeMap<>();
        for (JsonNode route : Host.json("ip", family, "-json", "route", "show", "default")) {
            Set<String> gateways =
                    byMetric.computeIfAbsent(route.path("metric").asLong(0), metric -> new LinkedHashSet<>());
            gateways.add(
                    route.path("gateway").asString("dev " + route.path("dev").asString("")));
            route.path("nexthops")
                    .forEach(each -> gateways.add(each.path("gateway").asString("")));
        }
        return byMetric.isEmpty() ? Set.of() : byMetric.values().iterator().next();
    }

    private static String join(Set<String> gateways) {
        return String.join(", ", gateways);
    }

    private static boolean isIpv6(InetAddress address) {
        return address instanceof Inet6Address;
    }
}
