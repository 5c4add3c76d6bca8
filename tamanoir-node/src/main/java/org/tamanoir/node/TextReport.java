package org.tamanoir.node;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.TrafficSnapshot;

/** Lines for people; on a terminal rates go to standard error, each line over the one before. */
final class TextReport implements NodeReport {
    private static final String ERASE_LINE = "\r\u001B[K";

    private final PrintWriter out;
    private final @Nullable PrintWriter terminal;

    /** @param terminal null = none, so that rates are lines like others */
    TextReport(PrintWriter out, @Nullable PrintWriter terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    @Override
    public void started(
            List<String> tcp, List<String> udp, String transport, Collection<ServiceDefinition> services, int routes) {
        tcp.forEach(address -> out.println("listening on tcp " + address));
        udp.forEach(address -> out.println("listening on udp " + address));
        out.println("transport: " + transport);
        out.println("services: "
                + (services.isEmpty()
                        ? "none"
                        : services.stream()
                                .map(ServiceDefinition::name)
                                .sorted()
                                .collect(Collectors.joining(", "))));
        out.println("routes: " + (routes == 0 ? "none, so nothing leaves; add one with --route" : routes));
        out.flush();
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
        if (terminal != null) {
            terminal.print(ERASE_LINE + line);
            terminal.flush();
        } else {
            println(line);
        }
    }

    @Override
    public void stopping(int streams, Duration drainTimeout) {
        println(String.format(
                Locale.ROOT, "stopping: %d streams have %s to finish", streams, Quantity.toString(drainTimeout)));
    }

    @Override
    public void stopped(TrafficSnapshot total, int cutStreams) {
        long unaccounted = NodeReport.unaccounted(total);
        println(String.format(
                Locale.ROOT,
                "stopped: %,d in + %,d made = %,d out + %,d dropped + %,d held%s; %.1f MB in, %.1f MB out; %s; "
                        + "streams cut: %d",
                total.packetsIn(),
                total.packetsMade(),
                total.packetsOut(),
                total.dropped(),
                total.held(),
                unaccounted == 0 ? "" : " + " + unaccounted + " UNACCOUNTED FOR",
                total.octetsIn() / 1e6,
                total.octetsOut() / 1e6,
                drops(total),
                cutStreams));
    }

    private void println(String line) {
        if (terminal != null) {
            terminal.print(ERASE_LINE);
            terminal.flush();
        }
        out.println(line);
        out.flush();
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
