package org.tamanoir.node;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.nodeos.LevelStatus;

/** One JSON object per line, for programs; {@code event} says which. Figures of packets and octets are totals. */
final class JsonReport implements NodeReport {
    private final Output output;

    JsonReport(Output output) {
        this.output = output;
    }

    @Override
    public void started(
            List<String> tcp,
            List<String> tls,
            List<String> udp,
            String transport,
            List<LevelStatus> levels,
            Collection<ServiceDefinition> services,
            int routes,
            Map<String, String> servers) {
        Map<String, Object> event = event("started");
        event.put("tcp", tcp);
        event.put("udp", udp);
        event.put("tls", tls);
        event.put("transport", transport);
        Map<String, Object> byLevel = new LinkedHashMap<>();
        levels.forEach(status ->
                byLevel.put(status.level().label(), Map.of("there", status.isThere(), "detail", status.detail())));
        event.put("levels", byLevel);
        event.put(
                "services",
                services.stream().map(ServiceDefinition::name).sorted().toList());
        event.put("routes", routes);
        event.put("servers", servers);
        output.json(event);
    }

    @Override
    public void cluster(MembershipStatus status) {
        Map<String, Object> event = event("cluster");
        event.put("cluster", status);
        output.json(event);
    }

    @Override
    public void rates(Interval interval) {
        Map<String, Object> event = event("stats");
        event.put("seconds", interval.seconds());
        event.put("packetsInPerSecond", Math.round(interval.packetsInPerSecond()));
        event.put("packetsOutPerSecond", Math.round(interval.packetsOutPerSecond()));
        event.put("octetsInPerSecond", Math.round(interval.octetsInPerSecond()));
        event.put("octetsOutPerSecond", Math.round(interval.octetsOutPerSecond()));
        event.put("streams", interval.streams());
        output.json(total(event, interval.to()));
    }

    @Override
    public void stopping(int streams, Duration drainTimeout) {
        Map<String, Object> event = event("stopping");
        event.put("streams", streams);
        event.put("drainTimeoutMs", drainTimeout.toMillis());
        output.json(event);
    }

    @Override
    public void stopped(TrafficSnapshot total, int cutStreams) {
        Map<String, Object> event = event("stopped");
        event.put("streamsCut", cutStreams);
        output.json(total(event, total));
    }

    private static Map<String, Object> event(String name) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", name);
        event.put("timeMs", System.currentTimeMillis());
        return event;
    }

    /** Puts all that crossed a node behind the other fields. */
    static Map<String, Object> total(Map<String, Object> fields, TrafficSnapshot total) {
        fields.put("packetsIn", total.packetsIn());
        fields.put("packetsMade", total.packetsMade());
        fields.put("packetsOut", total.packetsOut());
        fields.put("octetsIn", total.octetsIn());
        fields.put("octetsOut", total.octetsOut());
        fields.put("held", total.held());
        fields.put("dropped", total.dropped());
        fields.put("drops", new TreeMap<>(total.drops()));
        fields.put("unaccounted", NodeReport.unaccounted(total));
        fields.put("anomalies", total.anomalies());
        return fields;
    }
}
