package org.tamanoir.repository;

import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
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

    private Answers() {}

    static void json(RoutingContext context, int status, Object body) {
        HttpServerResponse response = context.response();
        if (response.ended() || response.closed()) {
            return;
        }
        response.setStatusCode(status)
                .putHeader("Content-Type", TreeFile.JSON)
                .putHeader("Cache-Control", "no-store")
                .putHeader("X-Content-Type-Options", "nosniff")
                .end(JSON.writeValueAsString(body) + "\n");
    }

    static void error(RoutingContext context, int status, String line) {
        json(context, status, Map.of("error", line));
    }

    /** An error before the request's body was read: what is left of it is not worth reading. */
    static void refuse(RoutingContext context, int status, String line) {
        context.response().putHeader("Connection", "close");
        error(context, status, line);
    }

    /** What went wrong here is logged; the client learns as much as helps it. */
    static void failed(RoutingContext context, Throwable cause) {
        String line = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        LOG.warn("{} {}: {}", context.request().method(), context.request().path(), line, cause);
        error(context, 500, "the repository failed: " + line);
    }

    /** Errors that the router itself finds. */
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
