package org.tamanoir.repository;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * GET and HEAD of a tree's files, whole, with entity tags. Addresses are taken as they were sent: none of the
 * tree's has a character that would need an escape, so an escape means a file that does not exist.
 *
 * <p>Thread contract: the event loop's thread; files are looked at on a worker thread.
 */
final class TreeHandler implements Handler<RoutingContext> {
    private static final String FOR_EVER = "public, max-age=31536000, immutable";
    private static final String REVALIDATE = "no-cache";

    /** Finds the file behind a path without its first slash; null when there is none. Several threads. */
    interface Lookup {
        @Nullable
        TreeFile file(String path) throws IOException;
    }

    /** Whoever reads an answer more slowly is cut off: connections are bounded in number. */
    private static final long GRACE_MS = 30_000;

    private static final long MIN_BYTES_PER_MS = 16;

    private final Lookup files;
    private final long graceMs;
    private final long minBytesPerMs;

    TreeHandler(Lookup files) {
        this(files, GRACE_MS, MIN_BYTES_PER_MS);
    }

    TreeHandler(Lookup files, long graceMs, long minBytesPerMs) {
        this.files = files;
        this.graceMs = graceMs;
        this.minBytesPerMs = minBytesPerMs;
    }

    @Override
    public void handle(RoutingContext context) {
        HttpMethod method = context.request().method();
        if (!method.equals(HttpMethod.GET) && !method.equals(HttpMethod.HEAD)) {
            context.response().putHeader("Allow", "GET, HEAD");
            Answers.refuse(context, 405, "files of a repository can be read alone; publish by POST /api/services/...");
            return;
        }
        String path = context.request().path();
        if (path == null || !path.startsWith("/")) {
            Answers.error(context, 404, "there is no such file in this repository");
            return;
        }
        context.vertx()
                .<@Nullable TreeFile>executeBlocking(() -> files.file(path.substring(1)), false)
                .onSuccess(file -> {
                    if (file == null) {
                        Answers.error(context, 404, "there is no such file in this repository");
                    } else {
                        send(context.vertx(), context.request(), file);
                    }
                })
                .onFailure(cause -> Answers.failed(context, cause));
    }

    private void send(Vertx vertx, HttpServerRequest request, TreeFile file) {
        HttpServerResponse response = request.response();
        if (response.closed()) {
            return;
        }
        String etag = '"' + file.etag() + '"';
        response.putHeader("ETag", etag)
                .putHeader("Cache-Control", file.immutable() ? FOR_EVER : REVALIDATE)
                .putHeader("X-Content-Type-Options", "nosniff");
        if (names(request.getHeader("If-None-Match"), etag)) {
            response.setStatusCode(304).end();
            return;
        }
        response.putHeader("Content-Type", file.contentType());
        response.putHeader("Content-Length", String.valueOf(file.size()));
        if (request.method().equals(HttpMethod.HEAD)) {
            response.end();
            return;
        }
        long timer = vertx.setTimer(
                graceMs + file.size() / minBytesPerMs,
                late -> request.connection().close());
        Future<Void> sent = file.bytes() != null
                ? response.end(Buffer.buffer(file.bytes()))
                : response.sendFile(file.file().toString(), 0, file.size());
        // A failure is the client's going away, or a jar that was removed by hand: the connection ends.
        sent.onComplete(done -> vertx.cancelTimer(timer))
                .onFailure(cause -> request.connection().close());
    }

    /** Returns whether a list names a tag, by weak comparison (RFC 9110, section 13.1.2). */
    private static boolean names(@Nullable String header, String etag) {
        if (header == null) {
            return false;
        }
        for (String each : header.split(",")) {
            String tag = each.strip();
            if (tag.equals("*") || tag.equals(etag) || tag.equals("W/" + etag)) {
                return true;
            }
        }
        return false;
    }
}
