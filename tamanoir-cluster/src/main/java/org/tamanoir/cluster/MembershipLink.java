package org.tamanoir.cluster;

import java.io.IOException;
import java.net.ConnectException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.HttpCalls;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * One director, as a back-end sees it: registers there again and again, one request at a time.
 *
 * <p>Thread contract: {@link #step} is the registering thread's; the rest is any thread's.
 */
final class MembershipLink {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipLink.class);
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;
    private static final int LIMIT_BYTES = MembershipWelcome.LIMIT_BYTES;
    private static final String ASKED = "asked";
    private static final String REFUSED = "refused";
    private static final String UNREACHABLE = "unreachable";
    /** Bounds of what a director may say: often enough to be seen alive, seldom enough to cost nothing. */
    private static final long MIN_INTERVAL_NS = Duration.ofMillis(100).toNanos();

    private static final long MAX_INTERVAL_NS = Duration.ofMinutes(1).toNanos();
    /** The node waits for the end of its streams. */
    private static final long LEAVING_INTERVAL_NS = Duration.ofMillis(500).toNanos();
    /** A cancelled request ends at once; it is looked at again after this all the same. */
    private static final long SHORT_NS = Duration.ofMillis(10).toNanos();

    /** What is registered; {@code local} is the address that leads to this director. */
    interface Body {
        Registration of(InetAddress local);
    }

    /** What the link tells. The registering thread calls. */
    interface Listener {
        /** @param welcome null = there was no answer, or none that helps */
        void answered(@Nullable Welcome welcome);
    }

    private final URI url;
    private final MembershipSettings settings;
    private final HttpCalls senders;
    private final MembershipPace pace;
    private final Runnable wake;
    private @Nullable InetAddress local;
    /** The director's address; null = not known yet. */
    private volatile @Nullable InetAddress there;

    private @Nullable Future<HttpResponse<String>> pending;
    private boolean pendingLeaves;
    private long deadlineNs;

    private String state = ASKED;
    private Instant since = Instant.now();
    private @Nullable String problem;
    private @Nullable Welcome welcome;
    /** Whether it answered the last registration before the node took its leave. */
    private boolean isWell;

    private boolean leaves;
    private boolean confirmed;
    private long firstLeaveNs;

    /**
     * Makes a link that has asked nothing yet.
     *
     * @param wake called by any thread when {@link #step} has something to do
     */
    MembershipLink(URI url, MembershipSettings settings, HttpCalls senders, MembershipPace pace, Runnable wake) {
        this.url = url;
        this.settings = settings;
        this.senders = senders;
        this.pace = pace;
        this.wake = wake;
    }

    /** Does what is due; returns nanoseconds until something is due again. */
    long step(long nowNs, Body body, Listener listener) {
        Future<HttpResponse<String>> sent = pending;
        if (sent != null && !sent.isDone() && nowNs - deadlineNs >= 0) {
            sent.cancel(true);
        }
        if (sent != null && sent.isDone()) {
            pending = null;
            take(sent, nowNs, listener);
        }
        if (pending == null && pace.leftNs(nowNs) == 0) {
            send(nowNs, body, listener);
        }
        return pending == null ? pace.leftNs(nowNs) : Math.max(SHORT_NS, deadlineNs - nowNs);
    }

    private void send(long nowNs, Body body, Listener listener) {
        try {
            if (local == null) {
                there = new InetSocketAddress(host(url), url.getPort()).getAddress();
            }
            InetAddress from = local == null ? localAddress(url) : local;
            local = from;
            pendingLeaves = leaves();
            HttpRequest request = HttpRequest.newBuilder(url.resolve("/v1/back-ends/"
                            + URLEncoder.encode(settings.name(), StandardCharsets.UTF_8)
                                    .replace("+", "%20")))
                    .header("Authorization", settings.authorization())
                    .header("Content-Type", "application/json")
                    .timeout(settings.timing().requestTimeout())
                    .PUT(HttpRequest.BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(body.of(from))))
                    .build();
            deadlineNs = nowNs + settings.timing().requestTimeout().toNanos();
            pending = senders.send(request, head -> BoundedBody.text(LIMIT_BYTES), wake);
        } catch (IOException e) {
            local = null;
            failed(UNREACHABLE, String.valueOf(e.getMessage()), nowNs, listener);
        }
    }

    private void take(Future<HttpResponse<String>> done, long nowNs, Listener listener) {
        try {
            HttpResponse<String> response = done.get();
            if (response.statusCode() != OK) {
                // One that starts, or is busy, will have it soon.
                String what = response.statusCode() == UNAVAILABLE ? UNREACHABLE : REFUSED;
                failed(what, refusal(response), nowNs, listener);
                return;
            }
            Welcome said = MembershipWelcome.parse(response.body());
            well(said, nowNs);
            listener.answered(said);
        } catch (ClusterException e) {
            failed(REFUSED, "its answer is not a director's: " + e.getMessage(), nowNs, listener);
        } catch (ExecutionException e) {
            local = null; // The way there may have changed.
            failed(UNREACHABLE, reason(e.getCause() == null ? e : e.getCause()), nowNs, listener);
        } catch (CancellationException e) {
            local = null;
            failed(UNREACHABLE, noAnswer(), nowNs, listener);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The node ends.
        }
    }

    private void well(Welcome said, long nowNs) {
        long intervalNs = Math.max(
                MIN_INTERVAL_NS,
                Math.min(MAX_INTERVAL_NS, Duration.ofMillis(said.intervalMs()).toNanos()));
        synchronized (this) {
            welcome = said;
            problem = null;
            isWell |= !leaves;
            turn(said.state());
            if (pendingLeaves && !confirmed) {
                firstLeaveNs = firstLeaveNs == 0 ? nowNs : firstLeaveNs;
                confirmed = !said.state().equals(BackEndState.UP.label()) || nowNs - firstLeaveNs >= intervalNs;
            }
        }
        pace.succeeded(nowNs, leaves() ? Math.min(intervalNs, LEAVING_INTERVAL_NS) : intervalNs);
        if (leaves() && !pendingLeaves) {
            pace.hurry(nowNs);
        }
    }

    private void failed(String now, String why, long nowNs, Listener listener) {
        synchronized (this) {
            if (!why.equals(problem)) {
                LOG.warn("director {}: {}", url, why);
            }
            problem = why;
            turn(now);
            isWell &= leaves;
            confirmed |= leaves && !isWell; // One that was away before is not waited for.
        }
        pace.failed(nowNs);
        listener.answered(null);
    }

    /** Changes the state; under the monitor. */
    private void turn(String now) {
        if (!now.equals(state)) {
            LOG.info("director {}: this node is {}", url, now);
            state = now;
            since = Instant.now();
        }
    }

    /** Registers at once, as there is news to tell. The registering thread. */
    void hurry(long nowNs) {
        pace.hurry(nowNs);
    }

    private String reason(Throwable e) {
        if (e instanceof HttpConnectTimeoutException || e instanceof java.net.http.HttpTimeoutException) {
            return noAnswer();
        }
        Optional<String> otherProtocol = HttpCalls.otherProtocol(url.getScheme(), e);
        if (otherProtocol.isPresent()) {
            return otherProtocol.get();
        }
        if (e instanceof SSLException) {
            return "no TLS with it: " + Bounds.line(Causes.text(e))
                    + "; name the authority of its certificate under tls.trust, or with --tls-trust";
        }
        if (e instanceof ConnectException) {
            return "cannot connect: is the director running, and its API there?";
        }
        return "no answer: " + Bounds.reason(e);
    }

    private String noAnswer() {
        return "no answer within " + settings.timing().requestTimeout().toMillis() + " ms";
    }

    private static String refusal(HttpResponse<String> response) {
        String why = "";
        try {
            why = MAPPER.readTree(response.body()).path("error").asString("");
        } catch (JacksonException e) {
            // Whoever answers is no director; its status says enough.
        }
        String status = "it answers with status " + response.statusCode();
        return why.isBlank() ? status : Bounds.line(status + ": " + why);
    }

    /** Returns the address of this host that leads there; nothing is sent. */
    static InetAddress localAddress(URI url) throws IOException {
        InetSocketAddress there = new InetSocketAddress(host(url), url.getPort());
        if (there.isUnresolved()) {
            throw new IOException("its name " + url.getHost() + " is unknown");
        }
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(there);
            InetAddress here = probe.getLocalAddress();
            if (here.isAnyLocalAddress()) {
                throw new IOException("no route leads there");
            }
            return here;
        } catch (SocketException | java.io.UncheckedIOException e) {
            throw new IOException("no route leads there", e);
        }
    }

    /** Returns whether the director is at this address. */
    boolean isAt(InetAddress address) {
        return address.equals(there);
    }

    /** Has the node take its leave from now on. */
    synchronized void leave() {
        leaves = true;
    }

    synchronized boolean leaves() {
        return leaves;
    }

    /** Returns whether it knows that the node leaves, or cannot be told. */
    synchronized boolean hasConfirmed() {
        return confirmed;
    }

    /** Returns whether it says that the node has streams from there. */
    synchronized boolean hasStreams() {
        boolean inTable = state.equals(BackEndState.DRAINING.label()) || state.equals(BackEndState.UP.label());
        return problem == null && inTable;
    }

    /** Returns what it said last; null = nothing yet. */
    synchronized @Nullable Welcome welcome() {
        return welcome;
    }

    /** Returns whether it answered, and would not have this node. */
    synchronized boolean refuses() {
        return state.equals(REFUSED);
    }

    URI url() {
        return url;
    }

    /** Returns its name or address. */
    String host() {
        return host(url);
    }

    private static String host(URI url) {
        return url.getHost().replaceAll("[\\[\\]]", "");
    }

    synchronized MembershipStatus.DirectorLink status() {
        Welcome last = welcome;
        return new MembershipStatus.DirectorLink(
                url.toString(),
                last == null ? null : last.director(),
                state,
                since.toString(),
                last == null ? 0 : last.connections(),
                problem);
    }
}
