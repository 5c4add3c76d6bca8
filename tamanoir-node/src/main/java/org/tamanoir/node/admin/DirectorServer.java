package org.tamanoir.node.admin;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.node.ui.Dashboard;
import org.tamanoir.repository.HttpListener;
import org.tamanoir.repository.Token;

/**
 * The API of a director: its state, its back-ends' registrations, changes, metrics. What it answers is described in the
 * resource {@code director-openapi.yaml}, which it serves too.
 *
 * <p>Thread contract: any thread. Requests run as {@link Api} says.
 */
public final class DirectorServer implements AutoCloseable {

    private final AdminSettings settings;
    private final @Nullable InetSocketAddress ready;
    private final @Nullable Token registrationToken;
    private final Map<String, Token> nodeTokens;
    private final Director director;
    private final AdminGate gate;
    private final Api api;
    private final DirectorCommands changes;
    private final MetricsText metrics;
    private final LiveFeed feed;
    /** Whether an address is one of those that back-ends are said to have. */
    private final Predicate<InetAddress> isBackEnd;

    private volatile @Nullable HttpListener listener;
    private volatile @Nullable HttpListener readyListener;
    private volatile boolean isOpen;

    /**
     * A server that is not started.
     *
     * @param ready where it answers by plain http too whether the director is well, and nothing else; null = nowhere
     * @param registrationToken what back-ends show; null = nobody may register
     * @param nodeTokens what listed back-ends show that have a token of their own, by name
     */
    public DirectorServer(
            Director director,
            DirectorConfig config,
            AdminSettings settings,
            @Nullable InetSocketAddress ready,
            @Nullable Token registrationToken,
            Map<String, Token> nodeTokens) {
        this.director = director;
        this.settings = settings;
        this.ready = ready;
        this.registrationToken = registrationToken;
        this.nodeTokens = Map.copyOf(nodeTokens);
        gate = new AdminGate(settings, "director");
        api = new Api(gate);
        changes = new DirectorCommands(director, config.drainDeadline(), nodeTokens.keySet());
        RegistrationPolicy registration = config.registration();
        isBackEnd = from -> registration != null
                && registration.admits(from)
                && !registration.networks().isEmpty();
        feed = new LiveFeed(() -> LiveViews.LiveCluster.of(director));
        metrics = new MetricsText(figures -> {
            DirectorMetrics.add(figures, director.status(), director.totals());
            feed.addTo(figures);
        });
    }

    /**
     * Listens, so that the address is had before anything is changed.
     *
     * @throws IOException in one line, if the address cannot be had or a TLS file is no good
     */
    public void start() throws IOException {
        listener = HttpListener.start("director's API", settings.address(), settings.tls(), isBackEnd, this::router);
        if (ready != null) {
            readyListener = HttpListener.start("director's readiness", ready, null, this::readyRouter);
        }
    }

    /** Answers questions about the director, which has started; before, all but {@code /health} says that it starts. */
    public void open() {
        isOpen = true;
    }

    /** Where it listens, with the real port; before the start as configured. */
    public InetSocketAddress address() {
        HttpListener started = listener;
        return started == null ? settings.address() : started.address();
    }

    /** Ends, with what runs. */
    @Override
    public void close() {
        api.close();
        HttpListener started = listener;
        if (started != null) {
            started.close();
        }
        HttpListener beside = readyListener;
        if (beside != null) {
            beside.close();
        }
        metrics.close();
    }

    /** All operations, as in {@code GET /v1/status}; for tests. */
    List<String> operations() {
        return api.operations();
    }

    /** Where it answers by plain http whether the director is well; null = nowhere. */
    @Nullable
    InetSocketAddress readyAddress() {
        HttpListener started = readyListener;
        return started == null ? null : started.address();
    }

    private Router readyRouter(Vertx vertx) {
        Router router = api.router(vertx);
        addGate(router);
        api.question(router, "/ready").handler(context -> Api.read(context, call -> ready()));
        return router;
    }

    /** Has what is added behind it answered when the director has started. */
    private void addGate(Router router) {
        router.route("/*").handler(context -> {
            if (isOpen) {
                context.next();
            } else {
                Replies.refuse(
                        context, new ApiException(ApiException.BUSY, "the director starts: ask again in a moment"));
            }
        });
    }

    private Router router(Vertx vertx) {
        Router router = api.router(vertx);
        api.text(router, "/health", Replies.JSON, call -> Replies.json(new Views.Health("up")));
        addGate(router);
        api.question(router, "/ready").handler(context -> Api.read(context, call -> ready()));
        api.text(router, "/metrics", MetricsText.CONTENT_TYPE, call -> metrics.scrape());
        api.text(
                router,
                "/openapi.yaml",
                "application/yaml; charset=utf-8",
                call -> Api.openApi("/director-openapi.yaml"));
        api.get(router, "/v1/status", call -> director.status());
        api.get(
                router,
                "/v1/back-ends",
                call -> new DirectorViews.BackEnds(director.status().backEnds()));
        api.get(router, "/v1/plan", call -> DirectorViews.Planned.of(DirectorCommands.known(director::planned)));
        api.get(router, "/v1/cluster", call -> director.totals());
        api.get(router, "/cluster", call -> director.totals());
        api.question(router, "/v1/live").handler(feed::listen);
        new Dashboard("director").serve(router);

        api.change(router, HttpMethod.PUT, "/v1/back-ends/{name}", this::admitRegistration, changes::register);
        api.change(router, HttpMethod.POST, "/v1/back-ends/{name}/drain", changes::drain);
        api.change(router, HttpMethod.POST, "/v1/back-ends/{name}/join", changes::join);
        api.change(router, HttpMethod.DELETE, "/v1/back-ends/{name}", changes::leave);
        api.change(router, HttpMethod.POST, "/v1/services/{name}/deploy", changes::deploy);
        api.change(router, HttpMethod.POST, "/v1/services/{name}/undeploy", changes::undeploy);
        return router;
    }

    private Replies.Reply ready() {
        DirectorStatus status = director.status();
        return new Replies.Reply(
                status.ready() ? Replies.OK : ApiException.BUSY,
                Replies.JSON,
                Replies.json(new Views.Readiness(status.ready(), status.problem())));
    }

    /** Registrations come every few seconds: what becomes of back-ends is told when it changes. */
    private Optional<AdminToken> admitRegistration(RoutingContext context) throws ApiException {
        Token own = nodeTokens.get(String.valueOf(context.pathParam("name")));
        if (own != null) {
            gate.requireToken(context.request(), own, "back-ends.token-file of this back-end");
            return Optional.empty();
        }
        Token token = registrationToken;
        if (token == null) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "nobody may register with this director: list the back-end, or give the director a section "
                            + "registration");
        }
        gate.requireToken(context.request(), token, "registration.token-file");
        return Optional.empty();
    }
}
