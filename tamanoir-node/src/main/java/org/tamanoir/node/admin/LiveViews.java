package org.tamanoir.node.admin;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.tamanoir.admission.StreamCounts;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.Load;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * What {@code /v1/live} tells: totals, so that whoever misses a second has lost nothing, and maps by name, so that a
 * delta holds only what has changed. A node's is bounded, with {@value #MAX_BUSIEST} services at most; a director's has
 * all services and back-ends of its configuration. Any thread may call.
 */
final class LiveViews {
    /** Services that are shown each second. */
    private static final int MAX_BUSIEST = 12;

    private LiveViews() {}

    /**
     * A node.
     *
     * @param streams TCP streams now
     * @param waitingForCode streams and packets that wait for a service's code
     * @param serviceSeconds processor time of all services
     * @param quarantined versions in quarantine now
     * @param busiest the services that have used most processor time, by label
     * @param waiting packets, and threads that wait for a turn, by the point where they are scheduled
     * @param lastEvent its id
     * @param backEnd whether it is a back-end of a cluster
     * @param unit whether it is a unit of a distributed element
     */
    record Live(
            double uptimeSeconds,
            boolean ready,
            @Nullable String notReady,
            int processors,
            double processorSeconds,
            int streams,
            int maxStreams,
            long accepted,
            long refused,
            long waitingForCode,
            int deploying,
            Views.Traffic traffic,
            double serviceSeconds,
            int services,
            int quarantined,
            Map<String, Busy> busiest,
            Map<String, Long> waiting,
            int routes,
            long lastEvent,
            boolean backEnd,
            boolean unit) {
        static Live of(ActiveNodeManager manager, Load load, boolean backEnd, boolean unit) {
            ExecutionEnvironment environment = manager.environment();
            StreamCounts streams = environment.streams();
            Collection<ServiceDefinition> services = manager.definitions();
            Map<ServiceDefinition, TrafficSnapshot> crossed = environment.trafficByService();
            String notReady = manager.notReady();
            return new Live(
                    load.uptimeSeconds(),
                    notReady == null,
                    notReady,
                    load.processors(),
                    load.processorSeconds(),
                    streams.open(),
                    load.maxStreams(),
                    streams.accepted(),
                    streams.refused(),
                    environment.waitingForCode(),
                    manager.deploymentStatistics().running(),
                    Views.Traffic.of(environment.traffic()),
                    services.stream()
                                    .mapToLong(each -> each.health().processorNs())
                                    .sum()
                            / 1e9,
                    services.size(),
                    (int) services.stream()
                            .filter(each -> each.health().quarantinedUntil() != null)
                            .count(),
                    busiest(services, crossed),
                    waiting(manager.qosStatus()),
                    manager.routeCount(),
                    manager.events().catchUp(),
                    backEnd,
                    unit);
        }

        private static Map<String, Busy> busiest(
                Collection<ServiceDefinition> services, Map<ServiceDefinition, TrafficSnapshot> traffic) {
            Map<String, Busy> busiest = new LinkedHashMap<>();
            mostOf(services, each -> each.health().processorNs())
                    .forEach(each -> busiest.put(each.label(), Busy.of(each, traffic.get(each))));
            return busiest;
        }

        /** Returns the services with the most of a number, which is read once for each: it changes while they are sorted. */
        static List<ServiceDefinition> mostOf(
                Collection<ServiceDefinition> services, ToLongFunction<ServiceDefinition> number) {
            record Read(ServiceDefinition service, long number) {}
            return services.stream()
                    .map(each -> new Read(each, number.applyAsLong(each)))
                    .sorted(Comparator.comparingLong(Read::number)
                            .reversed()
                            .thenComparing(each -> each.service.label()))
                    .limit(MAX_BUSIEST)
                    .map(Read::service)
                    .toList();
        }

        private static Map<String, Long> waiting(QosStatus qos) {
            Map<String, Long> waiting = new TreeMap<>();
            qos.points()
                    .forEach(point -> waiting.put(
                            point.name(),
                            point.classes().stream()
                                    .mapToLong(each -> each.waitingPackets() + each.waitingTurns())
                                    .sum()));
            return waiting;
        }
    }

    /** A service. */
    record Busy(long packetsIn, long packetsOut, long dropped, long held, double processorSeconds) {
        static Busy of(ServiceDefinition service, @Nullable TrafficSnapshot traffic) {
            return new Busy(
                    traffic == null ? 0 : traffic.packetsIn(),
                    traffic == null ? 0 : traffic.packetsOut(),
                    traffic == null ? 0 : traffic.dropped(),
                    traffic == null ? 0 : traffic.held(),
                    service.health().processorNs() / 1e9);
        }
    }

    /**
     * A director; the fields of its status and totals, by name.
     *
     * @param unreachable nodes whose last known counters stand in for newer ones
     */
    record LiveCluster(
            String name,
            boolean ready,
            @Nullable String problem,
            boolean active,
            Map<String, DirectorStatus.Service> services,
            Map<String, DirectorStatus.Member> backEnds,
            int nodes,
            List<String> unreachable,
            int streams,
            Load.Traffic traffic) {
        static LiveCluster of(Director director) {
            DirectorStatus status = director.status();
            DirectorStatus.Totals totals = director.totals();
            Map<String, DirectorStatus.Service> services = new LinkedHashMap<>();
            status.services().forEach(each -> services.put(each.name() + " " + each.at(), each));
            Map<String, DirectorStatus.Member> backEnds = new LinkedHashMap<>();
            status.backEnds().forEach(each -> backEnds.put(each.name(), each));
            return new LiveCluster(
                    status.name(),
                    status.ready(),
                    status.problem(),
                    status.active(),
                    services,
                    backEnds,
                    totals.nodes(),
                    totals.unreachable(),
                    totals.streams(),
                    totals.traffic());
        }
    }
}
