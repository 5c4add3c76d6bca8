package org.tamanoir.node.admin;

import java.util.List;
import java.util.Locale;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.traffic.CounterTotal;
import org.tamanoir.traffic.TrafficSnapshot;

/** Metrics of each version of each service. Any thread may call. */
final class ServiceMetrics {
    private ServiceMetrics() {}

    static void add(Metrics all, List<ServiceStatus> services) {
        for (ServiceStatus service : services) {
            Metrics metrics = all.group("service_", "service", service.name(), "version", service.version());
            state(metrics, service);
            health(metrics, service.health());
            TrafficSnapshot traffic = service.traffic();
            if (traffic != null) {
                traffic(metrics, traffic);
            }
            service.counters().forEach((name, total) -> counter(metrics.with("counter", name), total));
            String help = "Packets that it has dropped, by the reasons that it gave.";
            service.dropReasons()
                    .forEach((reason, packets) -> metrics.with("reason", reason).counter("own_drops", help, packets));
        }
    }

    private static void counter(Metrics metrics, CounterTotal total) {
        switch (total.kind()) {
            case SUM ->
                metrics.counter(
                        "counter",
                        "The service's own counters, over all its instances, those that ended included.",
                        total.value());
            case MAXIMUM ->
                metrics.gauge(
                        "maximum",
                        "The largest value of the service's own, over all its instances; absent before the first.",
                        total.value(),
                        Math::max);
            case MINIMUM ->
                metrics.gauge(
                        "minimum",
                        "The smallest value of the service's own, over all its instances; absent before the first.",
                        total.value(),
                        Math::min);
            case GAUGE ->
                metrics.gauge("gauge", "The service's own gauges, summed over the instances that run.", total.value());
        }
    }

    private static void state(Metrics metrics, ServiceStatus service) {
        for (ServiceStatus.State state : ServiceStatus.State.values()) {
            String help = "1 for the state that the service is in, 0 for the others.";
            metrics.with("state", state.name().toLowerCase(Locale.ROOT))
                    .gauge("state", help, service.state() == state ? 1 : 0);
        }
        metrics.gauge("streams", "TCP streams that it runs now.", service.tcpStreams());
    }

    private static void health(Metrics metrics, ServiceHealth health) {
        metrics.counter("failures", "Exceptions that it threw.", health.failures());
        metrics.counter("quarantines", "How often it was put into quarantine.", health.quarantines());
        int quarantined = health.quarantinedUntil() == null ? 0 : 1;
        metrics.gauge("quarantined", "Whether it is in quarantine now: 1 or 0.", quarantined);
        metrics.counter("stuck", "Instances that did not return in time, and were cut loose.", health.stuck());
        String throttles = "How often its instances were made to pause, because it was over a limit.";
        metrics.counter("throttles", throttles, health.throttles());
        metrics.counter("processor_seconds", "Processor time of its threads.", health.processorNs() / 1e9);
        metrics.counter("allocated_bytes", "Heap bytes that its threads allocated.", health.allocatedBytes());
    }

    private static void traffic(Metrics metrics, TrafficSnapshot traffic) {
        metrics.counter("packets_in", "Packets that came to it.", traffic.packetsIn());
        metrics.counter("bytes_in", "Bytes of packets that came to it.", traffic.bytesIn());
        metrics.counter("packets_made", "Packets that it made.", traffic.packetsMade());
        metrics.counter("packets_out", "Packets that left it.", traffic.packetsOut());
        metrics.counter("bytes_out", "Bytes of packets that left it.", traffic.bytesOut());
        metrics.gauge("packets_held", "Packets that wait in it and behind it now.", traffic.held());
        traffic.drops()
                .forEach((reason, packets) -> metrics.with("reason", reason.name())
                        .counter("packets_dropped", "Packets that ended in it.", packets));
    }
}
