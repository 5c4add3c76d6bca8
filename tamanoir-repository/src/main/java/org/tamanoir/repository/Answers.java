package org.tamanoir.repository;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Answers in JSON. An error is {@code {"error": line}}. The event loop's thread. */
final class Answers {
    private static final Logger LOG = LoggerFactory.getLogger(Answers.class);
    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(tools.jackson.databind.MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    /** For the rest of a body that nobody reads. */
    private static final long LINGER_MS = 500;

    private Answers() {}

    static void json(RoutingContext context, int status, Object body) {
        encoded(context, status, encode(body));
    }

    /** Returns JSON; any thread. */
    static String encode(Object body) {
        return JSON.writeValueAsString(body) + "\n";
    }

    static void encoded(RoutingContext context, int status, String json) {
        HttpServerResponse response = context.response();
        if (response.ended() || response.closed()) {
            return;
        }
        response.setStatusCode(status)
                .putHeader("Content-Type", TreeFile.JSON)
                .putHeader("Cache-Control", "no-store")
                .putHeader("X-Content-Type-Options", "nosniff")
                .end(json);
    }

    static void error(RoutingContext context, int status, String line) {
        json(context, status, Map.of("error", line));
    }

    /** Answers an error before the request's body was read: what is left of it is not worth reading. */
    static void refuse(RoutingContext context, int status, String line) {
        context.response().putHeader("Connection", "close");
        // Not at once, or the sender would learn of the end before the answer.
        context.vertx()
                .setTimer(LINGER_MS, late -> context.request().connection().close());
        error(context, status, line);
    }

    /** Answers an error before anything else looks at the request, whose end is not known for sure either. */
    static void malformed(HttpServerRequest request, int status, String line) {
        request.response()
                .setStatusCode(status)
                .putHeader("Content-Type", TreeFile.JSON)
                .putHeader("Cache-Control", "no-store")
                .putHeader("X-Content-Type-Options", "nosniff")
                .putHeader("Connection", "close")
                .end(encode(Map.of("error", line)))
                .onComplete(sent -> request.connection().close());
    }

    /** Logs what went wrong here; the client learns as much as helps it. */
    static void failed(RoutingContext context, Throwable cause) {
        String line = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        LOG.warn("{} {}: {}", context.request().method(), context.request().path(), line, cause);
        error(context, 500, "the repository failed: " + line);
    }

    /** Refuses names in the query of a route that are none of these. */
    static Route query(Route route, List<String> known) {
        return route.handler(context -> {
            String problem = HttpListener.queryProblem(context, known);
            if (problem == null) {
                context.next();
            } else {
                refuse(context, 400, problem);
            }
        });
    }

    /** Answers errors that the router itself finds. */
    static void install(Router router) {
        router.errorHandler(400, context -> error(context, 400, "the request cannot be read: correct its path"));
        router.errorHandler(404, context -> error(context, 404, "there is nothing here"));
        router.errorHandler(405, context -> error(context, 405, "this method is not allowed here"));
        router.errorHandler(413, context -> refuse(context, 413, "the body is too large"));
        router.errorHandler(500, context -> {
            Throwable cause = context.failure();
            failed(context, cause == null ? new IllegalStateException("without a reason") : cause);
        });
    }
}
