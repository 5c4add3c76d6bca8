package org.tamanoir.ee;

import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.StreamCodec;
import org.tamanoir.transport.TcpConnection;

/**
 * Makes a stream's connections to its next hops, one at a time. Who asks for one is to ask again until it is there, or
 * cannot be had in the time for it: the loop comes round when there is news.
 *
 * <p>Thread contract: the stream's thread.
 */
final class TcpConnector implements Connections.Connector<TcpEgress> {
    private static final Logger LOG = LoggerFactory.getLogger(TcpConnector.class);
    /** Between attempts to reach a next hop that refuses. */
    private static final Duration RETRY = Duration.ofMillis(200);

    /** Until a next hop that was let go is tried again; each time twice as long. */
    private static final Duration FIRST_REST = Duration.ofSeconds(1);

    /** The longest rest, where patience is short. */
    private static final Duration LONG_REST = Duration.ofMinutes(1);

    /** The longest rest in patiences, one of which, and a quarter, the stream may wait at each try: a 17th of its time. */
    private static final int REST_PATIENCES = 20;

    private static final int MAX_RESTS = 4096;

    private final StreamInstance instance;
    private final NodeContext context;
    /** How long it is tried to reach a next hop, for which the stream waits. */
    private final Duration timeout;
    /** Of a next hop that fails by itself; null where that is the end of the stream. */
    private final @Nullable Duration longestRest;

    private @Nullable Attempt attempt;
    private final Map<InetSocketAddress, Rest> rests = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<InetSocketAddress, Rest> eldest) {
            return size() > MAX_RESTS;
        }
    };

    /**
     * A time in which a next hop is not asked for a connection.
     *
     * @param endNs its end; since the next try has begun, the time of that
     */
    private record Rest(long endNs, long waitNs) {}

    /** @param patience how long next hops wait for each other; null where the loss of one is the end of the stream */
    TcpConnector(StreamInstance instance, @Nullable Duration patience) {
        this.instance = instance;
        this.context = instance.context;
        Duration usual = context.config().connectTimeout();
        this.timeout = patience == null ? usual : shorter(patience, usual);
        this.longestRest = patience == null ? null : longer(LONG_REST, patience.multipliedBy(REST_PATIENCES));
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    /** The connection that is being made. */
    private final class Attempt {
        final InetSocketAddress address;
        final @Nullable TlsContext tls;
        long deadlineNs = nowNs() + timeout.toNanos();
        /** Null between attempts. */
        @Nullable
        TcpConnection connection;

        /** The connection is to carry SAPF. */
        boolean isSapf;

        /** Of this attempt, or else until the next one. */
        long endNs = nowNs();

        Attempt(InetSocketAddress address, @Nullable TlsContext tls) {
            this.address = address;
            this.tls = tls;
        }

        /** Goes on; returns the connection when it is there. */
        @Nullable
        TcpConnection advance() {
            if (connection == null && nowNs() - endNs >= 0) {
                begin();
            }
            TcpConnection made = connection;
            if (made == null) {
                return null;
            }
            if (made.isConnected() && made.failure() == null) {
                attempt = null;
                return made;
            }
            if (made.failure() != null || nowNs() - endNs >= 0) {
                connection = null;
                made.close();
                if (isSapf && context.sapf().to(address) == null) {
                    deadlineNs = nowNs() + timeout.toNanos(); // It has been reached, and no packet has been sent.
                    begin();
                } else {
                    // What is let rest is tried once: nobody waits for a next hop that refuses.
                    String failure = made.failure();
                    failed(failure == null ? "no answer in time" : failure, made.isRefused() || longestRest != null);
                }
            }
            return null;
        }

        private void begin() {
            try {
                StreamCodec codec = tls == null ? context.sapf().to(address) : null;
                isSapf = codec != null;
                connection = codec != null
                        ? instance.loop.connectThrough(address, timeout, codec)
                        : instance.loop.connect(address, timeout, tls);
                comeBackAfter(timeout);
            } catch (UncheckedIOException e) {
                failed(Causes.text(e), false); // Descriptors may come free.
            }
        }

        private void failed(String failure, boolean isFinal) {
            if (isFinal || nowNs() - deadlineNs >= 0) {
                LOG.info("{}: next hop {} not reached: {}", instance.thread.name(), Addresses.text(address), failure);
                attempt = null;
                rest(address);
            } else {
                comeBackAfter(RETRY);
            }
        }

        private void comeBackAfter(Duration time) {
            endNs = nowNs() + time.toNanos();
            instance.loop.schedule(time, () -> {});
        }
    }

    /**
     * Has a next hop that fails by itself not be asked for a connection for a time: who wants one finds that it cannot be
     * reached. It rests twice as long as before, unless it has been of use for the longest rest since it was tried.
     */
    void rest(InetSocketAddress address) {
        if (longestRest == null) {
            return;
        }
        long longestNs = longestRest.toNanos();
        Rest before = rests.remove(address);
        long waitNs = before == null || nowNs() - before.endNs() >= longestNs
                ? FIRST_REST.toNanos()
                : Math.min(longestNs, 2 * before.waitNs());
        rests.put(address, new Rest(nowNs() + waitNs, waitNs));
    }

    /** Ends the rest of a next hop if its time is over; returns whether it may be tried. */
    private boolean wakes(InetSocketAddress address) {
        Rest rest = rests.get(address);
        if (rest == null) {
            return true;
        }
        if (nowNs() - rest.endNs() < 0) {
            return false;
        }
        rests.replace(address, new Rest(nowNs(), rest.waitNs()));
        return true;
    }

    private long nowNs() {
        return context.platform().nanoTime();
    }

    @Override
    public @Nullable TcpEgress connect(InetSocketAddress address, boolean isTls) {
        Attempt going = attempt;
        if (going == null && !wakes(address)) {
            return null;
        }
        if (going == null) {
            TlsContext tls = isTls ? context.tls().context() : null;
            if (instance.isOver() || (isTls && tls == null)) {
                return null;
            }
            going = new Attempt(address, tls);
            attempt = going;
        }
        TcpConnection connection = going.advance();
        return connection == null ? null : instance.departureTo(connection);
    }

    @Override
    public boolean isConnecting() {
        return attempt != null;
    }

    @Override
    public boolean waitsForRoom() {
        return true;
    }

    /** Gives up what is being made. */
    void close() {
        Attempt going = attempt;
        attempt = null;
        if (going != null && going.connection != null) {
            going.connection.close();
        }
    }
}
