package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.offload.Levels;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.platform.Reply;
import org.tamanoir.supervision.CoreThread;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.TcpListener;
import org.tamanoir.transport.UdpPort;

/**
 * The one thread that new traffic meets: accepts TCP connections, each a {@link PendingConnection} until its first ANEP
 * header has named the service that gets the stream; reads the UDP {@link SharedPorts}.
 *
 * <p>Thread contract: its own thread, but for what is said to be any thread's.
 */
final class Acceptor {
    private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
    private static final long SWEEP_NS = Duration.ofMillis(500).toNanos();
    private static final long NEWCOMERS_LOOK_NS = Duration.ofMillis(20).toNanos();
    /** For the thread to come round, when the node ends. */
    private static final long PATIENCE_MS = 10_000;
    /** The same when it begins: on a host whose processors are taken elsewhere, thread and classes need seconds. */
    private static final long LISTEN_PATIENCE_MS = 60_000;

    private static final String LATE =
            "the reception did not come round in " + LISTEN_PATIENCE_MS + " ms; its log says why, start the node again";

    private final NodeContext context;
    private final TcpStreams streams;
    private final UdpServices udp;
    private final IoLoop loop;
    private final Traffic traffic;
    private final CoreThread thread;
    private final List<TcpListener> listeners = new ArrayList<>();
    private final Set<PendingConnection> newcomers = new LinkedHashSet<>();
    /** Those whose service is being fetched, or its instance made. */
    private final Set<PendingConnection> held = new LinkedHashSet<>();

    private final GuardView guard;
    private final SharedPorts ports;
    private boolean owned;
    private long sweptNs;

    Acceptor(NodeContext context, TcpStreams streams, UdpServices udp, Traffic traffic) {
        this.context = context;
        this.streams = streams;
        this.udp = udp;
        this.traffic = traffic;
        this.loop = context.newLoop();
        this.sweptNs = context.platform().nanoTime();
        this.ports = new SharedPorts(context, udp, loop, traffic);
        this.guard = new GuardView(context);
        this.thread = new CoreThread("reception", context.threads(), this::round, this::end);
    }

    /** Starts the acceptor's thread. Any thread. */
    void start() {
        thread.start();
    }

    private void round() {
        if (!owned) {
            owned = true;
            loop.own();
        }
        try {
            loop.run(SWEEP_NS);
            long nowNs = context.platform().nanoTime();
            if (nowNs - sweptNs >= SWEEP_NS) {
                sweptNs = nowNs; // A sweep that fails is tried again as late as one that does not.
                sweep();
            }
        } finally {
            traffic.publish();
        }
    }

    private void end() {
        cutPending();
        ports.release();
        traffic.publish();
        loop.close();
    }

    private void cutPending() {
        List.copyOf(newcomers).forEach(PendingConnection::cut);
        List.copyOf(held).forEach(PendingConnection::cut);
    }

    /** Listens, inside TLS unless its context is null; returns the address with the real port. Any thread. */
    InetSocketAddress listen(InetSocketAddress address, @Nullable TlsContext tls) throws IOException {
        return listen("TCP " + address, () -> loop.listen(address, tls, this::accept))
                .localAddress();
    }

    /** Takes the streams of a gateway; returns its address with the real port. Any thread. */
    InetSocketAddress listen(StreamGateway gateway) throws IOException {
        return listener(gateway).localAddress();
    }

    private TcpListener listener(StreamGateway gateway) throws IOException {
        return listen("TCP " + gateway.address(), () -> loop.listen(gateway, this::accept));
    }

    /** Takes the streams of a gateway until what it returns is closed. Any thread. */
    Levels.Listening open(StreamGateway gateway) throws IOException {
        TcpListener listener = listener(gateway);
        int port = listener.localAddress().getPort();
        return new Levels.Listening() {
            @Override
            public int port() {
                return port;
            }

            @Override
            public void close() {
                loop.execute(() -> {
                    listeners.remove(listener);
                    listener.close();
                });
            }
        };
    }

    /** Takes the streams of QUIC; returns the address inside the process that they come to. Any thread. */
    InetSocketAddress listenInside(QuicPort port) throws IOException {
        return listen("QUIC's streams", () -> loop.listenInside(port, this::accept))
                .localAddress();
    }

    private TcpListener listen(String what, Callable<TcpListener> maker) throws IOException {
        Reply<TcpListener> bound = new Reply<>(context.platform());
        boolean running = loop.execute(() -> bound.make(() -> {
            TcpListener listener = maker.call();
            listeners.add(listener);
            return listener;
        }));
        if (!running) {
            throw new IOException("cannot listen on " + what + ": the node stops");
        }
        TcpListener listener = bound.await(LISTEN_PATIENCE_MS);
        Throwable cause = bound.failure();
        if (cause != null) {
            throw new IOException(String.valueOf(cause.getMessage()), cause);
        }
        if (listener == null) {
            throw new IOException("cannot listen on " + what + ": " + LATE);
        }
        return listener;
    }

    /**
     * Takes connections to other hosts' addresses, too, where they do not come inside TLS. Any thread.
     *
     * @return empty, or in one line why that cannot be
     */
    String acceptInTransit() {
        Reply<String> obstacle = new Reply<>(context.platform());
        boolean running = loop.execute(() -> obstacle.make(() -> {
            for (TcpListener listener : listeners) {
                String why = listener.isTranslating() ? "" : listener.acceptInTransit();
                if (!why.isEmpty()) {
                    return why;
                }
            }
            return "";
        }));
        if (!running) {
            return "the node stops";
        }
        String why = obstacle.await(LISTEN_PATIENCE_MS);
        Throwable cause = obstacle.failure();
        return cause != null ? "by a fault of the node: " + cause : why == null ? LATE : why;
    }

    private void accept(TcpConnection connection) {
        if (!streams.admit(connection.remoteAddress())) {
            connection.reset();
            return;
        }
        PendingConnection newcomer = null;
        try {
            newcomer = new PendingConnection(context, streams, this, traffic, connection);
            newcomers.add(newcomer);
            connection.onChange(newcomer::look);
        } catch (Throwable e) {
            thread.survived(e);
            if (newcomer != null) {
                newcomer.abandon(DropReason.NO_INSTANCE);
                return;
            }
            try {
                connection.reset();
            } finally {
                streams.leave(connection.remoteAddress());
            }
        }
    }

    /** Logs that something of a connection failed by a fault of the node, or for want of memory: the node goes on. */
    void failed(Throwable e) {
        thread.survived(e);
    }

    /** Closes those that have not sent a whole header in time, and ends waits for code, constructors and earlier versions. */
    private void sweep() {
        streams.missing().sweep();
        streams.maker().sweep();
        udp.sweep();
        UpcallPath up = context.levels().path();
        if (up != null) {
            up.refresh();
        }
        long oldest = context.platform().nanoTime()
                - context.config().firstPacketTimeout().toNanos();
        Iterator<PendingConnection> each = newcomers.iterator();
        while (each.hasNext()) {
            PendingConnection newcomer = each.next();
            if (newcomer.isYoungerThan(oldest)) {
                break; // They stand in the order in which they came.
            }
            each.remove();
            newcomer.leave();
        }
    }

    IoLoop loop() {
        return loop;
    }

    /** Returns what judges first packets. */
    GuardView guard() {
        return guard;
    }

    /** Its first header is there, or will never be. */
    void hasSpoken(PendingConnection newcomer) {
        newcomers.remove(newcomer);
    }

    /** Its service is being fetched, or its instance made. */
    void hold(PendingConnection newcomer) {
        held.add(newcomer);
    }

    boolean isHolding(PendingConnection newcomer) {
        return held.contains(newcomer);
    }

    /** Forgets a connection that has ended, or is a stream's. */
    void forget(PendingConnection newcomer) {
        newcomers.remove(newcomer);
        held.remove(newcomer);
    }

    /** Reads a port from now on. Any thread. */
    void adopt(UdpPort port) {
        ports.adopt(port);
    }

    /**
     * Accepts no more, and waits for what was accepted before to become streams, so long at most: another process accepts
     * on the same sockets. UDP is read on. Any thread.
     */
    void leaveListeners(Duration patience) {
        loop.execute(() -> {
            listeners.forEach(TcpListener::close);
            listeners.clear();
        });
        long endNs = context.platform().nanoTime() + patience.toNanos();
        while (!hasNoNewcomers() && context.platform().nanoTime() - endNs < 0) {
            context.platform().park(this, NEWCOMERS_LOOK_NS);
        }
    }

    private boolean hasNoNewcomers() {
        Reply<Boolean> answer = new Reply<>(context.platform());
        boolean running = loop.execute(() -> answer.make(() -> newcomers.isEmpty() && held.isEmpty()));
        return !running || !Boolean.FALSE.equals(answer.await(PATIENCE_MS));
    }

    /** Accepts and reads no more. Any thread; returns, in bounded time, when it is so. */
    void closeListeners() {
        Reply<Boolean> done = new Reply<>(context.platform());
        boolean running = loop.execute(() -> done.make(() -> {
            listeners.forEach(TcpListener::close);
            listeners.clear();
            cutPending();
            ports.close();
            return true;
        }));
        if (running) {
            // A reception that was lost does not do it; its sockets go with the process.
            done.await(PATIENCE_MS);
            Throwable failure = done.failure();
            if (failure != null) {
                LOG.error(
                        "reception: its sockets were not all closed, by a fault of the node: {}",
                        failure.getClass().getName(),
                        failure);
            }
        }
    }

    /** Ends the thread. Any other thread; returns, in bounded time, when it is so. */
    void stop() {
        thread.stop();
        loop.wakeup();
        thread.join(PATIENCE_MS);
    }
}
