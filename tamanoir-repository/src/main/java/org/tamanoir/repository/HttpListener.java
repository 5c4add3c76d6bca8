package org.tamanoir.repository;

import com.google.common.net.InetAddresses;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.PeerNetwork;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.BindFailure;
import org.tamanoir.transport.ListeningSockets;

/**
 * An HTTP/1.1 server on one address, with the bounds that every server here has: connections in all and of one peer,
 * bytes of a request's head, time for a request, idle time; and with heads that leave nothing in doubt.
 *
 * <p>Thread contract: any thread. Routes run on its one event-loop thread and must not block there.
 */
public final class HttpListener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);
    static final int MAX_HEAD_BYTES = 16 * 1024;
    static final int MAX_LINE_BYTES = 4 * 1024;

    /**
     * Bounds that tests make small.
     *
     * @param connections at once, by the rules of {@link HttpConnections}
     * @param perPeer connections of one peer that is not this host
     * @param reserved connections that strangers cannot have
     * @param headMs from a connection's begin, its TLS handshake included, to the first whole request head
     * @param bodyMs for a request with a body, answer included
     * @param idleMs without a byte in either direction, and from an answer to the next whole request head
     */
    record Limits(int connections, int perPeer, int reserved, long headMs, long bodyMs, long idleMs) {
        static final Limits USUAL = new Limits(256, 32, 32, 10_000, 300_000, 60_000);
    }

    private static final long PATIENCE_SECONDS = 10;
    private static final long NO_TIMER = -1;

    private final Vertx vertx;
    private final InetSocketAddress address;
    private final Times times;
    private final @Nullable SharedListening shared;
    private final TlsFiles.Renewal renewal;

    private HttpListener(
            Vertx vertx,
            InetSocketAddress address,
            Times times,
            @Nullable SharedListening shared,
            TlsFiles.Renewal renewal) {
        this.renewal = renewal;
        this.vertx = vertx;
        this.address = address;
        this.times = times;
        this.shared = shared;
    }

    /**
     * Listens.
     *
     * @param what names it in errors, as in {@code admin API}
     * @param address port 0 takes a free one
     * @param tls null = plain HTTP
     * @param routes makes the router
     * @throws IOException in one line, if the address cannot be had or a TLS file is no good
     */
    public static HttpListener start(
            String what, InetSocketAddress address, @Nullable TlsFiles tls, Function<Vertx, Router> routes)
            throws IOException {
        return start(what, address, tls, nobody -> false, routes);
    }

    /**
     * Listens, with places reserved for some peers.
     *
     * @param isReservedFor whether a peer may have one of the places that are reserved for this host; asked for each
     *     connection, by a thread that accepts, and must not block
     * @throws IOException as the other one
     */
    public static HttpListener start(
            String what,
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            Predicate<InetAddress> isReservedFor,
            Function<Vertx, Router> routes)
            throws IOException {
        return start(what, address, tls, isReservedFor, routes, ListeningSockets.NONE);
    }

    /**
     * Listens, on a socket that may come from another process and go to one.
     *
     * @param sockets where it is under the name {@code what}, if at all
     * @throws IOException as the other one
     */
    public static HttpListener start(
            String what,
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            Predicate<InetAddress> isReservedFor,
            Function<Vertx, Router> routes,
            ListeningSockets sockets)
            throws IOException {
        SharedListening shared = sockets.wants(what, address) ? new SharedListening(sockets, what, address) : null;
        return start(what, address, tls, isReservedFor, routes, Limits.USUAL, shared);
    }

    static HttpListener start(
            String what,
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            Predicate<InetAddress> isReservedFor,
            Function<Vertx, Router> routes,
            Limits limits)
            throws IOException {
        return start(what, address, tls, isReservedFor, routes, limits, null);
    }

    private static HttpListener start(
            String what,
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            Predicate<InetAddress> isReservedFor,
            Function<Vertx, Router> routes,
            Limits limits,
            @Nullable SharedListening shared)
            throws IOException {
        HttpConnections connections =
                new HttpConnections(limits.connections, limits.perPeer, limits.reserved, isReservedFor);
        Vertx vertx = Vertx.builder()
                .with(new VertxOptions()
                        .setEventLoopPoolSize(1)
                        .setWorkerPoolSize(4)
                        .setInternalBlockingPoolSize(2)
                        .setFileSystemOptions(new FileSystemOptions()
                                .setClassPathResolvingEnabled(false)
                                .setFileCachingEnabled(false)))
                .withTransport(new BoundedTransport(connections, shared))
                .build();
        try {
            if (tls != null) {
                tls.context(); // Its errors say what to do; Vert.x's do not.
            }
            HttpServer server = vertx.createHttpServer(options(address, tls, limits));
            Router router = routes.apply(vertx);
            Times times = new Times(vertx, limits, connections);
            server.connectionHandler(times::connected);
            server.requestHandler(request -> {
                times.begun(request);
                String problem = RequestHead.problem(request);
                if (problem != null) {
                    Answers.malformed(request, 400, problem);
                } else if (RequestHead.endsInSlash(request)) { // Vert.x's routes would take it as without.
                    Answers.malformed(
                            request, 404, "there is nothing under a path with a slash at its end: leave the slash out");
                } else {
                    router.handle(request);
                }
            });
            server.invalidRequestHandler(RequestHead::refuse);
            server.listen().toCompletionStage().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            return new HttpListener(
                    vertx,
                    new InetSocketAddress(address.getAddress(), server.actualPort()),
                    times,
                    shared,
                    () -> renew(server, address, tls, limits));
        } catch (ExecutionException | TimeoutException e) {
            vertx.close();
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(BindFailure.line(what + ": cannot listen on", address, Causes.text(cause)), e);
        } catch (InterruptedException e) {
            vertx.close();
            Thread.currentThread().interrupt();
            throw new IOException(what + ": interrupted at its start", e);
        } catch (IOException | RuntimeException e) {
            vertx.close();
            throw e;
        }
    }

    /**
     * Has connections from now on begin with what the files of TLS hold now; those that are open go on.
     *
     * @throws IOException in one line, if a file is no good; nothing is changed then
     */
    public void renew() throws IOException {
        renewal.run();
    }

    private static void renew(HttpServer server, InetSocketAddress address, @Nullable TlsFiles tls, Limits limits)
            throws IOException {
        if (tls == null) {
            return;
        }
        tls.context(); // Its errors say what to do; Vert.x's do not.
        try {
            server.updateSSLOptions(options(address, tls, limits).getSslOptions(), true)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("TLS certificate " + tls.certificate() + ": is not taken: " + Causes.text(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("TLS certificate " + tls.certificate() + ": is not taken: interrupted", e);
        }
    }

    private static HttpServerOptions options(InetSocketAddress address, @Nullable TlsFiles tls, Limits limits) {
        HttpServerOptions options = new HttpServerOptions()
                .setHost(address.getAddress().getHostAddress())
                .setPort(address.getPort())
                .setIdleTimeout((int) limits.idleMs)
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                .setMaxHeaderSize(MAX_HEAD_BYTES)
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setHttp2ClearTextEnabled(false)
                .setUseAlpn(false);
        if (tls != null && tls.certificate() != null && tls.key() != null) {
            options.setSsl(true)
                    .setSslHandshakeTimeout(limits.headMs)
                    .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
                    .setKeyCertOptions(new PemKeyCertOptions()
                            .setCertPath(tls.certificate().toString())
                            .setKeyPath(tls.key().toString()));
            if (tls.trust() != null && tls.requireClient()) {
                options.setClientAuth(ClientAuth.REQUIRED)
                        .setTrustOptions(
                                new PemTrustOptions().addCertPath(tls.trust().toString()));
            }
        }
        return options;
    }

    /**
     * Returns whether a request may do without a Host: those by HTTP/1.0 that load balancers check with, {@code GET} and
     * {@code HEAD} of {@code /health} and {@code /ready}.
     */
    public static boolean isHealthCheck(HttpServerRequest request) {
        return RequestHead.isHealthCheck(request);
    }

    /** Finds what is wrong with the names of a request's query, one line; null = nothing. @param known each once */
    public static @Nullable String queryProblem(RoutingContext context, Collection<String> known) {
        return RequestHead.queryProblem(context.queryParams(), known);
    }

    /** Adds a route for questions, which HEAD asks too: Vert.x leaves the body of its answer out. */
    public static Route get(Router router, String path) {
        return router.route(path).method(HttpMethod.GET).method(HttpMethod.HEAD);
    }

    /**
     * Returns who is to be counted as one client: an address, of IPv6 its network; null = this host itself.
     *
     * @param request of any listener
     */
    public static @Nullable Object stranger(HttpServerRequest request) {
        String from = request.remoteAddress().hostAddress();
        if (from.equals(request.localAddress().hostAddress())) {
            return null;
        }
        return PeerNetwork.of(InetAddresses.forString(from));
    }

    /** Returns where it listens, with the real port. */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Accepts no more; of the connections that are open each ends with its next answer. Another process accepts on the
     * same socket.
     */
    public void leave() {
        if (shared != null) {
            shared.leave();
        }
        times.leave();
    }

    /** Runs a task on the event loop, unless this listener has ended. */
    public void onLoop(Runnable task) {
        try {
            vertx.runOnContext(loop -> task.run());
        } catch (RejectedExecutionException e) {
            LOG.debug("HTTP server on {}: has ended", Addresses.text(address));
        }
    }

    /** Ends the listener with its connections. Returns when it has, or after {@value #PATIENCE_SECONDS} s. */
    @Override
    public void close() {
        try {
            vertx.close().toCompletionStage().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("HTTP server on {}: does not end: {}", Addresses.text(address), Causes.text(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Limits of requests in time. The event loop's thread. */
    private static final class Times {
        private final Vertx vertx;
        private final Limits limits;
        private final HttpConnections connections;
        /** The deadline's timer of each connection. */
        private final Map<HttpConnection, Long> deadlines = new HashMap<>();
        /** Each connection ends with its next answer. Any thread sets it. */
        private volatile boolean isLeaving;

        Times(Vertx vertx, Limits limits, HttpConnections connections) {
            this.vertx = vertx;
            this.limits = limits;
            this.connections = connections;
        }

        void leave() {
            isLeaving = true;
        }

        void connected(HttpConnection connection) {
            // A client's going away is no event here; without a handler Vert.x logs it as an error.
            connection.exceptionHandler(e -> LOG.debug("{}: {}", connection.remoteAddress(), e.toString()));
            deadlines.put(connection, deadline(connection, limits.headMs));
            connection.closeHandler(closed -> {
                Long timer = deadlines.remove(connection);
                if (timer != null) {
                    vertx.cancelTimer(timer);
                }
            });
        }

        /** Begins a request whose head is whole: its body gets its own time, its answer as much as it takes. */
        void begun(HttpServerRequest request) {
            HttpConnection connection = request.connection();
            connections.busy(ends(connection));
            set(connection, hasBody(request) ? limits.bodyMs : 0);
            AtomicBoolean isLast = new AtomicBoolean();
            request.response().headersEndHandler(begun -> {
                if (isLeaving) {
                    isLast.set(true);
                    request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
                }
            });
            request.response().endHandler(answered -> {
                connections.idle(ends(connection));
                set(connection, limits.idleMs);
                // It has said so, or has gone on until now. The request's end may be what the loop learns of next.
                if (isLast.get() || isLeaving && request.response().isChunked()) {
                    vertx.runOnContext(next -> closeAfter(request));
                }
            });
        }

        /** Ends a connection; one whose request still comes is ended by whoever refused that. */
        private static void closeAfter(HttpServerRequest request) {
            if (request.isEnded()) {
                request.connection().close();
            }
        }

        private static HttpConnections.Ends ends(HttpConnection connection) {
            return new HttpConnections.Ends(
                    connection.remoteAddress().hostAddress(),
                    connection.remoteAddress().port(),
                    connection.localAddress().hostAddress());
        }

        /** Returns what the head says: that the request has ended is known only after it was handed on. */
        private static boolean hasBody(HttpServerRequest request) {
            String length = request.getHeader("Content-Length");
            return length != null && !length.equals("0") || request.getHeader("Transfer-Encoding") != null;
        }

        private void set(HttpConnection connection, long time) {
            Long timer = deadlines.get(connection);
            if (timer != null) { // Else the connection has ended.
                vertx.cancelTimer(timer);
                deadlines.put(connection, time == 0 ? NO_TIMER : deadline(connection, time));
            }
        }

        private long deadline(HttpConnection connection, long time) {
            return vertx.setTimer(time, late -> connection.close());
        }
    }
}
