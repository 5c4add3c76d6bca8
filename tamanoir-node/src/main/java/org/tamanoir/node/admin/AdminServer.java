package org.tamanoir.node.admin;

import com.google.common.base.Throwables;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.node.config.QosTable;
import org.tamanoir.node.tc.TcStatus;
import org.tamanoir.node.ui.Dashboard;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.repository.HttpListener;
import org.tamanoir.transport.ListeningSockets;

/**
 * The admin API of a node: its state, changes of it, events and drops as they happen, metrics. What it answers is
 * described in the resource {@code openapi.yaml}, which it serves too.
 *
 * <p>Thread contract: any thread. Requests run as {@link Api} says; each answer that goes on until the client ends it
 * has a thread of its own, {@value #MAX_LIVE} at most.
 */
public final class AdminServer implements AutoCloseable {
    static final int MAX_LIVE = 16;

    /** Bytes of what a service's control is told: plans are larger than settings. */
    private static final int MAX_CONTROL_BYTES = 1 << 20;

    private final AdminSettings settings;
    private final ListeningSockets sockets;
    private final ActiveNodeManager manager;
    private final AdminGate gate;
    private final Queries state;
    private final Commands changes;
    private final EventStreams live;
    private final MetricsText metrics;
    private final Api api;
    private final AuthRequests keys;
    private final TraceRequests traces;
    private final LoadView load;
    private final LiveFeed feed;
    private Supplier<@Nullable MembershipStatus> cluster = () -> null;
    private Supplier<ElementViews.@Nullable Element> element = () -> null;
    private Supplier<TcStatus> trafficControl = () -> new TcStatus(false, List.of());
    private @Nullable LongSupplier missedSpans;
    private Predicate<InetAddress> isDirector = from -> false;
    private final ThreadPoolExecutor liveThreads;
    private final StrangerPlaces strangers = new StrangerPlaces();
    private volatile @Nullable HttpListener listener;
    private volatile boolean hasLeft;

    /**
     * A server that is not started.
     *
     * @param config the configuration in force as text, without secrets; called by any thread
     */
    public AdminServer(ActiveNodeManager manager, AdminSettings settings, Supplier<String> config) {
        this(manager, settings, ListeningSockets.NONE, config);
    }

    /** Makes one whose socket may come from another process, and go to one. */
    public AdminServer(
            ActiveNodeManager manager, AdminSettings settings, ListeningSockets sockets, Supplier<String> config) {
        this.settings = settings;
        this.sockets = sockets;
        this.manager = manager;
        gate = new AdminGate(settings, "node");
        gate.letControlsRead(typed -> ServiceNames.full(manager, typed));
        state = new Queries(manager, settings, config);
        changes = new Commands(manager);
        traces = new TraceRequests(manager.environment());
        keys = new AuthRequests(manager.environment().authentication());
        live = new EventStreams(manager);
        load = new LoadView(manager.environment());
        feed = new LiveFeed(() -> LiveViews.Live.of(manager, load.now(), cluster.get() != null, element.get() != null));
        metrics = new MetricsText(figures -> {
            NodeMetrics.add(figures, manager);
            LongSupplier spans = missedSpans;
            if (spans != null) {
                figures.counter("spans_missed", "Spans of TCP streams that no collector took.", spans.getAsLong());
            }
            ElementViews.add(figures, element.get());
            QosMetrics.add(figures, trafficControl.get());
            feed.addTo(figures);
        });
        Supplier<ThreadRanks> ranks = () -> manager.environment().ranks();
        api = new Api(gate, ranks, ChangeLog.of(manager));
        liveThreads = Api.threads("admin-live-", MAX_LIVE, new SynchronousQueue<>(), ranks);
    }

    /**
     * Shows what the node knows as a back-end of a cluster, and reserves places for those that ask it as directors.
     * Before {@link #start}.
     *
     * @param from whether a director asks from this address; must not block
     */
    public void cluster(Supplier<@Nullable MembershipStatus> status, Predicate<InetAddress> from) {
        cluster = status;
        isDirector = from;
        gate.letDirectorsRead(from);
    }

    /** Shows the distributed element that the node is a unit of. Before {@link #start}. */
    public void element(Supplier<ElementViews.@Nullable Element> status) {
        element = status;
    }

    /** Shows the rules for the host's traffic control. Before {@link #start}. */
    public void trafficControl(Supplier<TcStatus> status) {
        trafficControl = status;
    }

    /** Shows how many spans of streams were missed. Before {@link #start}. */
    public void missedSpans(LongSupplier missed) {
        missedSpans = missed;
    }

    /** Lets changes have the configuration read again. Before {@link #start}. */
    public void reloading(Reloading reloading) {
        changes.reloading(reloading);
    }

    /**
     * Listens.
     *
     * @throws IOException in one line, if the address cannot be had or a TLS file is no good
     */
    public void start() throws IOException {
        listener = listen();
    }

    /** Listens by a thread whose rank those of the listener inherit: Vert.x starts them as it needs them. */
    private HttpListener listen() throws IOException {
        FutureTask<HttpListener> listening = new FutureTask<>(() -> {
            manager.environment().ranks().take(ThreadRank.SERVER);
            return HttpListener.start(
                    "admin API", settings.address(), settings.tls(), isDirector, this::router, sockets);
        });
        new Thread(listening, "admin-start").start();
        try {
            return listening.get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            Throwables.throwIfInstanceOf(cause, IOException.class);
            Throwables.throwIfUnchecked(cause);
            throw new IOException("admin API: " + cause, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("admin API: interrupted at its start", e);
        }
    }

    /** Where it listens, with the real port; before the start as configured. */
    public InetSocketAddress address() {
        HttpListener started = listener;
        return started == null ? settings.address() : started.address();
    }

    /** Reads the files of TLS again, as {@link HttpListener#renew} says. */
    public void renew() throws IOException {
        HttpListener started = listener;
        if (started != null) {
            started.renew();
        }
    }

    /**
     * Accepts no more, as {@link HttpListener#leave} says, takes no changes, and ends answers that go on: another process
     * serves.
     */
    public void leave() {
        HttpListener started = listener;
        if (started != null) {
            started.leave();
            api.leave();
            hasLeft = true;
            started.onLoop(feed::leave);
        }
    }

    /** Ends, with what runs. */
    @Override
    public void close() {
        liveThreads.shutdownNow();
        api.close();
        HttpListener started = listener;
        if (started != null) {
            started.close();
        }
        metrics.close();
    }

    /** All operations, as in {@code GET /v1/services/{name}}; for tests. */
    List<String> operations() {
        return api.operations();
    }

    // ---- routes ----------------------------------------------------------------------------------------------------

    private Router router(Vertx vertx) {
        Router router = api.router(vertx);

        api.question(router, "/health")
                .handler(context -> Api.read(context, call -> {
                    Views.NodeHealth health =
                            Views.NodeHealth.of(manager.environment().coreProblems());
                    int status = health.problems().isEmpty() ? Replies.OK : ApiException.BUSY;
                    return new Replies.Reply(status, Replies.JSON, Replies.json(health));
                }));
        api.question(router, "/ready")
                .handler(context -> Api.read(context, call -> {
                    Views.Readiness readiness = state.readiness();
                    int status = readiness.ready() ? Replies.OK : ApiException.BUSY;
                    return new Replies.Reply(status, Replies.JSON, Replies.json(readiness));
                }));
        api.text(router, "/metrics", MetricsText.CONTENT_TYPE, call -> metrics.scrape());
        api.text(router, "/openapi.yaml", "application/yaml; charset=utf-8", call -> Api.openApi("/openapi.yaml"));

        api.get(router, "/v1/node", call -> state.node(address()));
        api.get(router, "/v1/services", state::services, "match", "limit", "offset");
        api.get(router, "/v1/services/{name}", state::service, "match", "limit", "offset");
        api.get(router, "/v1/services/{name}/settings", state::settings);
        api.get(router, "/v1/services/{name}/control", call -> manager.control(ServiceNames.full(manager, call)));
        api.get(router, "/v1/services/{name}/{version}", state::version);
        api.get(router, "/v1/instances", state::instances, "match", "limit", "offset");
        api.get(router, "/v1/streams", state::streams, "match", "limit", "offset");
        api.get(router, "/v1/threads", state::threads, "limit");
        api.get(router, "/v1/levels", state::levels, "limit");
        api.get(router, "/v1/plain", call -> state.plain());
        api.get(
                router,
                "/v1/plain/explain",
                state::explain,
                "protocol",
                "source",
                "destination",
                "type",
                "dscp",
                "fwmark",
                "router-alert");
        api.get(router, "/v1/gateways", call -> state.gateways());
        api.get(router, "/v1/rtp", call -> state.rtp());
        api.get(router, "/v1/traffic-control", call -> trafficControl.get());
        api.get(router, "/v1/routes", state::routes, "within", "after", "limit");
        api.get(router, "/v1/routes/{prefix}", state::route);
        api.get(router, "/v1/traffic", call -> state.traffic());
        api.get(router, "/v1/load", call -> load.now());
        api.question(router, "/v1/live").handler(feed::listen);
        api.get(router, "/v1/cluster", call -> ClusterViews.of(cluster.get()));
        api.get(router, "/cluster", call -> ClusterViews.of(cluster.get()));
        api.get(router, "/v1/element", call -> ElementViews.of(element.get()));
        api.get(router, "/v1/deployments", call -> state.deployments());
        api.get(router, "/v1/qos", call -> QosTable.data(manager.qos()));
        api.get(router, "/v1/qos/status", call -> QosViews.Status.of(manager.qosStatus()));
        api.get(router, "/v1/config", call -> state.config());
        api.get(router, "/v1/authentication", call -> keys.status());
        api.question(router, "/v1/events", "after", "limit").handler(context -> {
            String accept = context.request().getHeader(HttpHeaders.ACCEPT);
            if (accept != null && accept.contains(StreamedAnswer.EVENT_STREAM)) {
                live(context, live::events);
            } else {
                Api.read(context, Replies.of(state::events));
            }
        });
        api.question(router, "/v1/drops", "perSecond").handler(context -> live(context, live::drops));
        api.question(router, "/v1/capture", "packets", "seconds").handler(context -> {
            try {
                gate.admitContents(context.request());
                live(context, live::capture);
            } catch (ApiException e) {
                Replies.refuse(context, e);
            }
        });

        new Dashboard("node").serve(router);

        api.change(router, HttpMethod.POST, "/v1/services/{name}/deploy", changes::deploy);
        api.change(router, HttpMethod.POST, "/v1/services/{name}/undeploy", changes::undeploy);
        api.change(router, HttpMethod.POST, "/v1/services/{name}/drain", changes::drain);
        api.change(router, HttpMethod.POST, "/v1/services/{name}/release", changes::release);
        api.change(router, HttpMethod.PUT, "/v1/services/{name}/level", changes::place);
        api.change(
                router,
                HttpMethod.POST,
                "/v1/services/{name}/control/{operation}",
                MAX_CONTROL_BYTES,
                this::admitControl,
                changes::control);
        api.change(router, HttpMethod.POST, "/v1/revocations", changes::revoke);
        api.change(router, HttpMethod.PUT, "/v1/routes", changes::replaceRoutes);
        api.change(router, HttpMethod.POST, "/v1/routes", changes::loadRoutes);
        api.change(router, HttpMethod.PUT, "/v1/routes/{prefix}", changes::putRoute);
        api.change(router, HttpMethod.DELETE, "/v1/routes/{prefix}", changes::removeRoute);
        api.change(router, HttpMethod.PUT, "/v1/qos", changes::changeQos);
        api.change(router, HttpMethod.DELETE, "/v1/qos", call -> changes.qosOff());
        api.change(router, HttpMethod.POST, "/v1/reload", changes::reload);
        api.change(router, HttpMethod.POST, "/v1/trace", traces::trace);
        api.change(router, HttpMethod.PUT, "/v1/authentication/keys/{id}", keys::add);
        api.change(router, HttpMethod.DELETE, "/v1/authentication/keys/{id}", keys::remove);
        return router;
    }

    /** Looks the service up once: a token that is for it must not change another one that has come in between. */
    private Optional<AdminToken> admitControl(RoutingContext context) throws ApiException {
        AdminToken token = gate.admitControl(context.request());
        String service = ServiceNames.full(manager, String.valueOf(context.pathParam("name")));
        AdminGate.requireControl(token, service);
        context.put(Call.SERVICE, service);
        return Optional.of(token);
    }

    private void live(RoutingContext context, Replies.LiveWork work) {
        Object stranger = HttpListener.stranger(context.request());
        Runnable answer = () -> {
            try {
                strangers.take(stranger);
            } catch (ApiException e) {
                Replies.fail(context, e);
                return;
            }
            try {
                Replies.stream(context, work, () -> hasLeft);
            } finally {
                strangers.leave(stranger);
            }
        };
        try {
            Api.run(liveThreads, answer, "live answers");
        } catch (ApiException e) {
            Replies.refuse(context, e);
        }
    }
}
