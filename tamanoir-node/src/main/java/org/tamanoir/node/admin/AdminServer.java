package org.tamanoir.node.admin;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.SecurityPolicyHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.node.QosText;
import org.tamanoir.repository.HttpListener;

/**
 * The admin API of a node: its state, changes of it, events and drops as they happen, metrics. What it answers is
 * described in the resource {@code openapi.yaml}, which it serves too.
 *
 * <p>Thread contract: any thread. The listener's event loop checks requests; questions are answered on its worker
 * threads, changes on up to {@value #MAX_CHANGES} threads of this server, and each answer that goes on until the
 * client ends it has a thread of its own, {@value #MAX_LIVE} at most.
 */
public final class AdminServer implements AutoCloseable {
    /** Octets of a request's body. */
    static final int MAX_BODY_OCTETS = 64 * 1024;

    static final int MAX_LIVE = 16;

    /** As many as deployments run at once, so that one that takes long does not hold up the others. */
    private static final int MAX_CHANGES = 4;

    private static final int MAX_WAITING_CHANGES = 16;
    private static final long KEEP_THREAD_SECONDS = 5;

    private static final Logger LOG = LoggerFactory.getLogger(AdminServer.class);

    private final AdminSettings settings;
    private final ActiveNodeManager manager;
    private final Gate gate;
    private final State state;
    private final Changes changes;
    private final Live live;
    private final NodeMetrics metrics;
    private final LoadView load;
    private Supplier<@Nullable MembershipStatus> cluster = () -> null;
    private final ThreadPoolExecutor changers;
    private final ThreadPoolExecutor livers;
    private final List<String> operations = new ArrayList<>();
    private volatile @Nullable HttpListener listener;

    /**
     * A server that is not started.
     *
     * @param config the configuration in force as text, without secrets; called by any thread
     */
    public AdminServer(ActiveNodeManager manager, AdminSettings settings, Supplier<String> config) {
        this.settings = settings;
        this.manager = manager;
        gate = new Gate(settings);
        state = new State(manager, settings, config);
        changes = new Changes(manager);
        live = new Live(manager);
        metrics = new NodeMetrics(manager);
        load = new LoadView(manager.environment());
        changers = threads("admin-change-", MAX_CHANGES, new ArrayBlockingQueue<>(MAX_WAITING_CHANGES));
        changers.setCorePoolSize(MAX_CHANGES);
        changers.allowCoreThreadTimeOut(true);
        livers = threads("admin-live-", MAX_LIVE, new SynchronousQueue<>());
    }

    private static ThreadPoolExecutor threads(String name, int max, BlockingQueue<Runnable> waiting) {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(0, max, KEEP_THREAD_SECONDS, TimeUnit.SECONDS, waiting, task -> {
            Thread thread = new Thread(task, name + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Shows what the node knows as a back-end of a cluster. Before {@link #start}. */
    public void cluster(Supplier<@Nullable MembershipStatus> status) {
        cluster = status;
    }

    /**
     * Listens.
     *
     * @throws IOException in one line, if the address cannot be had or a TLS file is no good
     */
    public void start() throws IOException {
        if (settings.token() != null
                && settings.tls() == null
                && !settings.address().getAddress().isLoopbackAddress()) {
            LOG.warn(
                    "admin API on {} without TLS: whoever is on the way can read the token; use admin.tls, or loopback",
                    Views.text(settings.address()));
        }
        listener = HttpListener.start("admin API", settings.address(), settings.tls(), this::router);
    }

    /** Where it listens, with the real port; before the start as configured. */
    public InetSocketAddress address() {
        HttpListener started = listener;
        return started == null ? settings.address() : started.address();
    }

    /** Ends, with what runs. */
    @Override
    public void close() {
        livers.shutdownNow();
        changers.shutdownNow();
        HttpListener started = listener;
        if (started != null) {
            started.close();
        }
        metrics.close();
    }

    /** All operations, as in {@code GET /v1/services/{name}}; for tests. */
    List<String> operations() {
        return List.copyOf(operations);
    }

    // ---- routes ----------------------------------------------------------------------------------------------------

    private Router router(Vertx vertx) {
        Router router = Router.router(vertx);
        router.route().handler(this::admit);
        for (int status : new int[] {400, 404, 405, 413, 414, 500}) {
            router.errorHandler(status, Replies::failed);
        }

        text(router, "/health", Replies.JSON, call -> Replies.json(new Views.Health("up")));
        on(router, HttpMethod.GET, "/ready")
                .handler(context -> read(context, call -> {
                    Views.Readiness readiness = state.readiness();
                    int status = readiness.ready() ? Replies.OK : ApiException.BUSY;
                    return new Replies.Reply(status, Replies.JSON, Replies.json(readiness));
                }));
        text(router, "/metrics", NodeMetrics.CONTENT_TYPE, call -> metrics.scrape());
        text(router, "/openapi.yaml", "application/yaml; charset=utf-8", call -> openApi());

        get(router, "/v1/node", call -> state.node(address()));
        get(router, "/v1/services", state::services);
        get(router, "/v1/services/{name}", state::service);
        get(router, "/v1/services/{name}/{version}", state::version);
        get(router, "/v1/instances", state::instances);
        get(router, "/v1/streams", state::streams);
        get(router, "/v1/threads", state::threads);
        get(router, "/v1/levels", state::levels);
        get(router, "/v1/routes", state::routes);
        get(router, "/v1/traffic", call -> state.traffic());
        get(router, "/v1/load", call -> load.now());
        get(router, "/v1/cluster", call -> ClusterViews.of(cluster.get()));
        get(router, "/cluster", call -> ClusterViews.of(cluster.get()));
        get(router, "/v1/deployments", call -> state.deployments());
        get(router, "/v1/qos", call -> QosText.fields(manager.qos()));
        get(router, "/v1/qos/status", call -> QosViews.Status.of(manager.qosStatus()));
        get(router, "/v1/config", call -> state.config());
        on(router, HttpMethod.GET, "/v1/events").handler(context -> {
            String accept = context.request().getHeader(HttpHeaders.ACCEPT);
            if (accept != null && accept.contains(LiveAnswer.EVENT_STREAM)) {
                live(context, live::events);
            } else {
                read(context, Replies.of(state::events));
            }
        });
        on(router, HttpMethod.GET, "/v1/drops").handler(context -> live(context, live::drops));
        on(router, HttpMethod.GET, "/v1/capture").handler(context -> {
            try {
                gate.admitContents(context.request());
                live(context, live::capture);
            } catch (ApiException e) {
                Replies.refuse(context, e);
            }
        });

        change(router, HttpMethod.POST, "/v1/services/{name}/deploy", changes::deploy);
        change(router, HttpMethod.POST, "/v1/services/{name}/undeploy", changes::undeploy);
        change(router, HttpMethod.POST, "/v1/services/{name}/drain", changes::drain);
        change(router, HttpMethod.POST, "/v1/services/{name}/release", changes::release);
        change(router, HttpMethod.PUT, "/v1/services/{name}/level", changes::place);
        change(router, HttpMethod.POST, "/v1/revocations", changes::revoke);
        change(router, HttpMethod.PUT, "/v1/routes", changes::replaceRoutes);
        change(router, HttpMethod.PUT, "/v1/routes/{prefix}", changes::putRoute);
        change(router, HttpMethod.DELETE, "/v1/routes/{prefix}", changes::removeRoute);
        change(router, HttpMethod.PUT, "/v1/qos", changes::changeQos);
        change(router, HttpMethod.DELETE, "/v1/qos", call -> changes.qosOff());
        return router;
    }

    private Route on(Router router, HttpMethod method, String path) {
        operations.add(method + " " + path);
        return router.route(method, path.replaceAll("\\{(\\w+)}", ":$1"));
    }

    private void get(Router router, String path, Replies.View view) {
        on(router, HttpMethod.GET, path).handler(context -> read(context, Replies.of(view)));
    }

    private void text(Router router, String path, String contentType, Replies.Text text) {
        on(router, HttpMethod.GET, path)
                .handler(context -> read(context, call -> new Replies.Reply(Replies.OK, contentType, text.of(call))));
    }

    private void change(Router router, HttpMethod method, String path, Replies.View view) {
        Route route = on(router, method, path);
        // As a policy: Vert.x lets no handler of users stand before the one that reads the body.
        route.handler((SecurityPolicyHandler) context -> {
            try {
                gate.admitChange(context.request());
                if (method != HttpMethod.DELETE) {
                    Gate.requireJson(context.request());
                }
                context.next();
            } catch (ApiException e) {
                Replies.refuse(context, e);
            }
        });
        route.handler(BodyHandler.create(false).setBodyLimit(MAX_BODY_OCTETS));
        route.handler(context -> run(changers, context, () -> Replies.send(context, Replies.of(view)), "changes"));
    }

    // ---- requests --------------------------------------------------------------------------------------------------

    private void admit(RoutingContext context) {
        HttpServerRequest request = context.request();
        request.response()
                .putHeader("X-Content-Type-Options", "nosniff")
                .putHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        try {
            gate.admit(request);
            context.next();
        } catch (ApiException e) {
            Replies.refuse(context, e);
        }
    }

    private static void read(RoutingContext context, Replies.Question question) {
        context.vertx()
                .executeBlocking(
                        () -> {
                            Replies.send(context, question);
                            return "";
                        },
                        false)
                .onFailure(failure -> Replies.fail(context, failure));
    }

    private interface LiveWork {
        void run(Call call, LiveAnswer answer) throws ApiException, ManagerException, IOException, InterruptedException;
    }

    private void live(RoutingContext context, LiveWork work) {
        run(
                livers,
                context,
                () -> {
                    LiveAnswer answer = new LiveAnswer(context.response());
                    try {
                        work.run(new Call(context), answer);
                        answer.end();
                    } catch (ApiException | RuntimeException e) {
                        if (answer.hasBegun()) {
                            answer.breakOff();
                        }
                        Replies.fail(context, e);
                    } catch (IOException | ManagerException e) {
                        answer.breakOff(); // The client is gone, or does not read.
                    } catch (InterruptedException e) {
                        answer.breakOff();
                        Thread.currentThread().interrupt();
                    }
                },
                "live answers");
    }

    private static void run(ThreadPoolExecutor threads, RoutingContext context, Runnable task, String what) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            Replies.refuse(
                    context,
                    new ApiException(ApiException.BUSY, "too many " + what + " at once: end one, or try again later"));
        }
    }

    private static byte[] openApi() throws IOException {
        try (InputStream in = AdminServer.class.getResourceAsStream("/openapi.yaml")) {
            return Objects.requireNonNull(in, "openapi.yaml").readAllBytes();
        }
    }

    /** For texts. */
    static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
