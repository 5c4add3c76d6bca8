package org.tamanoir.repository;

import com.google.common.net.InetAddresses;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.platform.Causes;

/**
 * FFS's own format server, as C programs ask it where {@code FORMAT_SERVER_HOST=http://HOST:PORT}: {@link FormatFile}.
 * A description is taken from this host's loopback, or with the token.
 *
 * <p>Thread contract: the event loop's thread; descriptions are looked at on a worker thread.
 */
final class FormatHandler {
    private static final Logger LOG = LoggerFactory.getLogger(FormatHandler.class);
    private static final String PATH = "/v1/formats";
    /** Bodies that are taken in at a time: each has up to 2 MiB. */
    private static final int MAX_BODIES = 16;
    /** Who is asked through a proxy on this host is not asked by this host; and pages in browsers are nobody's program. */
    private static final List<String> NOT_LOCAL = List.of("Forwarded", "X-Forwarded-For", "Via", "Origin");

    private final FormatShelf shelf;
    private final boolean isOpen;
    private final @Nullable Token token;
    private int bodies;

    private FormatHandler(FormatShelf shelf, boolean isOpen, @Nullable Token token) {
        this.shelf = shelf;
        this.isOpen = isOpen;
        this.token = token;
    }

    /**
     * Answers on these paths.
     *
     * @param isOpen whether descriptions are taken
     * @param token with which they are taken from elsewhere; null = from nowhere else
     */
    static void install(Router router, FormatShelf shelf, boolean isOpen, @Nullable Token token) {
        FormatHandler handler = new FormatHandler(shelf, isOpen, token);
        HttpListener.get(router, PATH + "/:id").handler(handler::get);
        // One route each, since within one route Vert.x wants a body handler first.
        router.post(PATH).handler(handler::admit);
        router.post(PATH).handler(BodyHandler.create(false).setBodyLimit(FormatFile.MAX_JSON_BYTES));
        router.post(PATH).handler(handler::add);
    }

    private void get(RoutingContext context) {
        work(context, () -> {
            FormatId id = FormatId.parse(context.pathParam("id"));
            byte[] description = shelf.description(id);
            return description == null
                    ? Reply.error(404, "format " + id + " is not known here")
                    : new Reply(200, new String(FormatFile.toJson(description), StandardCharsets.US_ASCII));
        });
    }

    private void admit(RoutingContext context) {
        HttpServerRequest request = context.request();
        if (!isOpen) {
            Answers.refuse(
                    context, 403, "descriptions are not taken here: publish them signed, by 'ffs publish --key'");
        } else if (!isLocal(request) && (token == null || !token.matches(request.getHeader("Authorization")))) {
            Answers.refuse(
                    context,
                    token == null ? 403 : 401,
                    "descriptions are taken from programs on this host alone"
                            + (token == null ? "" : ", and with 'Authorization: Bearer TOKEN'"));
        } else if (bodies >= MAX_BODIES) {
            Answers.refuse(context, 503, MAX_BODIES + " descriptions are coming in already: try again");
        } else {
            bodies++;
            context.addEndHandler(ended -> bodies--);
            context.next();
        }
    }

    private static boolean isLocal(HttpServerRequest request) {
        String from = request.remoteAddress().hostAddress();
        return InetAddresses.forString(from).isLoopbackAddress()
                && NOT_LOCAL.stream().noneMatch(request.headers()::contains);
    }

    private void add(RoutingContext context) {
        work(context, () -> {
            Format format = Format.of(FormatFile.ofJson(
                    context.body().buffer() == null
                            ? new byte[0]
                            : context.body().buffer().getBytes()));
            shelf.add(format);
            LOG.debug("format {} came from {}", format.id(), context.request().remoteAddress());
            return Reply.of(200, Map.of("server_id", format.id().toString()));
        });
    }

    private record Reply(int status, String json) {
        static Reply of(int status, Object body) {
            return new Reply(status, Answers.encode(body));
        }

        static Reply error(int status, @Nullable String line) {
            return of(status, Map.of("error", String.valueOf(line)));
        }
    }

    private static void work(RoutingContext context, Callable<Reply> work) {
        context.vertx()
                .executeBlocking(() -> reply(work), false)
                .onSuccess(reply -> Answers.encoded(context, reply.status, reply.json))
                .onFailure(cause -> Answers.failed(context, cause));
    }

    private static Reply reply(Callable<Reply> work) throws Exception {
        try {
            return work.call();
        } catch (FormatException e) {
            return Reply.error(422, "no format: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            return Reply.error(400, e.getMessage());
        } catch (ConflictException e) {
            return Reply.error(409, Causes.text(e));
        } catch (IOException e) {
            LOG.warn("cannot keep a format: {}", Causes.text(e));
            return Reply.error(507, Causes.text(e));
        }
    }
}
