package org.tamanoir.repository;

import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.tls.TlsFiles;

/**
 * The repository over HTTP: the files of its tree, a list of its services, and publishing.
 *
 * <pre>
 * GET, HEAD /index.json, /keys/..., /services/...         files
 * GET  /api/services?q=TEXT&amp;offset=N&amp;limit=N              list and search
 * GET  /health
 * PUT  /api/uploads/&lt;sha256 of the jar&gt;                  the jar                         token
 * POST /api/services/&lt;name&gt;/&lt;version&gt;                  {manifest: Base64, signature: text}  token
 * POST /api/services/&lt;name&gt;/&lt;version&gt;/yank             {reason: text}                  token
 * POST /api/services/&lt;name&gt;/&lt;version&gt;/unyank           {}                              token
 * GET, HEAD /formats.json, /formats/...                   files
 * POST /api/formats                                       {format_rep: hex, signature: text}  token
 * GET  /v1/formats/&lt;id&gt;                                 FFS's protocol: {@link FormatHandler}
 * POST /v1/formats                                        {format_rep: hex}               loopback or token
 * </pre>
 *
 * <p>Thread contract: any thread.
 */
public final class RepositoryServer implements AutoCloseable {
    /** The largest jar, unless set otherwise. */
    public static final long DEFAULT_MAX_JAR_BYTES = 64L << 20;

    /** A manifest of 16 KiB in Base64, and a signature. */
    private static final int MAX_BODY_BYTES = 64 << 10;

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1_000;
    /** Characters of a text that is searched: a service's longest name has fewer. */
    private static final int MAX_SEARCHED = 256;

    /**
     * Settings.
     *
     * @param address port 0 takes a free one
     * @param tls null = plain HTTP
     * @param token allows publishing; null = nobody may
     * @param maxJarBytes the largest jar that is taken
     * @param publishers whose versions and formats are accepted, and for which names; null = whoever has the token, and
     *     nodes decide
     * @param takesFormats whether formats are taken without a signature, from programs of this host or with the token;
     *     where publishers are named none is
     */
    public record Settings(
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            @Nullable Token token,
            long maxJarBytes,
            @Nullable TrustPolicy publishers,
            boolean takesFormats) {
        /** Makes settings that take formats. */
        public Settings(
                InetSocketAddress address,
                @Nullable TlsFiles tls,
                @Nullable Token token,
                long maxJarBytes,
                @Nullable TrustPolicy publishers) {
            this(address, tls, token, maxJarBytes, publishers, true);
        }

        /** Returns settings without TLS and publishing, with {@link #DEFAULT_MAX_JAR_BYTES}. */
        public static Settings on(InetSocketAddress address) {
            return new Settings(address, null, null, DEFAULT_MAX_JAR_BYTES, null);
        }

        /** Returns the same with a token. */
        public Settings withToken(@Nullable Token changed) {
            return new Settings(address, tls, changed, maxJarBytes, publishers, takesFormats);
        }
    }

    private final HttpListener listener;

    private RepositoryServer(HttpListener listener) {
        this.listener = listener;
    }

    /**
     * Serves a tree, which stays the caller's to close, after this.
     *
     * @param mirror what fills the tree; nobody else may then publish. Null = publishers do
     * @throws IOException in one line, if it cannot listen
     */
    public static RepositoryServer start(Settings settings, RepositoryTree tree, @Nullable Mirror mirror)
            throws IOException {
        return new RepositoryServer(HttpListener.start(
                "repository", settings.address, settings.tls, vertx -> routes(vertx, settings, tree, mirror)));
    }

    private static Router routes(Vertx vertx, Settings settings, RepositoryTree tree, @Nullable Mirror mirror) {
        Router router = Router.router(vertx);
        Answers.install(router);
        listServices(vertx, router, new ServiceSearch(tree)::find);
        Answers.query(router.route(), List.of()); // Whatever is added behind it takes none.
        PublishGate gate = new PublishGate(settings.token, mirror == null ? null : mirror.source());
        Uploads uploads = new Uploads(tree, settings.maxJarBytes, System::nanoTime);
        PublishHandler publishing = new PublishHandler(tree, uploads, settings.maxJarBytes, settings.publishers);
        HttpListener.get(router, "/health")
                .handler(context -> Answers.json(context, 200, health(tree, settings, mirror)));
        router.put("/api/uploads/:sha256").handler(gate).handler(new UploadHandler(uploads, settings.maxJarBytes));
        // One route each, since within one route Vert.x wants a body handler first.
        router.post("/api/services/*").handler(gate);
        router.post("/api/services/*").handler(PublishGate::requireJson);
        router.post("/api/services/*").handler(BodyHandler.create(false).setBodyLimit(MAX_BODY_BYTES));
        router.post("/api/services/:name/:version").handler(publishing::publish);
        router.post("/api/services/:name/:version/yank").handler(publishing::yank);
        router.post("/api/services/:name/:version/unyank").handler(publishing::unyank);
        router.post("/api/formats").handler(gate);
        router.post("/api/formats").handler(PublishGate::requireJson);
        router.post("/api/formats").handler(BodyHandler.create(false).setBodyLimit(FormatFile.MAX_JSON_BYTES));
        router.post("/api/formats").handler(publishing::publishFormat);
        boolean takesFormats = settings.takesFormats && mirror == null && settings.publishers == null;
        FormatHandler.install(router, tree.formats(), takesFormats, settings.token);
        router.route("/api/*")
                .handler(
                        context -> Answers.refuse(
                                context,
                                404,
                                "no such call; see GET /api/services, PUT /api/uploads/..., POST /api/services/..., /api/formats"));
        router.route().handler(new TreeHandler(tree::file));
        return router;
    }

    private static Map<String, Object> health(RepositoryTree tree, Settings settings, @Nullable Mirror mirror) {
        Map<String, Object> health = new LinkedHashMap<>();
        health.put("status", "up");
        health.put("versions", tree.size());
        health.put("formats", tree.formats().entries().size());
        health.put("publishing", settings.token != null && mirror == null);
        if (mirror != null) {
            health.put("mirror", mirror.status());
        }
        return health;
    }

    /** {@link ServiceSearch#find}; called by one thread. */
    interface Search {
        ServiceSearch.Page find(String text, int offset, int limit);
    }

    /** Searches on a thread of its own: whoever searches all the time holds up searches alone. */
    static void listServices(Vertx vertx, Router router, Search search) {
        WorkerExecutor searcher = vertx.createSharedWorkerExecutor("repository-search", 1);
        Answers.query(HttpListener.get(router, "/api/services"), ServiceSearch.QUERY)
                .handler(context -> list(context, searcher, search));
    }

    private static void list(RoutingContext context, WorkerExecutor searcher, Search search) {
        String text = context.request().getParam("q", "");
        int offset;
        int limit;
        try {
            offset = number(context, "offset", 0, Index.MAX_VERSIONS);
            limit = number(context, "limit", DEFAULT_LIMIT, MAX_LIMIT);
            if (text.length() > MAX_SEARCHED || text.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException(
                        "q: a text of at most " + MAX_SEARCHED + " characters in one line is wanted");
            }
        } catch (IllegalArgumentException e) {
            Answers.error(context, 400, String.valueOf(e.getMessage()));
            return;
        }
        searcher.executeBlocking(() -> Answers.encode(search.find(text, offset, limit)), true)
                .onSuccess(found -> Answers.encoded(context, 200, found))
                .onFailure(cause -> Answers.failed(context, cause));
    }

    private static int number(RoutingContext context, String name, int usual, int max) {
        String text = context.request().getParam(name);
        if (text == null) {
            return usual;
        }
        if (!text.matches("\\d{1,9}") || Integer.parseInt(text) > max) {
            throw new IllegalArgumentException(name + ": a whole number from 0 to " + max + " is wanted");
        }
        return Integer.parseInt(text);
    }

    /** Returns where it listens, with the real port. */
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public void close() {
        listener.close();
    }
}
