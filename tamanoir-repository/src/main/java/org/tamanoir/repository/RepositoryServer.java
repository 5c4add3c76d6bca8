package org.tamanoir.repository;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
 * </pre>
 *
 * <p>Thread contract: any thread.
 */
public final class RepositoryServer implements AutoCloseable {
    /** The largest jar, unless set otherwise. */
    public static final long DEFAULT_MAX_JAR_OCTETS = 64L << 20;

    /** A manifest of 16 KiB in Base64, and a signature. */
    private static final int MAX_BODY_OCTETS = 64 << 10;

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1_000;

    /**
     * Settings.
     *
     * @param address port 0 takes a free one
     * @param tls null = plain HTTP
     * @param token allows publishing; null = nobody may
     * @param maxJarOctets the largest jar that is taken
     * @param publishers whose versions are accepted, and for which names; null = whoever has the token, and nodes
     *     decide
     */
    public record Settings(
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            @Nullable Token token,
            long maxJarOctets,
            @Nullable TrustPolicy publishers) {
        /** Plain, no publishing, {@link #DEFAULT_MAX_JAR_OCTETS}. */
        public static Settings on(InetSocketAddress address) {
            return new Settings(address, null, null, DEFAULT_MAX_JAR_OCTETS, null);
        }

        /** The same with a token. */
        public Settings withToken(@Nullable Token changed) {
            return new Settings(address, tls, changed, maxJarOctets, publishers);
        }

        /** The same with TLS. */
        public Settings withTls(@Nullable TlsFiles changed) {
            return new Settings(address, changed, token, maxJarOctets, publishers);
        }

        /** The same with another bound of jars. */
        public Settings withMaxJarOctets(long changed) {
            return new Settings(address, tls, token, changed, publishers);
        }

        /** The same with these publishers alone. */
        public Settings withPublishers(@Nullable TrustPolicy changed) {
            return new Settings(address, tls, token, maxJarOctets, changed);
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
        Gate gate = new Gate(settings.token, mirror == null ? null : mirror.source());
        Uploads uploads = new Uploads(tree, settings.maxJarOctets, System::nanoTime);
        PublishHandler publishing = new PublishHandler(tree, uploads, settings.maxJarOctets, settings.publishers);
        router.get("/health").handler(context -> Answers.json(context, 200, health(tree, settings, mirror)));
        router.get("/api/services").handler(context -> list(context, tree));
        router.put("/api/uploads/:sha256").handler(gate).handler(new UploadHandler(uploads, settings.maxJarOctets));
        // One route each, since within one route Vert.x wants a body handler first.
        router.post("/api/services/*").handler(gate);
        router.post("/api/services/*").handler(Gate::requireJson);
        router.post("/api/services/*").handler(BodyHandler.create(false).setBodyLimit(MAX_BODY_OCTETS));
        router.post("/api/services/:name/:version").handler(publishing::publish);
        router.post("/api/services/:name/:version/yank").handler(publishing::yank);
        router.post("/api/services/:name/:version/unyank").handler(publishing::unyank);
        router.route("/api/*")
                .handler(context -> Answers.refuse(
                        context,
                        404,
                        "no such call; see GET /api/services, PUT /api/uploads/..., POST /api/services/..."));
        router.route().handler(new TreeHandler(tree::file));
        return router;
    }

    private static Map<String, Object> health(RepositoryTree tree, Settings settings, @Nullable Mirror mirror) {
        Map<String, Object> health = new LinkedHashMap<>();
        health.put("status", "up");
        health.put("versions", tree.size());
        health.put("publishing", settings.token != null && mirror == null);
        if (mirror != null) {
            health.put("mirror", mirror.status());
        }
        return health;
    }

    private static void list(RoutingContext context, RepositoryTree tree) {
        String text = context.request().getParam("q", "").toLowerCase(Locale.ROOT);
        int offset;
        int limit;
        try {
            offset = number(context, "offset", 0, Index.MAX_VERSIONS);
            limit = number(context, "limit", DEFAULT_LIMIT, MAX_LIMIT);
        } catch (IllegalArgumentException e) {
            Answers.error(context, 400, String.valueOf(e.getMessage()));
            return;
        }
        List<IndexEntry> found = tree.entries().stream()
                .filter(entry -> entry.name().toLowerCase(Locale.ROOT).contains(text)
                        || entry.description().toLowerCase(Locale.ROOT).contains(text))
                .toList();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("total", found.size());
        answer.put("services", found.stream().skip(offset).limit(limit).toList());
        Answers.json(context, 200, answer);
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

    /** Where it listens, with the real port. */
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public void close() {
        listener.close();
    }
}
