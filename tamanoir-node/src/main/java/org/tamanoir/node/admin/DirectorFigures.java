package org.tamanoir.node.admin;

import java.util.Map;
import org.tamanoir.cluster.BackEndState;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.Load;
import org.tamanoir.cluster.lvs.Counters;

/** Metrics of a director: the kernel's counters, its back-ends, and what all nodes have counted. Any thread may call. */
final class DirectorFigures {
    private DirectorFigures() {}

    static void add(Figures figures, DirectorStatus status, DirectorStatus.Totals totals) {
        figures.gauge(
                "tamanoir_director_ready", "Whether the kernel's table is as wanted: 1 or 0.", status.ready() ? 1 : 0);
        figures.gauge(
                "tamanoir_director_active",
                "Whether the virtual addresses are on this host: 1 or 0.",
                status.active() ? 1 : 0);
        for (DirectorStatus.Service service : status.services()) {
            String[] labels = labels(service);
            counters(figures, "tamanoir_director_service_", service.counters(), labels);
            for (DirectorStatus.Server server : service.servers()) {
                server(figures, server, labels);
            }
        }
        status.backEnds().forEach(backEnd -> backEnd(figures, backEnd));
        totals(figures, totals);
    }

    private static String[] labels(DirectorStatus.Service service) {
        int space = service.at().indexOf(' ');
        return new String[] {
            "service",
            service.name(),
            "protocol",
            service.at().substring(0, Math.max(0, space)),
            "address",
            service.at().substring(space + 1)
        };
    }

    private static void server(Figures figures, DirectorStatus.Server server, String[] service) {
        String[] labels = {
            service[0], service[1], service[2], service[3], service[4], service[5], "back_end", server.backEnd()
        };
        counters(figures, "tamanoir_director_server_", server.counters(), labels);
        figures.gauge(
                "tamanoir_director_server_weight",
                "Weight of a back-end in a virtual service; 0 = it gets no new connections.",
                server.weight(),
                labels);
    }

    private static void counters(Figures figures, String prefix, Counters counters, String[] labels) {
        figures.gauge(prefix + "active_connections", "Established TCP connections now.", counters.active(), labels);
        figures.gauge(
                prefix + "inactive_connections",
                "Other connections now: TCP not established, UDP until its time-out.",
                counters.inactive(),
                labels);
        figures.counter(prefix + "connections", "Connections that were scheduled.", counters.connections(), labels);
        figures.counter(prefix + "packets_in", "Packets from clients.", counters.packetsIn(), labels);
        figures.counter(prefix + "packets_out", "Packets to clients, by NAT alone.", counters.packetsOut(), labels);
        figures.counter(prefix + "octets_in", "Octets of packets from clients.", counters.octetsIn(), labels);
        figures.counter(
                prefix + "octets_out", "Octets of packets to clients, by NAT alone.", counters.octetsOut(), labels);
    }

    private static void backEnd(Figures figures, DirectorStatus.Member backEnd) {
        for (BackEndState state : BackEndState.values()) {
            figures.gauge(
                    "tamanoir_director_back_end_state",
                    "1 for the state that a back-end is in, else 0.",
                    state.label().equals(backEnd.state()) ? 1 : 0,
                    "back_end",
                    backEnd.name(),
                    "state",
                    state.label());
        }
        String[] label = {"back_end", backEnd.name()};
        figures.gauge(
                "tamanoir_director_back_end_findings",
                "What a back-end's host lacks, by its own word.",
                backEnd.findings().size(),
                label);
        Load load = backEnd.load();
        if (load != null) {
            figures.gauge("tamanoir_director_back_end_streams", "TCP streams of a back-end.", load.streams(), label);
        }
        Double busy = backEnd.busy();
        if (busy != null) {
            figures.gauge(
                    "tamanoir_director_back_end_busy", "0 to 1: processors of a back-end in use, damped.", busy, label);
        }
    }

    private static void totals(Figures figures, DirectorStatus.Totals totals) {
        figures.gauge("tamanoir_cluster_nodes", "Nodes that are in the sums.", totals.nodes());
        figures.gauge(
                "tamanoir_cluster_unreachable_nodes",
                "Nodes whose last known counters stand in for newer ones.",
                totals.unreachable().size());
        figures.gauge("tamanoir_cluster_streams", "TCP streams of all nodes now.", totals.streams());
        Load.Traffic traffic = totals.traffic();
        figures.counter("tamanoir_cluster_packets_in", "Packets that came in.", traffic.packetsIn());
        figures.counter("tamanoir_cluster_octets_in", "Octets of packets that came in.", traffic.octetsIn());
        figures.counter(
                "tamanoir_cluster_packets_made", "Packets that services made themselves.", traffic.packetsMade());
        figures.counter("tamanoir_cluster_packets_out", "Packets that left.", traffic.packetsOut());
        figures.counter("tamanoir_cluster_octets_out", "Octets of packets that left.", traffic.octetsOut());
        figures.counter("tamanoir_cluster_packets_dropped", "Packets that ended in a node.", traffic.dropped());
        figures.gauge("tamanoir_cluster_packets_held", "Packets in the nodes now.", traffic.held());
        for (Map.Entry<String, Map<String, Long>> service : totals.services().entrySet()) {
            service.getValue()
                    .forEach((counter, value) -> figures.counter(
                            "tamanoir_cluster_service_counter",
                            "Counters of services, of all nodes.",
                            value,
                            "service",
                            service.getKey(),
                            "counter",
                            counter));
        }
    }
}
