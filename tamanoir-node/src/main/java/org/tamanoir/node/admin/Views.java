package org.tamanoir.node.admin;

import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.manager.Event;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.routing.FeedStatus;
import org.tamanoir.service.DeclaredSetting;
import org.tamanoir.traffic.CounterTotal;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.TrafficSnapshot;

/** What the API shows of the node: the fields of its JSON, as openapi.yaml describes them. Any thread may call. */
final class Views {
    private Views() {}

    /** The node. */
    record Node(
            String version,
            String java,
            String startedAt,
            double uptimeSeconds,
            List<String> tcp,
            List<String> udp,
            String transport,
            String priorities,
            String groups,
            String admin,
            boolean changes,
            boolean ready,
            @Nullable String notReady) {}

    /** What crossed the node, a service or an instance. */
    record Traffic(
            long packetsIn,
            long bytesIn,
            long packetsMade,
            long packetsOut,
            long bytesOut,
            long held,
            long dropped,
            Map<String, Long> drops,
            long anomalies) {
        static Traffic of(TrafficSnapshot traffic) {
            Map<String, Long> drops = new TreeMap<>();
            traffic.drops().forEach((reason, packets) -> drops.put(reason.name(), packets));
            return new Traffic(
                    traffic.packetsIn(),
                    traffic.bytesIn(),
                    traffic.packetsMade(),
                    traffic.packetsOut(),
                    traffic.bytesOut(),
                    traffic.held(),
                    traffic.dropped(),
                    drops,
                    traffic.anomalies());
        }
    }

    /** One version of a service. */
    record Service(
            String name,
            String version,
            String key,
            String state,
            boolean current,
            String source,
            @Nullable String publisher,
            @Nullable String jarSha256,
            @Nullable String since,
            int tcpStreams,
            boolean udp,
            boolean controlled,
            String sizeEffect,
            @Nullable Traffic traffic,
            Map<String, Long> counters,
            Map<String, Long> dropReasons,
            @Nullable String fault,
            long failures,
            long quarantines,
            @Nullable String quarantinedUntil,
            double processorSeconds,
            long allocatedBytes,
            long throttles,
            long stuck,
            LevelViews.Placed placement,
            List<String> holders) {
        static Service of(ServiceStatus status) {
            TrafficSnapshot traffic = status.traffic();
            return new Service(
                    status.name(),
                    status.version(),
                    ServiceKey.toString(ServiceKey.of(label(status.name(), status.version()))),
                    word(status.state()),
                    status.current(),
                    status.source(),
                    status.publisherId(),
                    status.jarSha256(),
                    time(status.since()),
                    status.tcpStreams(),
                    status.udp(),
                    status.controlled(),
                    word(status.sizes()),
                    traffic == null ? null : Traffic.of(traffic),
                    values(status.counters()),
                    new TreeMap<>(status.dropReasons()),
                    faultOf(status),
                    status.health().failures(),
                    status.health().quarantines(),
                    time(status.health().quarantinedUntil()),
                    status.health().processorNs() / 1e9,
                    status.health().allocatedBytes(),
                    status.health().throttles(),
                    status.health().stuck(),
                    LevelViews.Placed.of(status.placement(), status.below()),
                    status.holders());
        }
    }

    private static @Nullable String faultOf(ServiceStatus status) {
        String fault = status.health().fault();
        return fault.isEmpty() ? null : fault;
    }

    /**
     * The settings that a service declares.
     *
     * @param declared whether it declares any, or that it takes none; else it takes what it likes
     */
    record DeclaredSettings(String name, String version, boolean declared, List<Setting> settings) {
        static DeclaredSettings of(ServiceDefinition service) {
            org.tamanoir.service.DeclaredSettings says = service.traits().settings();
            return new DeclaredSettings(
                    service.name(),
                    service.version(),
                    says.isDeclared(),
                    says.all().stream().map(Setting::of).toList());
        }
    }

    /** A setting; without a least or greatest value where its kind has none. */
    record Setting(
            String name,
            String kind,
            @Nullable String standard,
            @Nullable Long min,
            @Nullable Long max,
            List<String> choices,
            String allowed,
            String text) {
        static Setting of(DeclaredSetting says) {
            return new Setting(
                    says.name(),
                    word(says.kind()),
                    says.standard().isEmpty() ? null : says.standard(),
                    says.min() == Long.MIN_VALUE ? null : (Long) says.min(),
                    says.max() == Long.MAX_VALUE ? null : (Long) says.max(),
                    says.choices(),
                    says.allowed(),
                    says.text());
        }
    }

    /** Services. */
    record Services(List<Service> services, int total) {}

    /** A service at work for one stream, or for all UDP. */
    record Instance(
            String service,
            String version,
            String transport,
            @Nullable String peer,
            String local,
            String startedAt,
            String thread,
            Traffic traffic,
            Map<String, Long> counters,
            Map<String, Long> dropReasons,
            LevelViews.Below below) {
        static Instance of(InstanceStatus status) {
            return new Instance(
                    status.service().name(),
                    status.service().version(),
                    word(status.stream().transport()),
                    address(status.stream().peer()),
                    Endpoint.toString(status.stream().local()),
                    status.startedAt().toString(),
                    status.thread(),
                    Traffic.of(status.traffic()),
                    new TreeMap<>(status.counters()),
                    new TreeMap<>(status.dropReasons()),
                    LevelViews.Below.of(status.below()));
        }
    }

    /** Instances. */
    record Instances(List<Instance> instances, int total) {}

    /** A TCP stream, with all services that work on it. */
    record Stream(
            String peer,
            String local,
            List<String> services,
            String startedAt,
            long packetsIn,
            long bytesIn,
            long packetsOut,
            long bytesOut,
            long dropped) {}

    /** TCP streams: those open now, and how many there were. */
    record Streams(int open, long accepted, long refused, long waitingForCode, List<Stream> streams, int total) {}

    /** A thread of the JVM. Its bytes are -1 where the JVM does not tell. */
    record JavaThread(
            long id, String name, boolean daemon, String state, double processorSeconds, long allocatedBytes) {}

    /** Threads. */
    record JavaThreads(List<JavaThread> threads, int total) {}

    /** A number of routes. */
    record RouteCount(int total, int leftOut, int withoutNextHop) {}

    /**
     * Routes.
     *
     * @param next the last one's prefix, behind which the next page begins; null = there is no more
     * @param feed null = there is none
     */
    record Routes(
            List<RouteJson> routes,
            int total,
            @Nullable String next,
            @Nullable Feed feed) {}

    /** How the feed of routes does; the fields of {@link FeedStatus}. */
    record Feed(
            int routes,
            int unmapped,
            Map<String, Integer> unmappedGateways,
            long leftOut,
            String leftOutWhy,
            long changes,
            double changesPerSecond,
            @Nullable String lastChange,
            long resyncs,
            @Nullable String fault) {
        static @Nullable Feed of(@Nullable FeedStatus status) {
            return status == null
                    ? null
                    : new Feed(
                            status.routes(),
                            status.unmapped(),
                            new TreeMap<>(status.unmappedGateways()),
                            status.leftOut(),
                            status.why(),
                            status.changes(),
                            status.changesPerSecond(),
                            status.lastChange() == null
                                    ? null
                                    : status.lastChange().toString(),
                            status.resyncs(),
                            status.fault());
        }
    }

    /** Deployments. */
    record Deployments(Map<String, Long> outcomes, Map<String, Double> seconds, int running, long waitingForCode) {}

    /** The configuration in force. */
    record Configuration(String config) {}

    /** An event. */
    record NodeEvent(long id, String time, String kind, String text, Map<String, String> details) {
        static NodeEvent of(Event event) {
            return new NodeEvent(
                    event.id(), event.time().toString(), event.kind(), event.text(), new TreeMap<>(event.details()));
        }
    }

    /** Events. */
    record Events(List<NodeEvent> events, long lastId) {}

    /** A dropped packet, or several dropped together. */
    record Drop(
            String time,
            String reason,
            String service,
            @Nullable String peer,
            @Nullable String serviceKey,
            int bytes,
            long packets) {
        static Drop of(Tap.Drop drop) {
            return new Drop(
                    drop.time().toString(),
                    drop.reason().name(),
                    drop.service(),
                    address(drop.peer()),
                    drop.serviceKey() == ServiceKey.NONE ? null : ServiceKey.toString(drop.serviceKey()),
                    drop.bytes(),
                    drop.packets());
        }
    }

    /** How many were not shown, because they came faster than they were taken. */
    record Missed(long missed) {}

    /** What was revoked. */
    record Revoked(String revoked) {}

    /** The process is alive. */
    record Health(String status) {}

    /** Whether a node's own threads all do their work. */
    record NodeHealth(String status, List<String> problems) {
        /** Up, unless there are problems. */
        static NodeHealth of(List<String> problems) {
            return new NodeHealth(problems.isEmpty() ? "up" : "down", problems);
        }
    }

    /** Whether the node does its work. */
    record Readiness(boolean ready, @Nullable String reason) {}

    /** What went wrong, in one line. */
    record Failure(String error) {}

    /** What went wrong, and each thing that has to be put right, in one line each. */
    record Refusal(String error, List<String> problems) {}

    /** A stream that has ended, in the access log. */
    record EndedStream(
            String time,
            @Nullable String peer,
            String local,
            String service,
            double durationSeconds,
            String end,
            long packetsIn,
            long bytesIn,
            long packetsOut,
            long bytesOut,
            Map<DropReason, Long> drops) {
        static EndedStream of(StreamRecord record) {
            TrafficSnapshot traffic = record.traffic();
            return new EndedStream(
                    record.started().plus(record.duration()).toString(),
                    address(record.stream().peer()),
                    Endpoint.toString(record.stream().local()),
                    record.service(),
                    record.duration().toNanos() / 1e9,
                    record.end(),
                    traffic.packetsIn(),
                    traffic.bytesIn(),
                    traffic.packetsOut(),
                    traffic.bytesOut(),
                    new TreeMap<>(traffic.drops()));
        }
    }

    private static Map<String, Long> values(Map<String, CounterTotal> totals) {
        Map<String, Long> values = new TreeMap<>();
        totals.forEach((name, total) -> values.put(name, total.value()));
        return values;
    }

    /** As in {@code name:version}. */
    static String label(String name, String version) {
        return version.isEmpty() ? name : name + ":" + version;
    }

    private static @Nullable String address(@Nullable InetSocketAddress address) {
        return address == null ? null : Endpoint.toString(address);
    }

    private static @Nullable String time(@Nullable Instant time) {
        return time == null ? null : time.toString();
    }

    static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
