package org.tamanoir.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.auth.Authentication;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * Listens for packets on TCP, UDP, or one port of both, or QUIC, and hands them to handlers where they lie.
 *
 * <pre>{@code
 * try (AnepReceiver receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 4000))
 *         .tcp().udp().start(() -> (packet, peer) -> System.out.println(packet))) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Threads: one that accepts, one per TCP connection (their number is bounded), one for UDP. Thread contract: all
 * methods from any thread but those.
 */
public final class AnepReceiver implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final int FREE_PORT_ATTEMPTS = 16;
    private static final Duration CLOSE_WAIT = Duration.ofSeconds(5);

    private final Settings settings;
    private final @Nullable TlsContext tls;
    private final Supplier<? extends PacketHandler> handlers;
    private final ReceiverStatistics statistics = new ReceiverStatistics();
    private final InetSocketAddress address;
    private final @Nullable ServerSocketChannel listener;
    private final @Nullable UdpReception udp;
    private final @Nullable QuicPort quic;
    private final List<Thread> threads = new ArrayList<>();
    private final Map<TcpReception, Thread> connections = new HashMap<>();
    private volatile boolean closed;

    private AnepReceiver(
            Settings settings, @Nullable TlsContext tls, Sockets sockets, Supplier<? extends PacketHandler> handlers) {
        this.settings = settings;
        this.tls = tls;
        this.handlers = handlers;
        this.address = sockets.address;
        this.listener = sockets.listener;
        this.quic = sockets.quic;
        UdpSocket socket = sockets.udp;
        this.udp = socket == null ? null : new UdpReception(socket, handler(), statistics, settings.newView());
    }

    private PacketHandler handler() {
        PacketHandler handler = handlers.get();
        Authentication authentication = settings.authentication;
        return authentication == null ? handler : new AuthenticatedPackets(authentication, handler, statistics);
    }

    /** Where and how to listen: end with {@link #start}. */
    public static final class Settings {
        private final InetSocketAddress address;
        private boolean tcp;
        private boolean udp;
        private boolean quic;
        private int maxConnections = 4096;
        private int typeId = Anep.DEFAULT_TYPE_ID;
        private Duration stallTimeout = Duration.ofSeconds(30);
        private TransportKind kind = TransportKind.AUTO;
        private @Nullable TlsFiles tls;
        private @Nullable Authentication authentication;

        private Settings(InetSocketAddress address) {
            this.address = address;
        }

        public Settings tcp() {
            this.tcp = true;
            return this;
        }

        public Settings udp() {
            this.udp = true;
            return this;
        }

        /** Takes streams over QUIC, which needs {@link #tls}, in place of all else; they count as connections. */
        public Settings quic() {
            this.quic = true;
            return this;
        }

        /**
         * Takes TCP inside TLS, with this certificate. A connection that is cut off instead of ended is told to its handler
         * as a fault.
         *
         * @param files null = without
         */
        public Settings tls(@Nullable TlsFiles files) {
            this.tls = files;
            return this;
        }

        /** Bounds the TCP connections at a time, 4096 by default; further ones are closed at once, and counted. */
        public Settings maxConnections(int connections) {
            this.maxConnections = connections;
            return this;
        }

        /** Says under which Type ID private options count. */
        public Settings typeId(int typeId) {
            this.typeId = typeId;
            return this;
        }

        /** Bounds the time that a TCP peer may leave answers untaken; 30 s by default. */
        public Settings stallTimeout(Duration timeout) {
            this.stallTimeout = timeout;
            return this;
        }

        /** Chooses the implementation of UDP sockets. */
        public Settings transportKind(TransportKind kind) {
            this.kind = kind;
            return this;
        }

        /** Keeps packets from handlers that are not signed with one of these keys, or come again. */
        public Settings authenticated(List<AuthKey> keys) {
            authentication = new Authentication(System::nanoTime);
            authentication.change(AuthRules.ALL, List.of(), keys);
            return this;
        }

        private Packet newView() {
            return new Packet(typeId, PacketSpace.HEAP);
        }

        /**
         * Listens.
         *
         * @param handlers makes one for each TCP connection, on the accepting thread, and one for UDP
         * @throws IOException in one line, naming the address, when it cannot be had, or a TLS file when it is no good
         */
        public AnepReceiver start(Supplier<? extends PacketHandler> handlers) throws IOException {
            if (quic == (tcp || udp)) {
                throw new IllegalArgumentException("a receiver needs tcp(), udp() or both, or quic() alone");
            }
            TlsContext context = quic || tls == null
                    ? null
                    : TlsContext.of(tls).requireCertificate("TLS on " + Addresses.text(address));
            Sockets sockets = Sockets.open(this);
            try {
                AnepReceiver receiver = new AnepReceiver(this, context, sockets, handlers);
                receiver.startThreads();
                return receiver;
            } catch (RuntimeException e) {
                sockets.close();
                throw e;
            }
        }
    }

    /** The sockets of a receiver: both on the same port. */
    private record Sockets(
            InetSocketAddress address,
            @Nullable ServerSocketChannel listener,
            @Nullable UdpSocket udp,
            @Nullable QuicPort quic) {
        static Sockets open(Settings settings) throws IOException {
            if (settings.address.isUnresolved()) {
                throw new IOException("unknown host " + settings.address.getHostString() + ": check the name");
            }
            if (settings.quic) {
                return overQuic(settings);
            }
            for (int attempt = 1; ; attempt++) {
                try {
                    return openOnce(settings);
                } catch (IOException e) {
                    // The free port of one transport may be taken on the other: try another one.
                    if (settings.address.getPort() != 0 || attempt == FREE_PORT_ATTEMPTS) {
                        throw new IOException(
                                "cannot listen on " + Addresses.text(settings.address) + ": " + Causes.text(e), e);
                    }
                }
            }
        }

        /** The listener is inside the process, and has no connections but those of the streams. */
        private static Sockets overQuic(Settings settings) throws IOException {
            int most = settings.maxConnections;
            QuicPort quic = new QuicPort(
                    settings.kind,
                    (settings.tls == null ? TlsFiles.NONE : settings.tls).load(),
                    new QuicPort.Limits(most, most, QuicPort.Limits.DEFAULT.idle()));
            ServerSocketChannel listener = ServerSocketChannel.open();
            try {
                listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
                InetSocketAddress inside = (InetSocketAddress) listener.getLocalAddress();
                return new Sockets(quic.listen(settings.address, inside), listener, null, quic);
            } catch (IOException | RuntimeException e) {
                listener.close();
                quic.close();
                throw e;
            }
        }

        void close() throws IOException {
            if (quic != null) {
                quic.close();
            }
            if (listener != null) {
                listener.close();
            }
            if (udp != null) {
                udp.close();
            }
        }

        private static Sockets openOnce(Settings settings) throws IOException {
            InetSocketAddress address = settings.address;
            ServerSocketChannel listener = null;
            try {
                if (settings.tcp) {
                    listener = ServerSocketChannel.open();
                    listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                    listener.bind(address, BACKLOG);
                    // Java tells 0.0.0.0 as [::], which UDP would take for IPv6 alone.
                    int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
                    address = new InetSocketAddress(settings.address.getAddress(), port);
                }
                UdpSocket udp = settings.udp ? UdpSockets.bind(settings.kind, address) : null;
                InetAddress host = settings.address.getAddress();
                int port = udp == null ? address.getPort() : udp.localAddress().getPort();
                return new Sockets(new InetSocketAddress(host, port), listener, udp, null);
            } catch (IOException | UnsupportedAddressTypeException e) {
                if (listener != null) {
                    listener.close();
                }
                throw e instanceof IOException failure
                        ? failure
                        : new IOException("this host has no IPv6: listen on an IPv4 address", e);
            }
        }
    }

    /** Begins the settings of a receiver at {@code address}; port 0 picks a free one. */
    public static Settings on(InetSocketAddress address) {
        return new Settings(address);
    }

    private void startThreads() {
        ServerSocketChannel tcp = listener;
        if (tcp != null) {
            threads.add(new Thread(() -> accept(tcp), "anep-receive accept " + Addresses.text(address)));
        }
        if (udp != null) {
            threads.add(new Thread(udp, "anep-receive udp " + Addresses.text(address)));
        }
        threads.forEach(Thread::start);
    }

    private void accept(ServerSocketChannel tcp) {
        while (!closed) {
            try {
                SocketChannel channel = tcp.accept();
                if (!admit(channel)) {
                    statistics.countRefusedConnection();
                    channel.close();
                }
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) {
                // One connection failed before it was ours (reset, no descriptor left): the others go on.
                statistics.countRefusedConnection();
                java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private boolean admit(SocketChannel channel) throws IOException {
        QuicPort.Origin origin = quic == null ? null : quic.origin((InetSocketAddress) channel.getRemoteAddress());
        synchronized (connections) {
            if ((quic != null && origin == null) || closed || connections.size() >= settings.maxConnections) {
                return false;
            }
            BlockingConnection connection = new BlockingConnection(
                    channel,
                    settings.stallTimeout,
                    tls == null ? null : tls.server(),
                    null,
                    origin == null ? null : origin.peer());
            try {
                startReception(connection);
            } catch (RuntimeException | OutOfMemoryError e) {
                // No handler or no thread for this one; the connections that are there go on.
                connection.close();
                return false;
            }
            statistics.countConnection();
            return true;
        }
    }

    private void startReception(BlockingConnection connection) {
        TcpReception reception = new TcpReception(connection, handler(), statistics, settings.newView());
        Thread thread = new Thread(() -> receive(reception), "anep-receive tcp " + Addresses.text(connection.peer()));
        // The thread removes itself, which waits for the lock that the caller holds: first start, then put.
        thread.start();
        connections.put(reception, thread);
    }

    private void receive(TcpReception reception) {
        try {
            reception.run();
        } finally {
            synchronized (connections) {
                connections.remove(reception);
            }
        }
    }

    /** Returns where the receiver listens, with the real port. */
    public InetSocketAddress address() {
        return address;
    }

    /** Returns the counters of what has come in. */
    public ReceiverStatistics statistics() {
        return statistics;
    }

    /** Returns the number of TCP connections that are open now. */
    public int openConnections() {
        synchronized (connections) {
            return connections.size();
        }
    }

    /** Stops listening, closes all connections, and waits, bounded, for the threads to end. */
    @Override
    public void close() {
        closed = true;
        List<Thread> ending = new ArrayList<>(threads);
        try {
            if (listener != null) {
                listener.close();
            }
        } catch (IOException e) {
            // The descriptor is given back even then.
        }
        if (udp != null) {
            udp.close();
        }
        synchronized (connections) {
            ending.addAll(connections.values());
            connections.keySet().forEach(TcpReception::close);
        }
        join(ending);
        if (quic != null) {
            quic.close();
        }
    }

    private static void join(List<Thread> ending) {
        long deadlineNs = System.nanoTime() + CLOSE_WAIT.toNanos();
        try {
            for (Thread thread : ending) {
                if (thread != Thread.currentThread()) {
                    thread.join(Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
