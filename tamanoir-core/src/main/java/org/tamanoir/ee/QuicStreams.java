package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.QuicPort;

/**
 * The node's QUIC: there when an address listens for it, or the first packet goes to a next hop over it.
 *
 * <p>Thread contract: any thread.
 */
final class QuicStreams {
    private static final Logger LOG = LoggerFactory.getLogger(QuicStreams.class);
    /** Where streams may be silent for as long as they like. */
    private static final Duration LONGEST = Duration.ofDays(1);
    /** A stream is given up by the node before its connection is. */
    private static final Duration LATER = Duration.ofMinutes(1);

    private final NodeContext context;
    private final List<InetSocketAddress> bound = new ArrayList<>();
    private List<InetSocketAddress> wanted = List.of();
    private int connections = QuicPort.Limits.DEFAULT.connections();
    private @Nullable QuicPort port;
    private boolean failed;
    private boolean isClosed;

    QuicStreams(NodeContext context) {
        this.context = context;
    }

    /** As {@link ExecutionEnvironment#quic}. */
    synchronized void configure(List<InetSocketAddress> addresses, int most) {
        wanted = List.copyOf(addresses);
        connections = most;
    }

    /** Listens where it is to. */
    synchronized void start(Acceptor reception) throws IOException {
        if (wanted.isEmpty()) {
            return;
        }
        QuicPort opened = open();
        InetSocketAddress inside = reception.listenInside(opened);
        for (InetSocketAddress address : wanted) {
            InetSocketAddress real = opened.listen(address, inside);
            bound.add(real);
            context.forwarder().ownQuic(real);
        }
    }

    private QuicPort open() throws IOException {
        QuicPort known = port;
        if (known != null) {
            return known;
        }
        StreamLimits limits = context.config().streamLimits();
        int perPeer = limits.perPeer() == StreamLimits.AUTOMATIC ? Math.max(1, connections / 2) : limits.perPeer();
        Duration idle =
                limits.idle().isZero() ? LONGEST : limits.idle().multipliedBy(2).plus(LATER);
        QuicPort opened = new QuicPort(
                context.config().transport(), context.tls().loaded(), new QuicPort.Limits(connections, perPeer, idle));
        port = opened;
        return opened;
    }

    /** Returns what next hops are reached by; null, and once a line in the log, where QUIC cannot be had. */
    synchronized @Nullable QuicPort port() {
        if (failed || isClosed) {
            return null;
        }
        try {
            return open();
        } catch (IOException e) {
            failed = true;
            LOG.warn("no next hop can be reached by QUIC: {}", e.getMessage());
            return null;
        }
    }

    /** As {@link ExecutionEnvironment#renewTls}: what QUIC's library cannot use TLS does not show either. */
    synchronized boolean renewTls(TlsFiles.Loaded loaded) throws IOException {
        Runnable quicToo = port == null ? () -> {} : port.renewal(loaded);
        boolean isOther = context.tls().renew(loaded);
        quicToo.run();
        failed = false; // A key that QUIC could not use may have gone.
        return isOther;
    }

    synchronized List<InetSocketAddress> addresses() {
        return List.copyOf(bound);
    }

    /** Takes no new connections. */
    synchronized void stopListening() {
        if (port != null) {
            port.refuse();
        }
    }

    /** Ends, when streams have ended; returns in bounded time. */
    void close() {
        QuicPort opened;
        synchronized (this) {
            isClosed = true;
            opened = port;
        }
        if (opened != null) {
            opened.close();
        }
    }
}
