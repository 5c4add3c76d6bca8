package org.tamanoir.node.admin;

import org.tamanoir.anep.DropReason;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.StreamCounts;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.DeploymentStatistics;

/** The node's own metrics. Any thread may call. */
final class NodeFigures {
    private NodeFigures() {}

    static void add(Figures figures, ActiveNodeManager manager) {
        ExecutionEnvironment environment = manager.environment();
        traffic(figures, environment.traffic());
        StreamCounts streams = environment.streams();
        figures.gauge("tamanoir_streams_open", "TCP streams now.", streams.open());
        figures.counter("tamanoir_streams_accepted", "TCP streams since the start.", streams.accepted());
        figures.counter("tamanoir_streams_refused", "TCP streams refused for want of room.", streams.refused());
        figures.gauge(
                "tamanoir_waiting_for_code",
                "TCP streams and UDP packets that wait for a service's code now.",
                environment.waitingForCode());
        deployments(figures, manager.deploymentStatistics());
        figures.gauge("tamanoir_routes", "Routes now.", manager.routes().size());
        figures.counter(
                "tamanoir_events", "Events since the start.", manager.events().lastId());
        figures.gauge("tamanoir_ready", "Whether the node does its work: 1 or 0.", manager.notReady() == null ? 1 : 0);
        figures.gauge(
                "tamanoir_build_info",
                "The running version; always 1.",
                1,
                "version",
                State.version(),
                "java",
                String.valueOf(System.getProperty("java.version")));
    }

    private static void traffic(Figures figures, TrafficSnapshot traffic) {
        figures.counter("tamanoir_packets_in", "Packets that came in.", traffic.packetsIn());
        figures.counter("tamanoir_octets_in", "Octets of packets that came in.", traffic.octetsIn());
        figures.counter("tamanoir_packets_made", "Packets that services made themselves.", traffic.packetsMade());
        figures.counter("tamanoir_packets_out", "Packets that left.", traffic.packetsOut());
        figures.counter("tamanoir_octets_out", "Octets of packets that left.", traffic.octetsOut());
        figures.gauge("tamanoir_packets_held", "Packets in queues, and waiting for a next hop, now.", traffic.held());
        for (DropReason reason : DropReason.values()) {
            // All of them, those with none too: a rate over a counter that appears misses its first steps.
            figures.counter(
                    "tamanoir_packets_dropped",
                    "Packets that ended in the node.",
                    traffic.drops().getOrDefault(reason, 0L),
                    "reason",
                    reason.name());
        }
        figures.counter(
                "tamanoir_packet_anomalies",
                "Packets that went on in spite of a trailer or a repeated option.",
                traffic.anomalies());
    }

    private static void deployments(Figures figures, DeploymentStatistics statistics) {
        statistics
                .outcomes()
                .forEach((outcome, count) -> figures.summary(
                        "tamanoir_deployment_duration_seconds",
                        "Deployments and the time they took, by outcome.",
                        count,
                        statistics.seconds().getOrDefault(outcome, 0.0),
                        "outcome",
                        outcome));
        figures.gauge("tamanoir_deployments_running", "Deployments that run now.", statistics.running());
    }
}
