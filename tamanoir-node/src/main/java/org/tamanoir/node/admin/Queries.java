package org.tamanoir.node.admin;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.admission.StreamCounts;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.DeploymentStatistics;
import org.tamanoir.manager.Event;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.TrafficSnapshot;

/** Answers to questions about the node's state; nothing here changes it. Any thread may call. */
final class Queries {
    /** Stands in a path for the version of a service of the class path, which has none. */
    static final String NO_VERSION = "-";

    private final ActiveNodeManager manager;
    private final AdminSettings settings;
    private final Supplier<String> config;
    private final Instant startedAt =
            Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());

    /** @param config the configuration in force, as text */
    Queries(ActiveNodeManager manager, AdminSettings settings, Supplier<String> config) {
        this.manager = manager;
        this.settings = settings;
        this.config = config;
    }

    Views.Node node(InetSocketAddress admin) {
        ExecutionEnvironment environment = manager.environment();
        String notReady = manager.notReady();
        return new Views.Node(
                version(),
                String.valueOf(System.getProperty("java.version")),
                startedAt.toString(),
                Duration.between(startedAt, Instant.now()).toMillis() / 1000.0,
                environment.tcpAddresses().stream().map(Endpoint::toString).toList(),
                environment.udpAddresses().stream().map(Endpoint::toString).toList(),
                environment.transport(),
                environment.ranks().text(),
                environment.groups().text(),
                Endpoint.toString(admin),
                settings.takesChanges(),
                notReady == null,
                notReady);
    }

    /** As the jar's manifest says. */
    static String version() {
        @Nullable String version = AdminServer.class.getPackage().getImplementationVersion();
        return version == null ? "(not from a jar)" : version;
    }

    Views.Services services(Call call) throws ApiException {
        return limited(
                manager.services(),
                each -> Views.label(each.name(), each.version()),
                Views.Service::of,
                call,
                Views.Services::new);
    }

    Views.Services service(Call call) throws ApiException {
        String name = ServiceNames.full(manager, call);
        return limited(versions(name), ServiceStatus::version, Views.Service::of, call, Views.Services::new);
    }

    /** Of the version that streams get by the bare name. */
    Views.DeclaredSettings settings(Call call) throws ApiException, ManagerException {
        return Views.DeclaredSettings.of(manager.definition(ServiceNames.full(manager, call)));
    }

    Views.Service version(Call call) throws ApiException {
        String name = ServiceNames.full(manager, call);
        String version = call.path("version").equals(NO_VERSION) ? "" : call.path("version");
        // One version may be there twice for a while: deployed anew while the old classes unload.
        return versions(name).stream()
                .filter(status -> status.version().equals(version))
                .min(Comparator.comparing(ServiceStatus::state))
                .map(Views.Service::of)
                .orElseThrow(() -> new ApiException(
                        ApiException.NOT_FOUND,
                        "service " + name + " is here, but not in that version; GET /v1/services/" + name
                                + " lists those that are"));
    }

    private List<ServiceStatus> versions(String name) throws ApiException {
        List<ServiceStatus> versions = manager.services().stream()
                .filter(status -> status.name().equals(name))
                .toList();
        if (versions.isEmpty()) {
            throw new ApiException(
                    ApiException.NOT_FOUND,
                    "service " + name + " is not on this node; GET /v1/services lists those that are");
        }
        return versions;
    }

    Views.Instances instances(Call call) throws ApiException {
        return limited(
                manager.environment().instances(),
                each -> each.service().label() + " " + each.stream().peer(),
                Views.Instance::of,
                call,
                Views.Instances::new);
    }

    GatewayViews.Gateways gateways() {
        return GatewayViews.Gateways.of(manager.environment().gatewayStatus(), manager.services());
    }

    RtpViews.Rtp rtp() {
        return RtpViews.Rtp.of(manager.environment().rtp());
    }

    PlainViews.Plain plain() {
        return PlainViews.Plain.of(manager.environment().plain());
    }

    PlainViews.Explained explain(Call call) throws ApiException {
        return PlainViews.Explained.of(manager.environment(), call);
    }

    LevelViews.Levels levels(Call call) throws ApiException {
        return LevelViews.Levels.of(manager.environment().levels(), call.limit());
    }

    Views.Streams streams(Call call) throws ApiException {
        Map<StreamInfo, List<InstanceStatus>> byStream = new LinkedHashMap<>();
        manager.environment().instances().stream()
                .filter(instance -> instance.stream().transport() == StreamInfo.Transport.TCP)
                .forEach(instance -> byStream.computeIfAbsent(instance.stream(), stream -> new ArrayList<>())
                        .add(instance));
        StreamCounts counts = manager.environment().streams();
        return limited(
                List.copyOf(byStream.entrySet()),
                each -> address(each.getKey())
                        + each.getValue().stream()
                                .map(instance -> " " + instance.service().label())
                                .collect(Collectors.joining()),
                each -> stream(address(each.getKey()), each.getKey().local(), each.getValue()),
                call,
                (streams, total) -> new Views.Streams(
                        counts.open(),
                        counts.accepted(),
                        counts.refused(),
                        manager.environment().waitingForCode(),
                        streams,
                        total));
    }

    /** Returns the peer of a TCP stream, which has one. */
    private static String address(StreamInfo stream) {
        return stream.peer() == null ? "" : Endpoint.toString(stream.peer());
    }

    private static Views.Stream stream(String peer, InetSocketAddress local, List<InstanceStatus> instances) {
        List<TrafficSnapshot> traffic =
                instances.stream().map(InstanceStatus::traffic).toList();
        return new Views.Stream(
                peer,
                Endpoint.toString(local),
                instances.stream().map(instance -> instance.service().label()).toList(),
                instances.stream()
                        .map(InstanceStatus::startedAt)
                        .min(Comparator.naturalOrder())
                        .orElse(Instant.EPOCH)
                        .toString(),
                traffic.stream().mapToLong(TrafficSnapshot::packetsIn).sum(),
                traffic.stream().mapToLong(TrafficSnapshot::bytesIn).sum(),
                traffic.stream().mapToLong(TrafficSnapshot::packetsOut).sum(),
                traffic.stream().mapToLong(TrafficSnapshot::bytesOut).sum(),
                traffic.stream().mapToLong(TrafficSnapshot::dropped).sum());
    }

    Views.JavaThreads threads(Call call) throws ApiException {
        java.lang.management.ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] ids = threads.getAllThreadIds();
        Arrays.sort(ids);
        long[] shown = Arrays.copyOf(ids, Math.min(ids.length, call.limit()));
        ThreadInfo[] infos = threads.getThreadInfo(shown);
        long[] processorNs = new long[shown.length];
        long[] bytes = new long[shown.length];
        Arrays.fill(bytes, -1);
        if (threads instanceof com.sun.management.ThreadMXBean detailed) {
            processorNs = detailed.getThreadCpuTime(shown);
            bytes = detailed.getThreadAllocatedBytes(shown);
        }
        List<Views.JavaThread> all = new ArrayList<>();
        for (int i = 0; i < shown.length; i++) {
            ThreadInfo info = infos[i];
            if (info != null) {
                all.add(new Views.JavaThread(
                        info.getThreadId(),
                        info.getThreadName(),
                        info.isDaemon(),
                        info.getThreadState().name().toLowerCase(Locale.ROOT),
                        Math.max(0, processorNs[i]) / 1e9,
                        bytes[i]));
            }
        }
        return new Views.JavaThreads(all, ids.length);
    }

    Views.Routes routes(Call call) throws ApiException {
        return routes(manager, prefix(call, "within"), prefix(call, "after"), call.limit());
    }

    /** Returns a page of the routes; it makes no list of them all. */
    static Views.Routes routes(ActiveNodeManager manager, @Nullable Prefix within, @Nullable Prefix after, int limit) {
        List<Route> found = manager.routes(within, after, limit + 1);
        boolean isAll = found.size() <= limit;
        List<Route> page = isAll ? found : found.subList(0, limit);
        return new Views.Routes(
                page.stream().map(RouteJson::of).toList(),
                manager.routeCount(),
                isAll ? null : page.get(limit - 1).prefix().toString(),
                Views.Feed.of(manager.feedStatus()));
    }

    private static @Nullable Prefix prefix(Call call, String name) throws ApiException {
        String text = call.query(name);
        try {
            return text == null ? null : Prefix.parse(text);
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.BAD_REQUEST, name + "=" + e.getMessage());
        }
    }

    /** Returns the route that decides about an address. */
    RouteJson route(Call call) throws ApiException, ManagerException {
        Prefix address = Commands.prefix(call);
        if (!address.isAddress()) {
            throw new ApiException(
                    ApiException.INVALID, address + " is a prefix: an address is wanted, about which routes decide");
        }
        return RouteJson.of(manager.decidingRoute(address));
    }

    Views.Traffic traffic() {
        return Views.Traffic.of(manager.environment().traffic());
    }

    Views.Deployments deployments() {
        DeploymentStatistics statistics = manager.deploymentStatistics();
        return new Views.Deployments(
                new TreeMap<>(statistics.outcomes()),
                new TreeMap<>(statistics.seconds()),
                statistics.running(),
                statistics.streamsHeld());
    }

    Views.Configuration config() {
        String text = config.get();
        for (AdminToken token : settings.tokens()) {
            text = token.token().hide(text);
        }
        return new Views.Configuration(text);
    }

    Views.Events events(Call call) throws ApiException {
        long after = call.number("after", 0, Long.MAX_VALUE, 0);
        int limit = call.limit();
        long lastId = manager.events().catchUp();
        List<Event> events = manager.events().after(after);
        return new Views.Events(
                events.subList(0, Math.min(limit, events.size())).stream()
                        .map(Views.NodeEvent::of)
                        .toList(),
                lastId);
    }

    Views.Readiness readiness() {
        String notReady = manager.notReady();
        return new Views.Readiness(notReady == null, notReady);
    }

    /** The list of a view. */
    private interface Listed<V, L> {
        L of(List<V> items, int total);
    }

    /**
     * Returns the page of a list that the query asks for.
     *
     * @param text in which its {@code match} is looked for
     */
    private static <T, V, L> L limited(
            List<T> items, Function<T, String> text, Function<T, V> view, Call call, Listed<V, L> listed)
            throws ApiException {
        Predicate<String> matching = call.matching();
        List<T> matched =
                items.stream().filter(each -> matching.test(text.apply(each))).toList();
        return listed.of(
                matched.stream()
                        .skip(call.offset())
                        .limit(call.limit())
                        .<V>map(view)
                        .toList(),
                matched.size());
    }
}
