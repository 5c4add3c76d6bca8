package org.tamanoir.node.admin;

import com.google.common.net.InetAddresses;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.SecurityPolicyHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.repository.HttpListener;
import org.tamanoir.routing.Addresses;

/**
 * How requests come to what answers them, and what they may not exceed; the same for every server here.
 *
 * <p>Thread contract: routes are added by the thread that starts the server, before it listens. The listener's event
 * loop checks requests; questions are answered on its worker threads, changes on up to {@value #MAX_CHANGES} threads
 * of this object. Any thread closes it.
 */
final class Api implements AutoCloseable {
    /** Bytes of a request's body. */
    static final int MAX_BODY_BYTES = 64 * 1024;
    /** Under this name a request has the most bytes that its body may have. */
    static final String BOUND = "body bytes";
    /** Under this name a change that was admitted, and is to be recorded, has its token. */
    private static final String TOKEN = "token";
    /** Under this name a route has the names that its query may have. */
    private static final String QUERY = "query";

    private static final Pattern SERVICE = Pattern.compile("(?<=^/v1/services/)[^/]+");

    /** As many as deployments run at once, so that one that takes long does not hold up the others. */
    private static final int MAX_CHANGES = 4;

    private static final int MAX_WAITING_CHANGES = 16;
    private static final long KEEP_THREAD_SECONDS = 5;

    private final AdminGate gate;
    private final ChangeLog changes;
    private final ThreadPoolExecutor changers;
    private final Set<String> operations = new LinkedHashSet<>();
    private volatile boolean hasLeft;

    Api(AdminGate gate) {
        this(gate, () -> ThreadRanks.NONE, ChangeLog.ofLog());
    }

    /** Makes one whose threads take their ranks here, as they start. */
    Api(AdminGate gate, Supplier<ThreadRanks> ranks, ChangeLog changes) {
        this.gate = gate;
        this.changes = changes;
        changers = threads("admin-change-", MAX_CHANGES, new ArrayBlockingQueue<>(MAX_WAITING_CHANGES), ranks);
        changers.setCorePoolSize(MAX_CHANGES);
        changers.allowCoreThreadTimeOut(true);
    }

    /** Threads that end when they have nothing to do; daemons. */
    static ThreadPoolExecutor threads(
            String name, int max, BlockingQueue<Runnable> waiting, Supplier<ThreadRanks> ranks) {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(0, max, KEEP_THREAD_SECONDS, TimeUnit.SECONDS, waiting, task -> {
            Runnable ranked = () -> {
                ranks.get().take(ThreadRank.CHANGE);
                task.run();
            };
            Thread thread = new Thread(ranked, name + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** A router that admits requests, and answers those for which it has no route. */
    Router router(Vertx vertx) {
        Router router = Router.router(vertx);
        router.route().handler(this::admit);
        for (int status : new int[] {400, 404, 405, 413, 414, ApiException.EXPECTATION, 500}) {
            router.errorHandler(status, Replies::failed);
        }
        return router;
    }

    /** All operations, as in {@code GET /v1/services/{name}}; for tests. */
    List<String> operations() {
        return List.copyOf(operations);
    }

    /** Refuses changes from now on: they would be this process' alone, and another one serves. */
    void leave() {
        hasLeft = true;
    }

    /** Ends changes that run. */
    @Override
    public void close() {
        changers.shutdownNow();
    }

    // ---- routes ----------------------------------------------------------------------------------------------------

    /**
     * Adds a route.
     *
     * @param path its parts that vary in braces
     * @param query the names that a query may have
     */
    Route on(Router router, HttpMethod method, String path, String... query) {
        operations.add(method + " " + path);
        String pattern = path.replaceAll("\\{(\\w+)}", ":$1");
        Route route = method == HttpMethod.GET ? HttpListener.get(router, pattern) : router.route(method, pattern);
        return route.putMetadata(QUERY, List.of(query));
    }

    /** A route of a question, which is answered by what is added. */
    Route question(Router router, String path, String... query) {
        return on(router, HttpMethod.GET, path, query).handler(context -> {
            try {
                requireQuery(context);
                context.next();
            } catch (ApiException e) {
                Replies.refuse(context, e);
            }
        });
    }

    /** Refuses a query with names that the route does not know, or that are there twice. */
    private static void requireQuery(RoutingContext context) throws ApiException {
        String problem =
                HttpListener.queryProblem(context, context.currentRoute().getMetadata(QUERY));
        if (problem != null) {
            throw new ApiException(ApiException.BAD_REQUEST, problem);
        }
    }

    /** A question that JSON answers. */
    void get(Router router, String path, Replies.View view, String... query) {
        question(router, path, query).handler(context -> read(context, Replies.of(view)));
    }

    /** A question that text answers. */
    void text(Router router, String path, String contentType, Replies.Text text) {
        question(router, path)
                .handler(context -> read(context, call -> new Replies.Reply(Replies.OK, contentType, text.of(call))));
    }

    /** Who may make a change. */
    interface Admission {
        /**
         * Looks at the head and the parts of the path; the body is not there yet.
         *
         * @return the token that was shown; empty for a change that is not recorded
         */
        Optional<AdminToken> admit(RoutingContext context) throws ApiException;
    }

    /** A change by those who have the token of the settings. */
    void change(Router router, HttpMethod method, String path, Replies.View view) {
        change(router, method, path, context -> Optional.of(gate.admitChange(context.request())), view);
    }

    /** A change, whose body is read only from those who may make it. */
    void change(Router router, HttpMethod method, String path, Admission admission, Replies.View view) {
        change(router, method, path, MAX_BODY_BYTES, admission, view);
    }

    /** A change with so many bytes of body at most. */
    void change(Router router, HttpMethod method, String path, int maxBytes, Admission admission, Replies.View view) {
        Route route = on(router, method, path);
        // As a policy: Vert.x lets no handler of users stand before the one that reads the body.
        route.handler((SecurityPolicyHandler) context -> {
            try {
                Optional<AdminToken> token = admission.admit(context);
                if (hasLeft) {
                    throw new ApiException(
                            ApiException.BUSY,
                            "this process ends, and another one serves: ask again, on a new connection");
                }
                if (method != HttpMethod.DELETE) {
                    AdminGate.requireJson(context.request());
                }
                requireQuery(context);
                token.ifPresent(shown -> context.put(TOKEN, shown));
                context.put(BOUND, maxBytes).next();
            } catch (ApiException e) {
                changes.refused(
                        peer(context),
                        gate.shownName(context.request()),
                        operation(context),
                        String.valueOf(e.getMessage()));
                Replies.refuse(context, e);
            }
        });
        route.handler(BodyHandler.create(false).setBodyLimit(maxBytes));
        route.failureHandler(context -> notMade(context, Replies.failure(context)));
        Replies.Question question = Replies.of(view);
        route.handler(context -> {
            try {
                run(changers, () -> Replies.send(context, question, outcome -> record(context, outcome)), "changes");
            } catch (ApiException e) {
                notMade(context, e);
            }
        });
    }

    /** Refuses a change that was admitted, before anything of it is done. */
    private void notMade(RoutingContext context, Throwable why) {
        record(context, Replies.outcome(why));
        Replies.refuse(context, why);
    }

    /** Records what came of a change. */
    private void record(RoutingContext context, String outcome) {
        AdminToken token = context.get(TOKEN);
        if (token != null) {
            changes.record(peer(context), token, operation(context), outcome);
        }
    }

    private static String operation(RoutingContext context) {
        HttpServerRequest request = context.request();
        String service = context.get(Call.SERVICE);
        String path = String.valueOf(request.path());
        String known = service == null ? path : SERVICE.matcher(path).replaceFirst(Matcher.quoteReplacement(service));
        return request.method() + " " + Replies.shortened(known);
    }

    private static String peer(RoutingContext context) {
        SocketAddress peer = context.request().remoteAddress();
        return Addresses.text(new InetSocketAddress(InetAddresses.forString(peer.hostAddress()), peer.port()));
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
            if (e.status == ApiException.UNAUTHORIZED) { // Has browsers ask for the token: it is the password.
                request.response().headers().add("WWW-Authenticate", "Basic realm=\"tamanoir\"");
            }
            Replies.refuse(context, e);
        }
    }

    /** Answers a question on a worker thread. */
    static void read(RoutingContext context, Replies.Question question) {
        context.vertx()
                .executeBlocking(
                        () -> {
                            Replies.send(context, question);
                            return "";
                        },
                        false)
                .onFailure(failure -> Replies.fail(context, failure));
    }

    /**
     * Has a task done.
     *
     * @throws ApiException if too many are at work, or this server ends
     */
    static void run(ThreadPoolExecutor threads, Runnable task, String what) throws ApiException {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            String why = threads.isShutdown()
                    ? "this server stops"
                    : "too many " + what + " at once: end one, or try again later";
            throw new ApiException(ApiException.BUSY, why);
        }
    }

    /** A description of the API that stands beside the classes. */
    static byte[] openApi(String resource) throws IOException {
        try (InputStream in = Api.class.getResourceAsStream(resource)) {
            return Objects.requireNonNull(in, resource).readAllBytes();
        }
    }

    /** For texts. */
    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
