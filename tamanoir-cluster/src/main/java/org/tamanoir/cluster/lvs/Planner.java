package org.tamanoir.cluster.lvs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds what has to be changed. Pure: no process, no clock.
 *
 * <p>All that a virtual service has beside its address and protocol is edited in place, and so is all that a back-end has
 * beside its address and port: {@code ipvsadm -E} and {@code -e} of Linux 6.1 replace scheduler, flags, persistence,
 * one-packet scheduling, forwarding, weight and thresholds, dropping those that are not named, and leave connections and
 * counters. Nothing has to be deleted to be added anew.
 *
 * <p>Each step can be taken back by one line, so a service is removed after its back-ends.
 */
public final class Planner {
    private Planner() {}

    /**
     * Returns the difference. Virtual services that are neither wanted nor owned are not touched.
     *
     * @param owned those that this director has made
     * @throws ClusterException if a wanted service is there already and is not owned, or if LVS cannot have it
     */
    public static Plan plan(LvsTable wanted, LvsTable actual, Set<VirtualAddress> owned) throws ClusterException {
        List<VirtualAddress> foreign = wanted.services().keySet().stream()
                .filter(at -> actual.services().containsKey(at) && !owned.contains(at))
                .toList();
        if (!foreign.isEmpty()) {
            throw new ClusterException(foreign(foreign));
        }
        Steps steps = new Steps();
        for (VirtualService service : wanted.services().values()) {
            check(service);
            VirtualService there = actual.services().get(service.at());
            steps.bring(there, service);
        }
        for (VirtualService there : actual.services().values()) {
            if (owned.contains(there.at()) && !wanted.services().containsKey(there.at())) {
                steps.remove(there);
            }
        }
        return new Plan(actual, steps.inOrder());
    }

    private static String foreign(List<VirtualAddress> services) {
        boolean one = services.size() == 1;
        return (one ? "virtual service " : "virtual services ")
                + services.stream().map(VirtualAddress::toString).collect(Collectors.joining(", "))
                + (one ? " is" : " are")
                + " in the kernel's table already and not made by this director: end who keeps "
                + (one ? "it" : "them") + " and remove " + (one ? "it" : "them") + " ("
                + services.stream()
                        .map(at -> "ipvsadm " + IpvsCommands.delete(at))
                        .collect(Collectors.joining("; "))
                + "), or choose another address or port";
    }

    /** Says in the director's words what ipvsadm would refuse, or change by itself. */
    private static void check(VirtualService service) throws ClusterException {
        if (service.onePacket() && service.at().protocol() != Protocol.UDP) {
            throw new ClusterException(service.at() + ": one-packet scheduling is for UDP alone: leave it out");
        }
        List<String> known = service.scheduler().flags();
        for (String flag : service.flags()) {
            if (!known.contains(flag)) {
                throw new ClusterException(service.at() + ": scheduler "
                        + service.scheduler().label() + " has no flag " + flag + ": "
                        + (known.isEmpty() ? "it takes none" : "one of " + String.join(", ", known)));
            }
        }
        int bits = LvsText.bits(service.at().isIpv6());
        if (service.persistencePrefix() < 1 || service.persistencePrefix() > bits) {
            throw new ClusterException(
                    service.at() + ": persistence prefix " + service.persistencePrefix() + " must be 1 to " + bits);
        }
        for (RealServer server : service.servers().values()) {
            check(service.at(), server);
        }
    }

    private static void check(VirtualAddress at, RealServer server) throws ClusterException {
        String who = at + ": back-end " + server.endpoint() + " by "
                + server.forwarding().label();
        if (server.forwarding() != Forwarding.NAT && server.port() != at.port()) {
            throw new ClusterException(who + " must have the port " + at.port() + ": NAT alone can change it");
        }
        boolean sameFamily =
                server.address().getAddress().length == at.address().getAddress().length;
        if (server.forwarding() != Forwarding.TUNNEL && !sameFamily) {
            throw new ClusterException(
                    who + " must be of the same IP version as the service: tunnelling alone joins two");
        }
    }

    /** Steps by their kinds, which come one after the other. */
    private static final class Steps {
        private final List<Change> adds = new ArrayList<>();
        private final List<Change> serviceEdits = new ArrayList<>();
        private final List<Change> serverEdits = new ArrayList<>();
        /** Weights that become 0: after those that others get in return. */
        private final List<Change> quiets = new ArrayList<>();

        private final List<Change> removes = new ArrayList<>();

        void bring(@Nullable VirtualService there, VirtualService wanted) {
            VirtualAddress at = wanted.at();
            if (there == null) {
                adds.add(new Change(at, IpvsCommands.add(wanted), IpvsCommands.delete(at)));
            } else if (!there.with(List.of()).equals(wanted.with(List.of()))) {
                serviceEdits.add(new Change(at, IpvsCommands.edit(wanted), IpvsCommands.edit(there)));
            }
            Collection<RealServer> old =
                    there == null ? List.of() : there.servers().values();
            for (RealServer server : wanted.servers().values()) {
                bring(at, there == null ? null : there.servers().get(server.endpoint()), server);
            }
            old.stream()
                    .filter(server -> !wanted.servers().containsKey(server.endpoint()))
                    .forEach(server -> remove(at, server));
        }

        private void bring(VirtualAddress at, @Nullable RealServer there, RealServer wanted) {
            if (there == null) {
                adds.add(new Change(at, IpvsCommands.add(at, wanted), IpvsCommands.delete(at, wanted)));
            } else if (!there.equals(wanted)) {
                (wanted.weight() == 0 ? quiets : serverEdits)
                        .add(new Change(at, IpvsCommands.edit(at, wanted), IpvsCommands.edit(at, there)));
            }
        }

        void remove(VirtualService there) {
            there.servers().values().forEach(server -> remove(there.at(), server));
            removes.add(new Change(there.at(), IpvsCommands.delete(there.at()), IpvsCommands.add(there)));
        }

        private void remove(VirtualAddress at, RealServer server) {
            removes.add(new Change(at, IpvsCommands.delete(at, server), IpvsCommands.add(at, server)));
        }

        List<Change> inOrder() {
            return Stream.of(adds, serviceEdits, serverEdits, quiets, removes)
                    .flatMap(List::stream)
                    .toList();
        }
    }
}
