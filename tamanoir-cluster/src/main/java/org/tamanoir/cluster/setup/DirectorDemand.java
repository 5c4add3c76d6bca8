package org.tamanoir.cluster.setup;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Program;
import tools.jackson.databind.JsonNode;

/**
 * What a director's host needs: the virtual addresses, unless they are keepalived's, and by NAT forwarding, as answers of
 * back-ends pass it like any router. By direct routing and tunnelling packets leave from where they are taken in, which
 * needs no forwarding. What it needs to have a table at all, {@link org.tamanoir.cluster.lvs.Ipvs#open} tells.
 */
final class DirectorDemand {
    private static final String FORWARDING6 = "net/ipv6/conf/all/forwarding";

    private final @Nullable String networkInterface;
    private final @Nullable Vrrp vrrp;
    private final Set<InetAddress> addresses = new LinkedHashSet<>();
    private final boolean isNat;
    private final boolean isNat6;

    private DirectorDemand(DirectorConfig config) throws ClusterException {
        networkInterface = config.networkInterface();
        vrrp = config.vrrp();
        if (networkInterface != null) {
            InterfaceName.check(networkInterface);
        }
        config.services().forEach(each -> addresses.add(each.address()));
        isNat = hasNat(config.services(), false);
        isNat6 = hasNat(config.services(), true);
    }

    private static boolean hasNat(List<ClusterService> services, boolean ipv6) {
        return services.stream()
                .anyMatch(
                        each -> each.forwarding() == Forwarding.NAT && each.address() instanceof Inet6Address == ipv6);
    }

    static Demand of(DirectorConfig config) throws ClusterException {
        DirectorDemand demand = new DirectorDemand(config);
        return new Demand(demand.steps(), demand::obstacles, demand::advice);
    }

    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        String outside = vrrp != null ? vrrp.networkInterface() : networkInterface;
        if (isNat) {
            // A router that takes a packet in and sends it out on one interface tells the sender of a shorter way, past
            // itself; here answers must not take it.
            steps.add(Step.setting(Sysctl.ALL + "send_redirects", 0, 1));
            if (outside != null) {
                steps.add(Step.setting("net/ipv4/conf/" + outside + "/send_redirects", 0, 1));
            }
            steps.add(Step.setting(Sysctl.ALL + "accept_redirects", 0, 1)); // as the kernel itself does for a router
            steps.add(Step.setting(Sysctl.FORWARDING, 1, 0));
        }
        if (isNat6) {
            steps.add(Step.setting(FORWARDING6, 1, 0));
        }
        if (vrrp == null && networkInterface != null) {
            String own = networkInterface;
            if (addresses.stream().anyMatch(Inet6Address.class::isInstance)) {
                // The kernel asks whether another host has it, then tells all that it is here (RFC 4862, RFC 4861).
                steps.add(Step.setting("net/ipv6/conf/" + own + "/ndisc_notify", 1, 0));
            }
            addresses.forEach(address -> steps.add(Step.address(own, address)));
        }
        return steps;
    }

    private List<String> obstacles(Host host) throws ClusterException {
        List<String> obstacles = new ArrayList<>();
        Set<String> wanted = new LinkedHashSet<>();
        if (networkInterface != null) {
            wanted.add(networkInterface);
        }
        if (vrrp != null) {
            wanted.add(vrrp.networkInterface());
            wanted.add(vrrp.syncInterface());
        }
        for (String each : wanted) {
            if (!host.has(each)) {
                obstacles.add("no interface " + each + ": name one of those that ip link shows");
            } else if (!host.isUp(each)) {
                obstacles.add("interface " + each + " is down: ip link set " + each + " up");
            }
        }
        for (InetAddress each : addresses) {
            if (networkInterface != null && host.hasFailed(networkInterface, each)) {
                obstacles.add("another host has the virtual address " + Host.text(each)
                        + ": stop it there, then ip address del " + Host.prefix(each) + " dev " + networkInterface);
            }
        }
        if (isNat6 && Sysctl.number(FORWARDING6) == 0) {
            obstacles.addAll(advertisedRoutes());
        }
        return obstacles;
    }

    /** Tells of default routes that forwarding would lose: a host that forwards IPv6 drops those that routers advertise. */
    private static List<String> advertisedRoutes() throws ClusterException {
        Set<String> lost = new LinkedHashSet<>();
        for (JsonNode route : Host.json("ip", "-6", "-json", "route", "show", "default")) {
            String device = route.path("dev").asString("");
            String path = "net/ipv6/conf/" + device + "/accept_ra";
            if (route.path("protocol").asString("").equals("ra") && Sysctl.number(path) < 2) {
                lost.add("the IPv6 default route by " + device + " would be lost with forwarding: "
                        + Sysctl.command(path, "2"));
            }
        }
        return List.copyOf(lost);
    }

    private List<String> advice(Host host) {
        List<String> advice = new ArrayList<>();
        if (vrrp != null && Program.find("keepalived") == null) {
            advice.add("no program keepalived: apt-get install keepalived");
        }
        if (vrrp == null && networkInterface == null) {
            for (InetAddress each : addresses) {
                if (host.holder(each).isEmpty()) {
                    advice.add("no interface has the virtual address " + Host.text(each)
                            + ": name an interface in the configuration, or ip address add " + Host.prefix(each)
                            + " dev INTERFACE");
                }
            }
        }
        return advice;
    }
}
