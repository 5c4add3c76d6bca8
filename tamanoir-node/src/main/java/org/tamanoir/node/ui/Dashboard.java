package org.tamanoir.node.ui;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;
import java.util.function.Supplier;
import org.tamanoir.repository.HttpListener;

/**
 * Serves the page at {@code /ui}. It is files alone: what the page shows it asks the API of the same server for, with
 * the rights that its reader has there. Files are read and compressed at the first request and kept, a third of a
 * megabyte.
 *
 * <p>Thread contract: {@link #serve} before the server listens; requests on its event loop.
 */
public final class Dashboard {
    private static final String BASE = "/ui";

    /** Nothing from elsewhere, nothing inline, no frame around it, no form that goes anywhere. */
    private static final String POLICY =
            "default-src 'self'; base-uri 'none'; form-action 'none'; " + "frame-ancestors 'none'; object-src 'none'";

    private static final String FOR_EVER = "public, max-age=31536000, immutable";
    private static final int NOT_MODIFIED = 304;
    private static final int NOT_FOUND = 404;

    private final String server;

    /** @param server to which it belongs, {@code node} or {@code director} */
    public Dashboard(String server) {
        this.server = server;
    }

    /** The files, read when they are first asked for. */
    private static final class Read {
        static final Assets ASSETS = Assets.read();
    }

    /** Adds the page's paths. */
    public void serve(Router router) {
        HttpListener.get(router, BASE)
                .handler(context -> read(context, () -> Optional.of(Read.ASSETS.page(server)), "no-cache"));
        HttpListener.get(router, BASE + "/:version/:file").handler(context -> {
            String version = context.pathParam("version");
            String file = context.pathParam("file");
            read(context, () -> Read.ASSETS.file(version, file), FOR_EVER);
        });
    }

    private static void read(RoutingContext context, Supplier<Optional<Asset>> asset, String caching) {
        context.vertx().executeBlocking(asset::get, false).onComplete(read -> {
            if (read.failed()) {
                context.fail(read.cause());
            } else if (read.result().isEmpty()) {
                context.fail(NOT_FOUND);
            } else {
                answer(context.request(), read.result().get(), caching);
            }
        });
    }

    private static void answer(HttpServerRequest request, Asset asset, String caching) {
        String accepted = request.getHeader("Accept-Encoding");
        boolean isCompressed =
                accepted != null && accepted.matches("(?i).*\\bgzip\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$)).*");
        String tag = asset.tag(isCompressed);
        HttpServerResponse response = request.response()
                .putHeader("Content-Security-Policy", POLICY)
                .putHeader("Referrer-Policy", "no-referrer")
                .putHeader("Cross-Origin-Opener-Policy", "same-origin")
                .putHeader("Cross-Origin-Resource-Policy", "same-origin")
                .putHeader("Cache-Control", caching)
                .putHeader("Vary", "Accept-Encoding")
                .putHeader("ETag", tag);
        if (tag.equals(request.getHeader("If-None-Match"))) {
            response.setStatusCode(NOT_MODIFIED).end();
            return;
        }
        response.putHeader("Content-Type", asset.contentType());
        if (isCompressed) {
            response.putHeader("Content-Encoding", "gzip");
        }
        response.end(Buffer.buffer(isCompressed ? asset.gzip() : asset.plain()));
    }
}
