package org.tamanoir.node.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * What a node says on standard output: lines for people, where on a terminal rates are progress, each over the one
 * before; or one JSON object per line for programs, in which {@code event} says what happened, and figures of packets and
 * bytes are totals. Callers see to it that one thread at a time calls.
 */
public final class NodeReport {
    private final Output output;

    NodeReport(Output output) {
        this.output = output;
    }

    /**
     * Says that the node has begun to accept.
     *
     * @param tcp addresses with the real ports
     * @param udp addresses with the real ports
     * @param transport which sockets are in use
     * @param levels where packets can be handled, and why not elsewhere
     * @param servers addresses of the HTTP servers by what they are
     */
    void started(
            List<String> tcp,
            List<String> tls,
            List<String> udp,
            List<String> quic,
            List<String> gateways,
            String transport,
            List<LevelStatus> levels,
            Collection<ServiceDefinition> services,
            int routes,
            Map<String, String> servers) {
        Map<String, Object> event = event("started");
        event.put("tcp", tcp);
        event.put("udp", udp);
        event.put("tls", tls);
        event.put("quic", quic);
        event.put("gateways", gateways);
        event.put("transport", transport);
        Map<String, Object> byLevel = new LinkedHashMap<>();
        levels.forEach(status ->
                byLevel.put(status.level().label(), Map.of("there", status.isThere(), "detail", status.detail())));
        event.put("levels", byLevel);
        List<String> names =
                services.stream().map(ServiceDefinition::name).sorted().toList();
        event.put("services", names);
        event.put("routes", routes);
        event.put("servers", servers);
        output.json(event);
        tcp.forEach(address -> output.line("listening on tcp " + address));
        tls.forEach(address -> output.line("listening on tls " + address));
        udp.forEach(address -> output.line("listening on udp " + address));
        quic.forEach(address -> output.line("listening on quic " + address));
        gateways.forEach(gateway -> output.line("gateway " + gateway));
        output.line("transport: " + transport);
        output.line("levels: " + levels(levels));
        output.line("services: " + (names.isEmpty() ? "none" : String.join(", ", names)));
        servers.forEach((name, address) -> output.line(name + ": " + address));
        output.line("routes: " + (routes == 0 ? "none, so nothing leaves; add one with --route" : routes));
    }

    /** Says what it knows as a back-end of a cluster, once it has begun to accept. */
    void cluster(MembershipStatus status) {
        Map<String, Object> event = event("cluster");
        event.put("cluster", status);
        output.json(event);
        for (MembershipStatus.DirectorLink director : status.directors()) {
            output.line("cluster: " + status.name() + " is " + director.state() + " at " + director.url()
                    + (director.problem() == null ? "" : ", " + director.problem()));
        }
        status.problems().forEach(problem -> output.line("cluster: " + problem));
        MembershipStatus.HostState host = status.setUp();
        if (!host.applied() && !host.commands().isEmpty()) {
            output.line("cluster: the host is not set up by the node; as root, run:");
            host.commands().forEach(command -> output.line("  " + command));
        }
    }

    /** {@code jvm, tc on eth0; not xdp: reason; not module: reason}; those for the same reason together. */
    static String levels(List<LevelStatus> levels) {
        List<String> there = new ArrayList<>();
        Map<String, List<String>> notThere = new LinkedHashMap<>();
        for (LevelStatus status : levels) {
            String label = status.level().label();
            if (!status.isThere()) {
                notThere.computeIfAbsent(status.detail(), reason -> new ArrayList<>())
                        .add(label);
            } else {
                boolean isNamed = status.detail().startsWith(label);
                there.add(
                        status.level() == Level.JVM
                                ? label
                                : isNamed ? status.detail() : label + " (" + status.detail() + ")");
            }
        }
        StringBuilder line = new StringBuilder(String.join(", ", there));
        notThere.forEach((reason, labels) -> line.append("; not ")
                .append(String.join(", ", labels))
                .append(": ")
                .append(reason));
        return line.toString();
    }

    /** Says what crossed it since the last call. */
    void rates(Interval interval) {
        Map<String, Object> event = event("stats");
        event.put("seconds", interval.seconds());
        event.put("packetsInPerSecond", Math.round(interval.packetsInPerSecond()));
        event.put("packetsOutPerSecond", Math.round(interval.packetsOutPerSecond()));
        event.put("bytesInPerSecond", Math.round(interval.bytesInPerSecond()));
        event.put("bytesOutPerSecond", Math.round(interval.bytesOutPerSecond()));
        event.put("streams", interval.streams());
        output.json(total(event, interval.to()));
        String line = String.format(
                Locale.ROOT,
                "in %,.0f packets/s %.1f MB/s, out %,.0f packets/s %.1f MB/s, streams %d, %s",
                interval.packetsInPerSecond(),
                interval.bytesInPerSecond() / 1e6,
                interval.packetsOutPerSecond(),
                interval.bytesOutPerSecond() / 1e6,
                interval.streams(),
                drops(interval.to()));
        if (output.showsProgress()) {
            output.progress(line);
        } else {
            output.line(line);
        }
    }

    /** Says that it was told to stop and lets streams finish. */
    void stopping(int streams, Duration drainTimeout) {
        Map<String, Object> event = event("stopping");
        event.put("streams", streams);
        event.put("drainTimeoutMs", drainTimeout.toMillis());
        output.json(event);
        output.line(String.format(
                Locale.ROOT, "stopping: %d streams have %s to finish", streams, Quantity.toString(drainTimeout)));
    }

    /**
     * Says that it has stopped.
     *
     * @param cutStreams streams that did not finish in time
     */
    void stopped(TrafficSnapshot total, int cutStreams) {
        Map<String, Object> event = event("stopped");
        event.put("streamsCut", cutStreams);
        output.json(total(event, total));
        output.line("stopped: " + balance(total) + "; streams cut: " + cutStreams);
    }

    /** Returns the packets that were lost count of: 0, or the node has an error. */
    public static long unaccounted(TrafficSnapshot total) {
        return total.packetsIn() + total.packetsMade() - total.packetsOut() - total.dropped() - total.held();
    }

    /** What came in is what left, ended here and is still here: in one line, and what of it does not add up. */
    public static String balance(TrafficSnapshot total) {
        long unaccounted = unaccounted(total);
        return String.format(
                Locale.ROOT,
                "%,d in + %,d made = %,d out + %,d dropped + %,d held%s; %.1f MB in, %.1f MB out; %s",
                total.packetsIn(),
                total.packetsMade(),
                total.packetsOut(),
                total.dropped(),
                total.held(),
                unaccounted == 0 ? "" : " + " + unaccounted + " UNACCOUNTED FOR",
                total.bytesIn() / 1e6,
                total.bytesOut() / 1e6,
                drops(total));
    }

    private static String drops(TrafficSnapshot traffic) {
        Map<DropReason, Long> byReason = new TreeMap<>(traffic.drops());
        return byReason.isEmpty()
                ? "dropped 0"
                : String.format(Locale.ROOT, "dropped %,d", traffic.dropped())
                        + byReason.entrySet().stream()
                                .map(drop -> String.format(Locale.ROOT, "%s %,d", drop.getKey(), drop.getValue()))
                                .collect(Collectors.joining(", ", " (", ")"));
    }

    private static Map<String, Object> event(String name) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", name);
        event.put("timeMs", System.currentTimeMillis());
        return event;
    }

    /** Puts all that crossed a node behind the other fields. */
    public static Map<String, Object> total(Map<String, Object> fields, TrafficSnapshot total) {
        fields.put("packetsIn", total.packetsIn());
        fields.put("packetsMade", total.packetsMade());
        fields.put("packetsOut", total.packetsOut());
        fields.put("bytesIn", total.bytesIn());
        fields.put("bytesOut", total.bytesOut());
        fields.put("held", total.held());
        fields.put("dropped", total.dropped());
        fields.put("drops", new TreeMap<>(total.drops()));
        fields.put("unaccounted", unaccounted(total));
        fields.put("anomalies", total.anomalies());
        return fields;
    }

    /**
     * Two readings and the time between them.
     *
     * @param seconds above 0
     * @param streams TCP streams that services process at the end of the interval
     */
    record Interval(TrafficSnapshot from, TrafficSnapshot to, double seconds, int streams) {
        double packetsInPerSecond() {
            return (to.packetsIn() - from.packetsIn()) / seconds;
        }

        double packetsOutPerSecond() {
            return (to.packetsOut() - from.packetsOut()) / seconds;
        }

        double bytesInPerSecond() {
            return (to.bytesIn() - from.bytesIn()) / seconds;
        }

        double bytesOutPerSecond() {
            return (to.bytesOut() - from.bytesOut()) / seconds;
        }
    }
}
