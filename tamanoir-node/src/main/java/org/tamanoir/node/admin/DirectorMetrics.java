package org.tamanoir.node.admin;

import org.tamanoir.cluster.BackEndState;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.Load;
import org.tamanoir.cluster.lvs.Counters;

/** Metrics of a director: the kernel's counters, its back-ends, and what all nodes have counted. Any thread may call. */
final class DirectorMetrics {
    private DirectorMetrics() {}

    static void add(Metrics all, DirectorStatus status, DirectorStatus.Totals totals) {
        Metrics metrics = all.group("director_");
        metrics.gauge("ready", "Whether the kernel's table is as wanted: 1 or 0.", status.ready() ? 1 : 0);
        metrics.gauge("active", "Whether the virtual addresses are on this host: 1 or 0.", status.active() ? 1 : 0);
        for (DirectorStatus.Service service : status.services()) {
            int space = service.at().indexOf(' ');
            String protocol = service.at().substring(0, Math.max(0, space));
            Metrics labelled = metrics.with("service", service.name(), "protocol", protocol)
                    .with("address", service.at().substring(space + 1));
            counters(labelled.group("service_"), service.counters());
            service.servers().forEach(server -> server(labelled, server));
        }
        for (DirectorStatus.Member backEnd : status.backEnds()) {
            backEnd(metrics.group("back_end_", "back_end", backEnd.name()), backEnd);
        }
        totals(all.group("cluster_"), totals);
    }

    private static void server(Metrics service, DirectorStatus.Server server) {
        Metrics metrics = service.group("server_", "back_end", server.backEnd());
        counters(metrics, server.counters());
        String help = "Weight of a back-end in a virtual service; 0 = it gets no new connections.";
        metrics.gauge("weight", help, server.weight());
    }

    private static void counters(Metrics metrics, Counters counters) {
        metrics.gauge("active_connections", "Established TCP connections now.", counters.active());
        String inactive = "Other connections now: TCP not established, UDP until its time-out.";
        metrics.gauge("inactive_connections", inactive, counters.inactive());
        metrics.counter("connections", "Connections that were scheduled.", counters.connections());
        metrics.counter("packets_in", "Packets from clients.", counters.packetsIn());
        metrics.counter("packets_out", "Packets to clients, by NAT alone.", counters.packetsOut());
        metrics.counter("bytes_in", "Bytes of packets from clients.", counters.bytesIn());
        metrics.counter("bytes_out", "Bytes of packets to clients, by NAT alone.", counters.bytesOut());
    }

    private static void backEnd(Metrics metrics, DirectorStatus.Member backEnd) {
        for (BackEndState state : BackEndState.values()) {
            int isIn = state.label().equals(backEnd.state()) ? 1 : 0;
            metrics.with("state", state.label()).gauge("state", "1 for the state that a back-end is in, else 0.", isIn);
        }
        int findings = backEnd.findings().size();
        metrics.gauge("findings", "What a back-end's host lacks, by its own word.", findings);
        Load load = backEnd.load();
        if (load != null) {
            metrics.gauge("streams", "TCP streams of a back-end.", load.streams());
        }
        Double busy = backEnd.busy();
        if (busy != null) {
            metrics.gauge("busy", "0 to 1: processors of a back-end in use, damped.", busy);
        }
    }

    private static void totals(Metrics metrics, DirectorStatus.Totals totals) {
        metrics.gauge("nodes", "Nodes that are in the sums.", totals.nodes());
        int unreachable = totals.unreachable().size();
        metrics.gauge("unreachable_nodes", "Nodes whose last known counters stand in for newer ones.", unreachable);
        metrics.gauge("streams", "TCP streams of all nodes now.", totals.streams());
        Load.Traffic traffic = totals.traffic();
        metrics.counter("packets_in", "Packets that came in.", traffic.packetsIn());
        metrics.counter("bytes_in", "Bytes of packets that came in.", traffic.bytesIn());
        metrics.counter("packets_made", "Packets that services made themselves.", traffic.packetsMade());
        metrics.counter("packets_out", "Packets that left.", traffic.packetsOut());
        metrics.counter("bytes_out", "Bytes of packets that left.", traffic.bytesOut());
        metrics.counter("packets_dropped", "Packets that ended in a node.", traffic.dropped());
        metrics.gauge("packets_held", "Packets in the nodes now.", traffic.held());
        totals.services()
                .forEach((service, counters) ->
                        counters.forEach((counter, value) -> metrics.with("service", service, "counter", counter)
                                .counter("service_counter", "Counters of services, of all nodes.", value)));
    }
}
