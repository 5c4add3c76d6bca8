package org.tamanoir.transport;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicChannelOption;
import io.netty.handler.codec.quic.QuicClientCodecBuilder;
import io.netty.handler.codec.quic.QuicClosedChannelException;
import io.netty.handler.codec.quic.QuicCodecBuilder;
import io.netty.handler.codec.quic.QuicConnectionCloseEvent;
import io.netty.handler.codec.quic.QuicServerCodecBuilder;
import io.netty.handler.codec.quic.QuicStreamChannel;
import io.netty.handler.codec.quic.QuicStreamLimitChangedEvent;
import io.netty.handler.codec.quic.QuicStreamType;
import io.netty.util.AttributeKey;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.tls.TlsSession;

/**
 * Streams over QUIC (RFC 9000), both ways. One thread reads all datagrams. A connection carries one stream at a time, a
 * bidirectional one whose bytes are a stream of ANEP packets, and who has the stream at this end has an ordinary socket
 * of this process: {@link QuicRelay} carries bytes between the two, so that what waits is bounded by the stream's window
 * and the kernel's buffers, and the far side waits for this one.
 *
 * <p>Streams that come in are connected to an address inside the process, where {@link #origin} tells who is behind each;
 * connections to a {@link QuicAddress} go out.
 *
 * <p>A connection that has done its work is closed by who began it, when the other side lets it begin a next stream: that
 * one has then read all, and knows that all of its own was read. So no byte is lost by closing early.
 *
 * <p>Thread contract: any thread; {@link #listen}, {@link #close} and who waits for {@link #open} not its own.
 */
public final class QuicPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QuicPort.class);
    /** By ALPN (RFC 7301); the name is this project's own. */
    private static final String PROTOCOL = "anep";
    /** What a stream may send before it is read; the library lets it grow to 16 MiB where it is read fast. */
    private static final long STREAM_WINDOW_BYTES = 1 << 20;
    /**
     * None: with one stream a connection its window bounds the same, and quiche counts what is lost twice against this
     * one (its issue 2696), so that sound connections would break.
     */
    private static final long CONNECTION_WINDOW_BYTES = 1L << 60;

    private static final int DATAGRAM_BYTES = 1350;
    /** Before the first stream, or for a connection inside to come. */
    private static final Duration WITHOUT_STREAM = Duration.ofSeconds(10);
    /** For streams that have ended to be read by their far sides, when this is closed. */
    private static final Duration LINGER = Duration.ofSeconds(3);
    /** Between two looks whether the far side of a stream that has ended is still heard. */
    private static final Duration LOOK = Duration.ofSeconds(10);

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final long REFUSALS_NS = Duration.ofSeconds(10).toNanos();
    private static final AttributeKey<InetSocketAddress> TARGET = AttributeKey.valueOf(QuicPort.class, "target");

    private final Limits limits;
    /** What connections begin with from now on. */
    private volatile QuicTls tls;

    private final QuicLibrary library;
    private final EventLoopGroup group;
    private final EventLoop loop;
    private final QuicPlaces places;
    private final Duration linger;
    private final Duration look;
    /** By address and port: another program of this host may have the port at another loopback address. */
    private final Map<InetSocketAddress, Origin> origins = new ConcurrentHashMap<>();

    // The loop's own.
    private final Map<InetSocketAddress, QuicStreamChannel> awaited = new HashMap<>();
    private final Set<QuicChannel> connections = new HashSet<>();
    private final Map<Boolean, Channel> clients = new HashMap<>();
    private final Set<Channel> servers = new HashSet<>();
    private @Nullable ServerSocketChannel door;
    private @Nullable CompletableFuture<Void> empty;
    private long refused;
    private long toldNs;
    private volatile boolean refusing;

    /**
     * What others may take.
     *
     * @param connections that come in, at once
     * @param perPeer of them, from one address
     * @param idle after which a silent connection ends
     */
    public record Limits(int connections, int perPeer, Duration idle) {
        /** Half of 256 for one address, and a day of silence. */
        public static final Limits DEFAULT = new Limits(256, 128, Duration.ofDays(1));
    }

    /**
     * Says who is behind a connection inside the process.
     *
     * @param peer the far end
     * @param local where this process listens for it
     * @param stop has the far end send no more; any thread
     */
    public record Origin(InetSocketAddress peer, InetSocketAddress local, Runnable stop) {}

    /**
     * Starts the thread; nothing is listened on.
     *
     * @param loaded what both servers and clients show and believe
     * @throws IOException in one line, if QUIC cannot be had here, or its library cannot use what was read
     */
    public QuicPort(TransportKind kind, TlsFiles.Loaded loaded, Limits limits) throws IOException {
        this(kind, loaded, limits, LINGER, LOOK);
    }

    /**
     * Starts the thread, for a port that waits another time when it is closed, or looks at another pace after its far sides.
     *
     * @throws IOException as the public constructor
     */
    QuicPort(TransportKind kind, TlsFiles.Loaded loaded, Limits limits, Duration linger, Duration look)
            throws IOException {
        String obstacle = QuicLibrary.whyNot();
        if (!obstacle.isEmpty()) {
            throw new IOException(obstacle);
        }
        this.limits = limits;
        this.tls = QuicTls.of(loaded, PROTOCOL);
        this.linger = linger;
        this.look = look;
        this.places = new QuicPlaces(limits.connections(), limits.perPeer());
        this.library = QuicLibrary.of(kind);
        this.group = new MultiThreadIoEventLoopGroup(1, (ThreadFactory) QuicPort::daemon, library.waits());
        this.loop = group.next();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "quic");
        thread.setDaemon(true);
        return thread;
    }

    /** Returns in one line why QUIC cannot be had here; empty when it can. */
    public static String whyNot() {
        return QuicLibrary.whyNot();
    }

    /** Returns the address to connect to for streams to a next hop. */
    public QuicAddress to(InetAddress address, int number) {
        return new QuicAddress(address, number, this);
    }

    /** Returns who is behind a connection inside the process, once; null for a stranger. */
    public @Nullable Origin origin(InetSocketAddress inside) {
        return origins.remove(inside);
    }

    /**
     * Returns what has connections from now on, both ways, begin with what was read of the files of TLS.
     *
     * @throws IOException in one line, if QUIC's library cannot use it
     */
    public Runnable renewal(TlsFiles.Loaded loaded) throws IOException {
        QuicTls renewed = QuicTls.of(loaded, PROTOCOL);
        return () -> tls = renewed;
    }

    /**
     * Takes streams in from now on.
     *
     * @param inside where each is connected to
     * @return the address with its real port
     * @throws IOException in one line, if it cannot be had, or there is no certificate
     */
    public InetSocketAddress listen(InetSocketAddress address, InetSocketAddress inside) throws IOException {
        String name = Addresses.text(address);
        if (tls.accepting() == null) {
            throw new IOException(
                    "QUIC on " + name + ": a server must show a certificate; name files of a certificate and its key");
        }
        CompletableFuture<InetSocketAddress> bound = new CompletableFuture<>();
        loop.execute(() -> {
            QuicTokens tokens = new QuicTokens(System::nanoTime, this::isWelcome);
            QuicServerCodecBuilder codec = configured(new QuicServerCodecBuilder())
                    .sslEngineProvider(connection ->
                            Objects.requireNonNull(tls.accepting()).newEngine(connection.alloc()))
                    .initialMaxStreamsBidirectional(1)
                    .tokenHandler(tokens)
                    .option(QuicChannelOption.SEGMENTED_DATAGRAM_PACKET_ALLOCATOR, library.segments())
                    .option(ChannelOption.ALLOCATOR, library.memory())
                    .streamOption(ChannelOption.ALLOCATOR, library.memory())
                    .streamOption(ChannelOption.AUTO_READ, false)
                    .streamOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .handler(each(Incoming::new))
                    .streamHandler(new ChannelInitializer<QuicStreamChannel>() {
                        @Override
                        protected void initChannel(QuicStreamChannel stream) {
                            bringIn(stream, inside, (InetSocketAddress)
                                    stream.parent().parent().localAddress());
                        }
                    });
            Channel socket = library.newDatagrams(loop, new QuicShortInitials(), codec.build());
            socket.bind(address).addListener(done -> {
                if (done.isSuccess()) {
                    servers.add(socket);
                    bound.complete((InetSocketAddress) socket.localAddress());
                } else {
                    socket.close();
                    bound.completeExceptionally(new IOException(
                            BindFailure.line("cannot listen on QUIC (UDP)", address, Causes.text(done.cause()))));
                }
            });
        });
        return await(bound, PATIENCE);
    }

    private <B extends QuicCodecBuilder<B>> B configured(B codec) {
        return codec.maxIdleTimeout(limits.idle().toMillis(), TimeUnit.MILLISECONDS)
                .maxSendUdpPayloadSize(DATAGRAM_BYTES)
                .initialMaxData(CONNECTION_WINDOW_BYTES)
                .initialMaxStreamDataBidirectionalLocal(STREAM_WINDOW_BYTES)
                .initialMaxStreamDataBidirectionalRemote(STREAM_WINDOW_BYTES)
                .activeMigration(false);
    }

    /** Makes a handler for each connection. */
    private static ChannelHandler each(Supplier<ChannelHandler> handlers) {
        return new ChannelInitializer<QuicChannel>() {
            @Override
            protected void initChannel(QuicChannel connection) {
                connection.pipeline().addLast(handlers.get());
            }
        };
    }

    /** Waits for what the loop does. */
    static <T> T await(CompletableFuture<T> future, Duration patience) throws IOException {
        try {
            return future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException known ? known : new IOException(String.valueOf(e.getCause()), e);
        } catch (TimeoutException e) {
            throw new IOException("QUIC's thread did not come round in " + patience.toMillis() + " ms", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for QUIC", e);
        }
    }

    /** Takes no new connections from now on; those that are there go on. */
    public void refuse() {
        refusing = true;
    }

    private boolean isWelcome(InetSocketAddress peer) {
        boolean isWelcome = !refusing && places.hasRoom(peer.getAddress());
        if (!isWelcome) {
            tellRefused(peer);
        }
        return isWelcome;
    }

    /** Logs a line for all of a while: whoever has a token can be refused with every datagram. */
    private void tellRefused(InetSocketAddress peer) {
        refused++;
        long nowNs = System.nanoTime();
        if (refused > 1 && nowNs - toldNs < REFUSALS_NS) {
            return;
        }
        toldNs = nowNs;
        LOG.info(
                "QUIC {}: refused: {} connections of {}, of one address {} (limits.quic-connections); {} refused so far",
                Addresses.text(peer),
                places.taken(),
                limits.connections(),
                limits.perPeer(),
                refused);
    }

    /** Connects a stream that came to its reader inside the process. */
    private void bringIn(QuicStreamChannel stream, InetSocketAddress reader, InetSocketAddress local) {
        Incoming connection = stream.parent().pipeline().get(Incoming.class);
        if (connection != null) {
            connection.began(stream);
        }
        SocketChannel inside = library.newInside();
        loop.register(inside);
        inside.bind(QuicLibrary.anyInside()).addListener(bound -> {
            if (!bound.isSuccess()) {
                inside.close();
                QuicRelay.reset(stream);
                return;
            }
            InetSocketAddress own = inside.localAddress();
            InetSocketAddress peer = (InetSocketAddress) stream.parent().remoteSocketAddress();
            origins.put(own, new Origin(peer, local, () -> stop(stream)));
            inside.closeFuture().addListener(closed -> origins.remove(own));
            inside.connect(reader).addListener(connected -> {
                if (connected.isSuccess()) {
                    QuicRelay.join(stream, inside, inOrder -> {});
                } else {
                    inside.close();
                    QuicRelay.reset(stream);
                }
            });
        });
    }

    private void stop(QuicStreamChannel stream) {
        try {
            loop.execute(() -> QuicRelay.stop(stream));
        } catch (RejectedExecutionException e) {
            LOG.debug("QUIC: closed before a sender was stopped");
        }
    }

    /**
     * Begins a stream as {@link QuicAddress#open} does, and waits for it.
     *
     * @throws IOException in one line, if there is none in time
     */
    public InetSocketAddress connect(QuicAddress to, InetSocketAddress inside, Duration timeout) throws IOException {
        return await(open(to, inside, timeout), timeout.plus(PATIENCE));
    }

    /** As {@link QuicAddress#open}. */
    CompletableFuture<InetSocketAddress> open(QuicAddress to, InetSocketAddress inside, Duration timeout) {
        CompletableFuture<InetSocketAddress> opened = new CompletableFuture<>();
        try {
            loop.execute(() -> {
                try {
                    connect(to, inside, timeout, opened);
                } catch (IOException | RuntimeException e) {
                    opened.completeExceptionally(e instanceof IOException ? e : new IOException(e.toString(), e));
                }
            });
        } catch (RejectedExecutionException e) {
            opened.completeExceptionally(new IOException("QUIC: the node stops", e));
        }
        return opened;
    }

    private void connect(
            QuicAddress to, InetSocketAddress inside, Duration timeout, CompletableFuture<InetSocketAddress> opened)
            throws IOException {
        Outgoing outgoing = new Outgoing(opened);
        Channel socket = clientSocket(to.getAddress() instanceof Inet6Address);
        InetSocketAddress listening = door().localAddress();
        io.netty.util.concurrent.Future<QuicChannel> connecting = QuicChannel.newBootstrap(socket)
                .attr(TARGET, to)
                .option(QuicChannelOption.SEGMENTED_DATAGRAM_PACKET_ALLOCATOR, library.segments())
                .option(ChannelOption.ALLOCATOR, library.memory())
                .handler(outgoing)
                .streamHandler(new ChannelInboundHandlerAdapter())
                .remoteAddress(new InetSocketAddress(to.getAddress(), to.getPort()))
                .connect();
        loop.schedule(
                () -> outgoing.fail(
                        new IOException("no QUIC answer within " + timeout.toMillis() + " ms; does it listen there?")),
                timeout.toNanos(),
                TimeUnit.NANOSECONDS);
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                outgoing.fail(done.cause());
                return;
            }
            QuicChannel connection = connecting.getNow();
            connection
                    .newStreamBootstrap()
                    .type(QuicStreamType.BIDIRECTIONAL)
                    .option(ChannelOption.ALLOCATOR, library.memory())
                    .option(ChannelOption.AUTO_READ, false)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .handler(new ChannelInboundHandlerAdapter())
                    .create()
                    .addListener(made -> {
                        if (made.isSuccess() && !opened.isDone()) {
                            expect(inside, (QuicStreamChannel) made.getNow());
                            opened.complete(listening);
                        } else if (!made.isSuccess()) {
                            outgoing.fail(made.cause());
                        }
                    });
        });
    }

    /** Keeps a stream for the connection inside that comes from there. */
    private void expect(InetSocketAddress inside, QuicStreamChannel stream) {
        awaited.put(inside, stream);
        loop.schedule(
                () -> {
                    if (awaited.remove(inside, stream)) {
                        closeCut(stream.parent());
                    }
                },
                WITHOUT_STREAM.toNanos(),
                TimeUnit.NANOSECONDS);
    }

    private Channel clientSocket(boolean isIpv6) throws IOException {
        Channel known = clients.get(isIpv6);
        if (known != null) {
            return known;
        }
        QuicClientCodecBuilder codec = configured(new QuicClientCodecBuilder()).sslEngineProvider(connection -> {
            InetSocketAddress target = connection.attr(TARGET).get();
            return tls.connecting().newEngine(connection.alloc(), target.getHostString(), target.getPort());
        });
        Channel socket = library.newDatagrams(loop, codec.build());
        // On its own loop it is done when it returns.
        Throwable cause =
                socket.bind(new InetSocketAddress(isIpv6 ? "::" : "0.0.0.0", 0)).cause();
        if (cause != null) {
            socket.close();
            throw new IOException("no socket for QUIC: " + Causes.text(cause), cause);
        }
        clients.put(isIpv6, socket);
        return socket;
    }

    /** Returns where connections inside the process come to; others than those that are expected are reset. */
    private ServerSocketChannel door() throws IOException {
        ServerSocketChannel known = door;
        if (known != null) {
            return known;
        }
        ServerSocketChannel made = library.newInsideListener();
        made.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                SocketChannel inside = (SocketChannel) message;
                library.forRelay(inside);
                loop.register(inside);
                QuicStreamChannel stream = awaited.remove(inside.remoteAddress());
                if (stream == null) {
                    QuicRelay.reset(inside);
                } else {
                    QuicRelay.join(stream, inside, inOrder -> ended(stream.parent(), inOrder));
                }
            }
        });
        loop.register(made);
        Throwable cause = made.bind(QuicLibrary.anyInside()).cause();
        if (cause != null) {
            made.close();
            throw new IOException("no socket inside the process for QUIC: " + Causes.text(cause), cause);
        }
        door = made;
        return made;
    }

    /** The stream of a connection that this side began is over. */
    private static void ended(QuicChannel connection, boolean inOrder) {
        Outgoing outgoing = connection.pipeline().get(Outgoing.class);
        if (inOrder && outgoing != null) {
            outgoing.hasEnded(connection);
        } else {
            closeCut(connection);
        }
    }

    private static void closeCut(QuicChannel connection) {
        close(connection, QuicRelay.CUT, "cut");
    }

    private static void close(QuicChannel connection, int code, String why) {
        connection.close(true, code, Unpooled.copiedBuffer(why, StandardCharsets.US_ASCII));
    }

    private void remember(QuicChannel connection) {
        connections.add(connection);
        connection.closeFuture().addListener(closed -> {
            connections.remove(connection);
            CompletableFuture<Void> waiting = empty;
            if (waiting != null && connections.isEmpty()) {
                waiting.complete(null);
            }
        });
    }

    /** A connection that came in. */
    private final class Incoming extends ChannelInboundHandlerAdapter {
        private int streams;
        /** Streams that have begun. */
        private int begun;

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            QuicChannel connection = (QuicChannel) context.channel();
            remember(connection);
            InetAddress peer = ((InetSocketAddress) connection.remoteSocketAddress()).getAddress();
            // The token said that there was room, which others may have taken since.
            if (!places.take(peer)) {
                connection.close();
                return;
            }
            connection.closeFuture().addListener(closed -> places.give(peer));
            loop.schedule(
                    () -> {
                        if (begun == 0) {
                            end(connection);
                        }
                    },
                    WITHOUT_STREAM.toNanos(),
                    TimeUnit.NANOSECONDS);
        }

        void began(QuicStreamChannel stream) {
            streams++;
            begun++;
            stream.closeFuture().addListener(closed -> {
                streams--;
                QuicChannel connection = stream.parent();
                int before = begun;
                new QuicFarewell(connection, loop, look, () -> streams == 0 && begun == before, () -> end(connection))
                        .look();
            });
        }

        private void end(QuicChannel connection) {
            close(connection, 0, "no stream");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            LOG.info(
                    "QUIC {}: {}",
                    Addresses.text((InetSocketAddress) ((QuicChannel) context.channel()).remoteSocketAddress()),
                    explain(cause));
        }
    }

    /** A connection that this side began. */
    private final class Outgoing extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<InetSocketAddress> opened;
        private @Nullable QuicChannel connection;
        private boolean hasEnded;

        Outgoing(CompletableFuture<InetSocketAddress> opened) {
            this.opened = opened;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            QuicChannel made = (QuicChannel) context.channel();
            connection = made;
            remember(made);
        }

        void fail(Throwable cause) {
            String why = explain(cause);
            boolean isTls = cause instanceof SSLException || isTlsError(cause);
            if (opened.completeExceptionally(
                            isTls ? new SSLException("QUIC handshake: " + why, cause) : new IOException(why, cause))
                    && connection != null) {
                connection.close();
            }
        }

        /** The stream has ended in order: closes when the other side knows too. */
        void hasEnded(QuicChannel made) {
            hasEnded = true;
            closeIfConfirmed(made);
            new QuicFarewell(made, loop, look, () -> true, () -> QuicPort.close(made, 0, "")).look();
        }

        private void closeIfConfirmed(QuicChannel made) {
            if (hasEnded && made.peerAllowedStreams(QuicStreamType.BIDIRECTIONAL) > 0) {
                QuicPort.close(made, 0, "");
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof QuicStreamLimitChangedEvent) {
                closeIfConfirmed((QuicChannel) context.channel());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fail(cause);
        }
    }

    private static boolean isTlsError(Throwable cause) {
        return cause instanceof QuicClosedChannelException closed
                && closed.event() != null
                && closed.event().isTlsError();
    }

    private static String explain(Throwable cause) {
        if (cause instanceof QuicClosedChannelException closed && closed.event() != null) {
            QuicConnectionCloseEvent event = closed.event();
            return "the other side closed: "
                    + (event.isTlsError()
                            ? "TLS alert " + QuicConnectionCloseEvent.extractTlsError(event.error())
                            : "error " + event.error());
        }
        return cause instanceof SSLException tls ? TlsSession.explain(tls) : String.valueOf(cause.getMessage());
    }

    /**
     * Takes no more streams, waits, bounded, for those that have ended to be read by their far sides, and cuts the rest.
     * Who has streams closes them before.
     */
    @Override
    public void close() {
        refuse();
        CompletableFuture<Void> gone = new CompletableFuture<>();
        try {
            loop.execute(() -> {
                empty = gone;
                if (connections.isEmpty()) {
                    gone.complete(null);
                }
            });
            await(gone, linger);
        } catch (IOException | RejectedExecutionException e) {
            LOG.debug("QUIC: streams are cut: {}", e.getMessage());
        }
        try {
            loop.submit(this::closeAll).awaitUninterruptibly(PATIENCE.toMillis());
        } catch (RejectedExecutionException e) {
            LOG.debug("QUIC: closed before");
        }
        group.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS).awaitUninterruptibly(PATIENCE.toMillis());
    }

    /** What the loop does last. */
    private void closeAll() {
        List.copyOf(connections).forEach(QuicPort::closeCut);
        servers.forEach(Channel::close);
        clients.values().forEach(Channel::close);
        if (door != null) {
            door.close();
        }
    }
}
