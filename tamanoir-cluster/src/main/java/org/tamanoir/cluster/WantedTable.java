package org.tamanoir.cluster;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.cluster.lvs.VirtualAddress;
import org.tamanoir.cluster.lvs.VirtualService;
import org.tamanoir.routing.Addresses;

/** What the kernel's table has to be: each service of the cluster with the back-ends that have a place in it. Pure. */
final class WantedTable {
    private WantedTable() {}

    /**
     * A back-end in the table.
     *
     * @param weight 0 = it drains
     */
    record Place(InetAddress address, int weight) {}

    static LvsTable of(List<ClusterService> services, Collection<Place> places) {
        List<VirtualService> wanted = new ArrayList<>();
        for (ClusterService service : services) {
            List<RealServer> servers = servers(service, places);
            service.protocols()
                    .forEach(protocol -> wanted.add(empty(service, protocol).with(servers)));
        }
        return LvsTable.of(wanted);
    }

    private static List<RealServer> servers(ClusterService service, Collection<Place> places) {
        return places.stream()
                .filter(place -> refusal(service, place.address) == null)
                .map(place -> server(service, place.address, place.weight))
                .toList();
    }

    /** Returns the back-end of an address as one of this service. */
    static RealServer server(ClusterService service, InetAddress address, int weight) {
        return new RealServer(address, service.backEndPort(), service.forwarding(), weight, 0, 0);
    }

    static VirtualAddress at(ClusterService service, Protocol protocol) {
        return new VirtualAddress(protocol, service.address(), service.port());
    }

    private static VirtualService empty(ClusterService service, Protocol protocol) {
        return new VirtualService(
                at(service, protocol),
                service.scheduler(),
                service.flags(),
                service.persistenceSeconds(),
                service.persistencePrefix(),
                service.onePacket() && protocol == Protocol.UDP,
                java.util.Map.of());
    }

    /**
     * Returns why a service cannot have the back-end, one line; null = it can. Linux mixes families in tunnels alone.
     */
    static @Nullable String refusal(ClusterService service, InetAddress address) {
        boolean same = service.address().getClass() == address.getClass();
        if (same || service.forwarding() == Forwarding.TUNNEL) {
            return null;
        }
        return "service " + service.name() + " at " + Addresses.host(service.address()) + " leaves it out: "
                + Addresses.host(address) + " is of the other family, which forwarding "
                + service.forwarding().label() + " cannot reach; use forwarding tunnel, or an address of its family";
    }
}
