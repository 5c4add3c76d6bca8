package org.tamanoir.node.admin;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.repository.HttpListener;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * One sampling a second for all who listen, and none while nobody does. A listener gets the event {@code state}, the
 * whole view, and then the events {@code delta}: JSON merge patches (RFC 7396), which hold what has changed. All get
 * the same bytes.
 *
 * <p>Bounds: {@value #MAX_LISTENERS} listeners, of which a newcomer takes the place of the oldest, since whoever is
 * still there comes back by itself and whoever never reads does not; {@value #MAX_UNSENT_BYTES} bytes that wait for a
 * listener. One with more is passed over, gets the whole view when it has read, and is let go after
 * {@value #PATIENCE_TICKS} samplings.
 *
 * <p>Thread contract: the event loop of the server, all of whose requests have the same one; the view is taken on its
 * worker threads, one at a time. {@link #status} is any thread's.
 */
final class LiveFeed {
    static final int MAX_LISTENERS = 64;
    static final int MAX_UNSENT_BYTES = 64 * 1024;
    static final int PATIENCE_TICKS = 10;

    private static final long PERIOD_MS = 1000;
    /** After which a client that lost its connection comes back. */
    private static final int RETRY_MS = 2000;

    private static final Logger LOG = LoggerFactory.getLogger(LiveFeed.class);
    private static final JsonMapper MAPPER = new JsonMapper();

    /** Calls once in a while, on the event loop that it is begun on. */
    interface Ticker {
        /** Begins; returns what ends it. */
        Runnable begin(Vertx vertx, Runnable tick);
    }

    private static final Ticker EACH_SECOND = (vertx, tick) -> {
        long timer = vertx.setPeriodic(PERIOD_MS, id -> tick.run());
        return () -> vertx.cancelTimer(timer);
    };

    private final Supplier<Object> view;
    private final Ticker ticker;
    private final StrangerPlaces strangers = new StrangerPlaces();
    private final Set<Listener> listeners = new LinkedHashSet<>();
    private @Nullable ObjectNode last;
    private @Nullable Buffer whole;
    private volatile @Nullable Runnable endTicking;
    private boolean isSampling;
    private boolean hasLeft;
    private volatile Status status = new Status(0, 0, 0, 0);

    /** @param view what is told; asked on a worker thread */
    LiveFeed(Supplier<Object> view) {
        this(view, EACH_SECOND);
    }

    /** Makes a feed that samples when a test wants it. */
    LiveFeed(Supplier<Object> view, Ticker ticker) {
        this.view = view;
        this.ticker = ticker;
    }

    /**
     * Counts listeners and samplings.
     *
     * @param listeners now
     * @param samplings since the start
     * @param displaced listeners whose place another one took
     * @param dropped listeners that did not read
     */
    record Status(int listeners, long samplings, long displaced, long dropped) {}

    /** Returns whether nobody listens, and so nothing is sampled. */
    boolean isAtRest() {
        return endTicking == null;
    }

    /** Returns the counts of now. */
    Status status() {
        return status;
    }

    void addTo(Metrics metrics) {
        Status now = status;
        metrics.gauge("live_listeners", "Pages and programs that follow /v1/live now.", now.listeners);
        metrics.counter("live_samplings", "Samplings for all that follow /v1/live together.", now.samplings);
        metrics.counter("live_displaced", "Listeners of /v1/live whose place a newer one took.", now.displaced);
        metrics.counter("live_dropped", "Listeners of /v1/live that did not read.", now.dropped);
    }

    /** Sends a client the view, and its changes from now on. */
    void listen(RoutingContext context) {
        if (context.request().method() == HttpMethod.HEAD) {
            context.response()
                    .putHeader(HttpHeaders.CONTENT_TYPE, StreamedAnswer.EVENT_STREAM)
                    .end();
            return;
        }
        Object stranger = HttpListener.stranger(context.request());
        try {
            strangers.take(stranger);
        } catch (ApiException e) {
            Replies.refuse(context, e);
            return;
        }
        if (listeners.size() >= MAX_LISTENERS) {
            listeners.iterator().next().end();
            status = new Status(listeners.size(), status.samplings, status.displaced + 1, status.dropped);
        }
        Listener listener = new Listener(context.response(), stranger);
        listener.begin();
        if (hasLeft) {
            listener.finish();
            return;
        }
        if (endTicking == null) {
            last = null;
            whole = null;
            endTicking = ticker.begin(context.vertx(), () -> sampleUnlessBusy(context.vertx()));
            sampleUnlessBusy(context.vertx());
        } else if (whole != null) {
            listener.sendState(whole);
        }
    }

    /** Ends all answers, and those to come at once: whoever comes back gets another process. The event loop. */
    void leave() {
        hasLeft = true;
        List.copyOf(listeners).forEach(Listener::finish);
    }

    private void sampleUnlessBusy(Vertx vertx) {
        if (isSampling) {
            return; // The node is too busy to answer in time: a second is left out.
        }
        isSampling = true;
        try {
            sample(vertx);
        } catch (RejectedExecutionException e) {
            isSampling = false; // The server closes.
        }
    }

    private void sample(Vertx vertx) {
        vertx.<ObjectNode>executeBlocking(() -> MAPPER.valueToTree(view.get()), false)
                .onComplete(sampled -> {
                    isSampling = false;
                    if (sampled.succeeded()) {
                        publish(sampled.result());
                    } else {
                        LOG.warn("what pages are shown cannot be told: {}", String.valueOf(sampled.cause()));
                    }
                    Runnable end = endTicking;
                    if (listeners.isEmpty() && end != null) {
                        end.run();
                        endTicking = null;
                    }
                });
    }

    private void publish(ObjectNode now) {
        status = new Status(listeners.size(), status.samplings + 1, status.displaced, status.dropped);
        ObjectNode before = last;
        Buffer state = event("state", now);
        Buffer delta = before == null ? state : event("delta", patch(before, now));
        last = now;
        whole = state;
        for (Listener listener : List.copyOf(listeners)) {
            listener.send(delta, state);
        }
    }

    private static Buffer event(String kind, ObjectNode data) {
        return Buffer.buffer("event: " + kind + "\ndata: ")
                .appendBytes(MAPPER.writeValueAsBytes(data))
                .appendString("\n\n");
    }

    /** Returns the merge patch that makes one object of the other (RFC 7396). */
    static ObjectNode patch(ObjectNode before, ObjectNode after) {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        after.properties().forEach(field -> {
            JsonNode was = before.get(field.getKey());
            JsonNode is = field.getValue();
            if (is instanceof ObjectNode now && was instanceof ObjectNode then) {
                ObjectNode changed = patch(then, now);
                if (!changed.isEmpty()) {
                    patch.set(field.getKey(), changed);
                }
            } else if (!is.equals(was) && !(is.isNull() && was == null)) {
                patch.set(field.getKey(), is);
            }
        });
        for (Iterator<String> names = before.propertyNames().iterator(); names.hasNext(); ) {
            String name = names.next();
            if (!after.has(name)) {
                patch.putNull(name);
            }
        }
        return patch;
    }

    /** A client that follows the feed. The event loop. */
    private final class Listener {
        private final HttpServerResponse response;
        private final @Nullable Object stranger;
        private boolean lacksState = true;
        private int ticksUnread;

        Listener(HttpServerResponse response, @Nullable Object stranger) {
            this.response = response;
            this.stranger = stranger;
        }

        void begin() {
            response.setChunked(true).putHeader(HttpHeaders.CONTENT_TYPE, StreamedAnswer.EVENT_STREAM);
            response.setWriteQueueMaxSize(MAX_UNSENT_BYTES);
            response.exceptionHandler(e -> leave());
            response.closeHandler(closed -> leave());
            listeners.add(this);
            status = new Status(listeners.size(), status.samplings, status.displaced, status.dropped);
            response.write(Buffer.buffer("retry: " + RETRY_MS + "\n\n"));
        }

        void sendState(Buffer state) {
            lacksState = false;
            response.write(state);
        }

        void send(Buffer delta, Buffer state) {
            if (response.writeQueueFull()) {
                lacksState = true;
                if (++ticksUnread >= PATIENCE_TICKS) {
                    end();
                    status = new Status(listeners.size(), status.samplings, status.displaced, status.dropped + 1);
                }
                return;
            }
            ticksUnread = 0;
            if (lacksState) {
                sendState(state);
            } else {
                response.write(delta);
            }
        }

        /** Ends with all that was told. */
        void finish() {
            leave();
            response.end();
        }

        void end() {
            leave();
            response.reset();
        }

        private void leave() {
            if (listeners.remove(this)) {
                strangers.leave(stranger);
                status = new Status(listeners.size(), status.samplings, status.displaced, status.dropped);
            }
        }
    }
}
