package org.tamanoir.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.tamanoir.anep.DropReason;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelStatus;

/** Lines for people; on a terminal rates are progress, each line over the one before. */
final class TextReport implements NodeReport {
    private final Output output;

    TextReport(Output output) {
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
        tcp.forEach(address -> output.line("listening on tcp " + address));
        tls.forEach(address -> output.line("listening on tls " + address));
        udp.forEach(address -> output.line("listening on udp " + address));
        output.line("transport: " + transport);
        output.line("levels: " + levels(levels));
        output.line("services: "
                + (services.isEmpty()
                        ? "none"
                        : services.stream()
                                .map(ServiceDefinition::name)
                                .sorted()
                                .collect(Collectors.joining(", "))));
        servers.forEach((name, address) -> output.line(name + ": " + address));
        output.line("routes: " + (routes == 0 ? "none, so nothing leaves; add one with --route" : routes));
    }

    @Override
    public void cluster(MembershipStatus status) {
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

    @Override
    public void rates(Interval interval) {
        String line = String.format(
                Locale.ROOT,
                "in %,.0f packets/s %.1f MB/s, out %,.0f packets/s %.1f MB/s, streams %d, %s",
                interval.packetsInPerSecond(),
                interval.octetsInPerSecond() / 1e6,
                interval.packetsOutPerSecond(),
                interval.octetsOutPerSecond() / 1e6,
                interval.streams(),
                drops(interval.to()));
        if (output.showsProgress()) {
            output.progress(line);
        } else {
            output.line(line);
        }
    }

    @Override
    public void stopping(int streams, Duration drainTimeout) {
        output.line(String.format(
                Locale.ROOT, "stopping: %d streams have %s to finish", streams, Quantity.toString(drainTimeout)));
    }

    @Override
    public void stopped(TrafficSnapshot total, int cutStreams) {
        output.line("stopped: " + balance(total) + "; streams cut: " + cutStreams);
    }

    /** What came in is what left, ended here and is still here: in one line, and what of it does not add up. */
    static String balance(TrafficSnapshot total) {
        long unaccounted = NodeReport.unaccounted(total);
        return String.format(
                Locale.ROOT,
                "%,d in + %,d made = %,d out + %,d dropped + %,d held%s; %.1f MB in, %.1f MB out; %s",
                total.packetsIn(),
                total.packetsMade(),
                total.packetsOut(),
                total.dropped(),
                total.held(),
                unaccounted == 0 ? "" : " + " + unaccounted + " UNACCOUNTED FOR",
                total.octetsIn() / 1e6,
                total.octetsOut() / 1e6,
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
}
