package org.tamanoir.node.admin;

import java.util.List;
import org.tamanoir.ee.ServiceLife;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.manager.ServiceStatus;

/** Metrics of each version of each service. Any thread may call. */
final class ServiceFigures {
    private ServiceFigures() {}

    static void add(Figures figures, List<ServiceStatus> services) {
        for (ServiceStatus service : services) {
            String[] labels = {"service", service.name(), "version", service.version()};
            state(figures, service, labels);
            life(figures, service.life(), labels);
            TrafficSnapshot traffic = service.traffic();
            if (traffic != null) {
                traffic(figures, traffic, labels);
            }
            service.counters()
                    .forEach((name, value) -> figures.gauge(
                            "tamanoir_service_counter",
                            "The service's own counters, summed over the instances that run.",
                            value,
                            with(labels, "counter", name)));
        }
    }

    private static void state(Figures figures, ServiceStatus service, String[] labels) {
        for (ServiceStatus.State state : ServiceStatus.State.values()) {
            figures.gauge(
                    "tamanoir_service_state",
                    "1 for the state that the service is in, 0 for the others.",
                    service.state() == state ? 1 : 0,
                    with(labels, "state", state.name().toLowerCase(java.util.Locale.ROOT)));
        }
        figures.gauge("tamanoir_service_streams", "TCP streams that it runs now.", service.tcpStreams(), labels);
    }

    private static void life(Figures figures, ServiceLife life, String[] labels) {
        figures.counter("tamanoir_service_failures", "Exceptions that it threw.", life.failures(), labels);
        figures.counter(
                "tamanoir_service_quarantines", "How often it was put into quarantine.", life.quarantines(), labels);
        figures.gauge(
                "tamanoir_service_quarantined",
                "Whether it is in quarantine now: 1 or 0.",
                life.quarantinedUntil() == null ? 0 : 1,
                labels);
        figures.counter(
                "tamanoir_service_stuck",
                "Instances that did not return in time, and were cut loose.",
                life.stuck(),
                labels);
        figures.counter(
                "tamanoir_service_throttles",
                "How often its instances were made to pause, because it was over a limit.",
                life.throttles(),
                labels);
        figures.counter(
                "tamanoir_service_processor_seconds",
                "Processor time of its threads.",
                life.processorNs() / 1e9,
                labels);
        figures.counter(
                "tamanoir_service_allocated_octets",
                "Heap octets that its threads allocated.",
                life.allocatedOctets(),
                labels);
    }

    private static void traffic(Figures figures, TrafficSnapshot traffic, String[] labels) {
        figures.counter("tamanoir_service_packets_in", "Packets that came to it.", traffic.packetsIn(), labels);
        figures.counter("tamanoir_service_octets_in", "Octets of packets that came to it.", traffic.octetsIn(), labels);
        figures.counter("tamanoir_service_packets_made", "Packets that it made.", traffic.packetsMade(), labels);
        figures.counter("tamanoir_service_packets_out", "Packets that left it.", traffic.packetsOut(), labels);
        figures.counter("tamanoir_service_octets_out", "Octets of packets that left it.", traffic.octetsOut(), labels);
        figures.gauge(
                "tamanoir_service_packets_held", "Packets that wait in it and behind it now.", traffic.held(), labels);
        traffic.drops()
                .forEach((reason, packets) -> figures.counter(
                        "tamanoir_service_packets_dropped",
                        "Packets that ended in it.",
                        packets,
                        with(labels, "reason", reason.name())));
    }

    private static String[] with(String[] labels, String name, String value) {
        return new String[] {labels[0], labels[1], labels[2], labels[3], name, value};
    }
}
