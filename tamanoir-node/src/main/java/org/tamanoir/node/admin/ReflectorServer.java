package org.tamanoir.node.admin;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.reflect.Reflector;
import org.tamanoir.cluster.reflect.SessionStatus;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.MemberText;
import org.tamanoir.repository.HttpListener;

/**
 * The API of a reflector: {@code GET /v1/reflector}, {@code POST} and {@code DELETE} of {@code
 * /v1/reflector/SESSION/members/MEMBER}, {@code GET /health}. Changes need the token.
 *
 * <p>Thread contract: any thread. Requests run as {@link Api} says.
 */
public final class ReflectorServer implements AutoCloseable {
    private final Reflector reflector;
    private final AdminSettings settings;
    private final Api api;
    private volatile @Nullable HttpListener listener;

    /** A server that is not started. */
    public ReflectorServer(Reflector reflector, AdminSettings settings) {
        this.reflector = reflector;
        this.settings = settings;
        api = new Api(new AdminGate(settings, "reflector", false));
    }

    /** All sessions. */
    record Sessions(List<SessionStatus> sessions) {}

    /** A member that was told something. */
    record Told(String session, String member) {}

    /**
     * Listens.
     *
     * @throws IOException in one line, if the address cannot be had
     */
    public void start() throws IOException {
        listener = HttpListener.start("reflector's API", settings.address(), settings.tls(), this::router);
    }

    /** Returns where it listens, with the real port; before the start as configured. */
    public InetSocketAddress address() {
        HttpListener started = listener;
        return started == null ? settings.address() : started.address();
    }

    private Router router(Vertx vertx) {
        Router router = api.router(vertx);
        api.text(router, "/health", Replies.JSON, call -> Replies.json(new Views.Health("up")));
        api.get(router, "/v1/reflector", this::sessions, "limit");
        String member = "/v1/reflector/{session}/members/{member}";
        api.change(router, HttpMethod.POST, member, this::join);
        api.change(router, HttpMethod.DELETE, member, this::leave);
        return router;
    }

    private Sessions sessions(Call call) throws ApiException {
        return new Sessions(reflector.status(call.limit()));
    }

    private Told join(Call call) throws ApiException {
        JsonFields fields = call.fields();
        String terms = fields.text("terms");
        fields.check();
        String member = call.path("member");
        return told(call, () -> {
            reflector.join(call.path("session"), MemberText.member(terms == null ? member : member + "," + terms));
            return true;
        });
    }

    private Told leave(Call call) throws ApiException {
        return told(call, () -> reflector.leave(call.path("session"), Endpoint.ofAny(call.path("member"), 0)));
    }

    private interface Change {
        boolean make();
    }

    private static Told told(Call call, Change change) throws ApiException {
        String member = call.path("member");
        try {
            if (!change.make()) {
                throw new ApiException(
                        ApiException.NOT_FOUND,
                        "session " + call.path("session") + " has no member " + member
                                + ": GET /v1/reflector lists those that it has");
            }
            return new Told(call.path("session"), member);
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        api.close();
        HttpListener started = listener;
        if (started != null) {
            started.close();
        }
    }
}
