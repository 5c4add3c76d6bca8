package org.tamanoir.cluster;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.Counters;
import org.tamanoir.cluster.lvs.LvsCounters;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.cluster.lvs.VirtualAddress;
import org.tamanoir.cluster.lvs.VirtualService;
import org.tamanoir.routing.Addresses;

/** What a director tells of itself. Pure; the caller holds what guards the {@link Roster}. */
final class StatusView {
    private StatusView() {}

    /** Returns the virtual services that are in the kernel's table. */
    static List<DirectorStatus.Service> services(
            DirectorConfig config, Roster roster, LvsTable actual, LvsCounters counters) {
        List<DirectorStatus.Service> all = new ArrayList<>();
        for (ClusterService service : config.services()) {
            for (Protocol protocol : new TreeSet<>(service.protocols())) {
                VirtualAddress at = WantedTable.at(service, protocol);
                VirtualService found = actual.services().get(at);
                if (found != null) {
                    all.add(service(service, found, roster, counters));
                }
            }
        }
        return all;
    }

    private static DirectorStatus.Service service(
            ClusterService service, VirtualService found, Roster roster, LvsCounters counters) {
        LvsCounters.Service counted = counters.services().get(found.at());
        List<DirectorStatus.Server> servers = found.servers().values().stream()
                .map(server -> server(found.at(), server, roster, counters))
                .toList();
        return new DirectorStatus.Service(
                service.name(),
                found.at().toString(),
                service.forwarding().label(),
                found.scheduler().label(),
                found.persistenceSeconds(),
                found.onePacket(),
                counted == null ? Counters.NONE : counted.total(),
                servers);
    }

    private static DirectorStatus.Server server(
            VirtualAddress at, RealServer server, Roster roster, LvsCounters counters) {
        Member member = roster.holder(server.address());
        String name = member == null ? Addresses.host(server.address()) : member.backEnd.name();
        return new DirectorStatus.Server(name, server.endpoint(), server.weight(), counters.of(at, server));
    }

    static List<DirectorStatus.Member> members(DirectorConfig config, Roster roster, LvsTable actual) {
        ToIntFunction<InetAddress> weights = Roster.weights(actual);
        return roster.members().stream()
                .map(member -> member(config, member, weights.applyAsInt(member.backEnd.address())))
                .toList();
    }

    private static DirectorStatus.Member member(DirectorConfig config, Member member, int weight) {
        BackEnd backEnd = member.backEnd;
        List<String> findings = new ArrayList<>(member.findings);
        for (ClusterService service : config.services()) {
            String refusal = WantedTable.refusal(service, backEnd.address());
            if (refusal != null) {
                findings.add(refusal);
            }
        }
        return new DirectorStatus.Member(
                backEnd.name(),
                Addresses.host(backEnd.address()),
                backEnd.admin().toString(),
                member.health.state().label(),
                reason(config, member),
                member.listed,
                weight < 0 ? null : (Integer) weight,
                member.capacity.last(),
                member.capacity.busy(),
                findings,
                member.services,
                member.drainUntil == null ? null : member.drainUntil.toString());
    }

    private static @Nullable String reason(DirectorConfig config, Member member) {
        String reason = member.health.reason();
        boolean weighed = config.weights().dynamic() && member.backEnd.weight() == null;
        boolean unknown = member.health.state() == BackEndState.UP && weighed && member.noLoad != null;
        return reason == null && unknown ? "its weight stays: " + member.noLoad : reason;
    }

    static DirectorStatus.Totals totals(Roster roster, ClusterTotals totals) {
        List<Member> known = roster.members().stream()
                .filter(member -> totals.has(member.backEnd.name()))
                .toList();
        List<String> unreachable = known.stream()
                .filter(member -> member.noLoad != null)
                .map(member -> member.backEnd.name())
                .toList();
        int streams = known.stream()
                .filter(member -> member.noLoad == null)
                .map(member -> member.capacity.last())
                .mapToInt(load -> load == null ? 0 : load.streams())
                .sum();
        return new DirectorStatus.Totals(known.size(), unreachable, streams, totals.traffic(), totals.services());
    }

    /** Returns what a back-end is told when it registers. */
    static Welcome welcome(DirectorConfig config, Member member, DeployedServices deployed) {
        RegistrationPolicy policy = config.registration();
        List<Welcome.Served> services = config.services().stream()
                .map(service -> new Welcome.Served(
                        service.name(),
                        Addresses.host(service.address()),
                        service.port(),
                        service.backEndPort(),
                        service.protocols().stream()
                                .sorted()
                                .map(Protocol::label)
                                .toList(),
                        service.forwarding().label()))
                .toList();
        CodeSources code = config.code();
        return new Welcome(
                config.name(),
                config.services().stream().map(ClusterService::name).sorted().collect(Collectors.joining(",")),
                member.health.state().label(),
                member.streams(),
                (policy == null ? RegistrationPolicy.DEFAULT : policy)
                        .interval()
                        .toMillis(),
                services,
                new Welcome.Code(
                        code.repositories().stream().map(Object::toString).toList(),
                        code.publishers(),
                        deployed.all()));
    }
}
