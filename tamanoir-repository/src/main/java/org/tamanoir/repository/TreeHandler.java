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
 * GET and HEAD of a tree's files, with ranges and entity tags. Addresses are taken as they were sent: none of the
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

    /** Whoever reads an answer more slowly is cut off, and can resume: connections are bounded in number. */
    private static final long GRACE_MS = 30_000;

    private static final long MIN_OCTETS_PER_MS = 16;

    private final Lookup files;
    private final long graceMs;
    private final long minOctetsPerMs;

    TreeHandler(Lookup files) {
        this(files, GRACE_MS, MIN_OCTETS_PER_MS);
    }

    TreeHandler(Lookup files, long graceMs, long minOctetsPerMs) {
        this.files = files;
        this.graceMs = graceMs;
        this.minOctetsPerMs = minOctetsPerMs;
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
                .putHeader("Accept-Ranges", "bytes")
                .putHeader("Cache-Control", file.immutable() ? FOR_EVER : REVALIDATE)
                .putHeader("X-Content-Type-Options", "nosniff");
        if (names(request.getHeader("If-None-Match"), etag)) {
            response.setStatusCode(304).end();
            return;
        }
        response.putHeader("Content-Type", file.contentType());
        String ifRange = request.getHeader("If-Range");
        ByteRange range = request.method().equals(HttpMethod.GET) && (ifRange == null || ifRange.equals(etag))
                ? ByteRange.of(request.getHeader("Range"), file.size())
                : null;
        if (range == ByteRange.UNSATISFIABLE) {
            response.setStatusCode(416)
                    .putHeader("Content-Range", "bytes */" + file.size())
                    .end();
            return;
        }
        if (range == null) {
            range = new ByteRange(0, file.size() - 1);
        } else {
            response.setStatusCode(206)
                    .putHeader("Content-Range", "bytes " + range.first() + "-" + range.last() + "/" + file.size());
        }
        response.putHeader("Content-Length", String.valueOf(range.length()));
        if (request.method().equals(HttpMethod.HEAD)) {
            response.end();
            return;
        }
        long timer = vertx.setTimer(
                graceMs + range.length() / minOctetsPerMs,
                late -> request.connection().close());
        Future<Void> sent = file.octets() != null
                ? response.end(Buffer.buffer(file.octets()).slice((int) range.first(), (int) range.last() + 1))
                : response.sendFile(file.file().toString(), range.first(), range.length());
        // A failure is the client's going away, or a jar that was removed by hand: the connection ends.
        sent.onComplete(done -> vertx.cancelTimer(timer))
                .onFailure(cause -> request.connection().close());
    }

    /** Weak comparison (RFC 9110, section 13.1.2) of a list of tags. */
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
