package org.tamanoir.repository;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.repository.Uploads.FullException;
import org.tamanoir.repository.Uploads.Upload;

/**
 * Takes a jar in, chunk by chunk: the next one is read when the last one is on its way to the disk.
 *
 * <p>Thread contract: the event loop's thread; files are written on a worker thread.
 */
final class UploadHandler implements Handler<RoutingContext> {
    private final Uploads uploads;
    private final long maxJarBytes;

    UploadHandler(Uploads uploads, long maxJarBytes) {
        this.uploads = uploads;
        this.maxJarBytes = maxJarBytes;
    }

    @Override
    public void handle(RoutingContext context) {
        HttpServerRequest request = context.request();
        String sha256 = context.pathParam("sha256");
        String length = request.getHeader("Content-Length");
        if (!sha256.matches("[0-9a-f]{64}")) {
            Answers.refuse(context, 400, "an upload's name is its SHA-256, 64 hexadecimal digits in lower case");
        } else if (length == null || !length.matches("\\d{1,18}") || Long.parseLong(length) == 0) {
            Answers.refuse(context, 411, "an upload needs a Content-Length of 1 or more, so that room is kept for it");
        } else if (Long.parseLong(length) > maxJarBytes) {
            Answers.refuse(
                    context,
                    413,
                    "a jar of " + length + " bytes is too large: " + maxJarBytes + " at most; make it smaller, or "
                            + "start the repository with a greater --max-jar");
        } else {
            request.pause();
            context.vertx()
                    .executeBlocking(() -> uploads.begin(sha256, Long.parseLong(length)), false)
                    .onSuccess(upload -> receive(context, upload))
                    .onFailure(cause -> refuse(context, cause));
        }
    }

    private static void receive(RoutingContext context, Upload upload) {
        HttpServerRequest request = context.request();
        Vertx vertx = context.vertx();
        if (context.response().closed()) {
            abort(vertx, upload);
            return;
        }
        request.exceptionHandler(gone -> abort(vertx, upload));
        request.handler(chunk -> {
            request.pause();
            byte[] bytes = chunk.getBytes();
            vertx.<@Nullable Void>executeBlocking(
                            () -> {
                                upload.write(bytes);
                                return null;
                            },
                            false)
                    .onSuccess(written -> request.resume())
                    .onFailure(cause -> {
                        abort(vertx, upload);
                        refuse(context, cause);
                    });
        });
        request.endHandler(all -> vertx.<@Nullable String>executeBlocking(upload::finish, false)
                .onSuccess(other -> answer(context, other))
                .onFailure(cause -> {
                    abort(vertx, upload);
                    refuse(context, cause);
                }));
        if ("100-continue".equalsIgnoreCase(request.getHeader("Expect"))) {
            context.response().writeContinue();
        }
        request.resume();
    }

    private static void abort(Vertx vertx, Upload upload) {
        vertx.<@Nullable Void>executeBlocking(
                () -> {
                    upload.abort();
                    return null;
                },
                false);
    }

    private static void answer(RoutingContext context, @Nullable String otherDigest) {
        if (otherDigest == null) {
            Answers.json(context, 201, Map.of("sha256", context.pathParam("sha256")));
        } else {
            Answers.error(
                    context,
                    422,
                    "what came has SHA-256 " + otherDigest + ", announced was " + context.pathParam("sha256")
                            + "; upload it again");
        }
    }

    private static void refuse(RoutingContext context, Throwable cause) {
        if (cause instanceof FullException) {
            context.response().putHeader("Retry-After", "60");
            Answers.refuse(context, 503, String.valueOf(cause.getMessage()));
        } else {
            Answers.refuse(context, 507, "the repository cannot store the upload: " + cause.getMessage());
        }
    }
}
