package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsSession;

/** An {@link IoLoop} of Netty's, on epoll or the JDK's selectors. */
final class NettyLoop implements IoLoop {
    /** Events that one wait can report; a stream's thread has few sockets. */
    private static final int EVENTS = 16;

    private final Loop loop;
    private final boolean isNative;
    private final BufferPool pool;
    private final ListeningSockets shared;
    /** Netty's own queue takes tasks of other threads after the loop's end, and forgets them. */
    private final Object taking = new Object();

    private boolean closed;

    /**
     * Makes a loop that no thread owns yet, which waits in the kernel.
     *
     * @param kind as {@link UdpSockets#resolve} gave it, not AUTO
     */
    NettyLoop(TransportKind kind, BufferPool pool) {
        this(kind, pool, ListeningSockets.NONE);
    }

    /** @param shared sockets of listeners that come from another process, and may go to one */
    NettyLoop(TransportKind kind, BufferPool pool, ListeningSockets shared) {
        this(
                kind == TransportKind.NATIVE,
                kind == TransportKind.NATIVE ? EpollHandler.newFactory(EVENTS) : NioIoHandler.newFactory(),
                pool,
                shared);
    }

    private NettyLoop(boolean isNative, IoHandlerFactory waits, BufferPool pool, ListeningSockets shared) {
        this.isNative = isNative;
        this.pool = pool;
        this.shared = shared;
        this.loop = new Loop(waits);
    }

    /** Makes one likewise that parks its thread, over native sockets. */
    static NettyLoop parking(BufferPool pool) {
        return new NettyLoop(true, ParkingHandler.newFactory(), pool, ListeningSockets.NONE);
    }

    @Override
    public void own() {
        loop.setOwningThread(Thread.currentThread());
    }

    BufferPool pool() {
        return pool;
    }

    @Override
    public void run(long ns) {
        loop.run(ns);
        if (loop.woken.get()) {
            // Read and written in one step: whoever woke the loop has said before what for.
            loop.woken.getAndSet(false);
        }
    }

    @Override
    public void poll() {
        loop.runNow();
    }

    @Override
    public void wakeup() {
        loop.woken.set(true);
        loop.wakeup();
    }

    /** Netty forgets a wake-up that comes between two runs, and with it what the caller put into a queue before. */
    private static final class Loop extends ManualIoEventLoop {
        final AtomicBoolean woken = new AtomicBoolean();

        Loop(IoHandlerFactory factory) {
            super(null, factory);
        }

        @Override
        protected boolean canBlock() {
            return !woken.get();
        }
    }

    @Override
    public boolean execute(Runnable task) {
        synchronized (taking) {
            if (!closed) {
                loop.execute(task);
            }
            return !closed;
        }
    }

    @Override
    public Future<?> schedule(Duration delay, Runnable task) {
        return loop.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public TcpConnection connect(InetSocketAddress address, Duration timeout, @Nullable TlsContext tls) {
        // Before there is a descriptor to leak.
        TlsSession session = tls == null ? null : tls.client(address);
        StreamGateway gateway = address instanceof GatewayAddress far ? far.gateway() : null;
        StreamCodec codec = gateway == null ? null : gateway.farCodec();
        SocketChannel channel = newSocket(timeout);
        InetSocketAddress from = gateway == null ? null : gateway.from();
        if (gateway != null && from != null) {
            ForeignSource.allow(channel, gateway.mark());
        }
        NettyConnection connection = codec == null
                ? new NettyConnection(channel, pool, address, session)
                : new NettyConnection(channel, pool, address, null, codec);
        if (address instanceof QuicAddress far) {
            connection.connect(register(channel), far, timeout);
        } else {
            connection.connect(register(channel), address, from, timeout);
        }
        return connection;
    }

    @Override
    public TcpConnection connectThrough(InetSocketAddress address, Duration timeout, StreamCodec codec) {
        SocketChannel channel = newSocket(timeout);
        NettyConnection connection = new NettyConnection(channel, pool, address, null, codec);
        Duration half = timeout.dividedBy(2);
        connection.connect(register(channel), address, null, half.compareTo(MAX_ANSWER) < 0 ? half : MAX_ANSWER);
        return connection;
    }

    private SocketChannel newSocket(Duration timeout) {
        try {
            SocketChannel channel = isNative ? new EpollSocketChannel() : new NioSocketChannel();
            channel.config().setConnectTimeoutMillis((int) Math.min(Integer.MAX_VALUE, timeout.toMillis()));
            return channel;
        } catch (ChannelException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new UncheckedIOException("no socket: " + Causes.text(cause), new IOException(cause));
        }
    }

    @Override
    public void adopt(TcpConnection connection) {
        register(((NettyConnection) connection).channel());
    }

    /** Gives a channel to this loop; done on return when the owning thread calls. */
    ChannelFuture register(Channel channel) {
        ChannelPromise promise = new DefaultChannelPromise(channel, loop);
        channel.unsafe().register(loop, promise);
        return promise;
    }

    @Override
    public TcpListener listen(InetSocketAddress address, @Nullable TlsContext tls, Consumer<TcpConnection> accepted)
            throws IOException {
        return NettyListener.bind(this, address, tls, accepted);
    }

    @Override
    public TcpListener listen(StreamGateway gateway, Consumer<TcpConnection> accepted) throws IOException {
        return NettyListener.bind(this, gateway, accepted);
    }

    @Override
    public TcpListener listenInside(QuicPort port, Consumer<TcpConnection> accepted) throws IOException {
        return NettyListener.inside(this, port, accepted);
    }

    @Override
    public UdpReadiness watch(UdpSocket socket, Runnable readable) throws IOException {
        return NettyReadiness.register(loop, socket, readable);
    }

    ListeningSockets shared() {
        return shared;
    }

    Channel newServerChannel() {
        return isNative ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    }

    @Override
    public void close() {
        synchronized (taking) {
            closed = true;
        }
        loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
    }
}
