package org.tamanoir.transport;

import io.netty.channel.Channel;
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
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsContext;

/**
 * The sockets, tasks and timers of one thread, which drives them itself: {@link #run} waits for something to
 * happen and returns when the connections' state has changed. Nothing of the user's runs inside {@code run} but
 * tasks and listeners.
 *
 * <p>Thread contract: the owning thread; {@link #execute} and {@link #wakeup} any thread.
 */
public final class IoLoop implements AutoCloseable {
    /** Events that one wait can report; a stream's thread has few sockets. */
    private static final int EVENTS = 64;

    private final Loop loop;
    private final boolean isNative;
    private final BufferPool pool;
    /** Netty's own queue takes tasks of other threads after the loop's end, and forgets them. */
    private final Object taking = new Object();

    private boolean closed;

    /**
     * A loop that no thread owns yet.
     *
     * @param kind as {@link UdpSockets#resolve} gave it, not AUTO
     */
    public IoLoop(TransportKind kind, BufferPool pool) {
        this.isNative = kind == TransportKind.NATIVE;
        this.pool = pool;
        IoHandlerFactory factory = isNative ? EpollHandler.newFactory(EVENTS) : NioIoHandler.newFactory();
        this.loop = new Loop(factory);
    }

    /** Makes the calling thread the owner, once. */
    public void own() {
        loop.setOwningThread(Thread.currentThread());
    }

    BufferPool pool() {
        return pool;
    }

    /** Waits until a connection, a task, a timer or a {@link #wakeup} needs the thread, and serves it. */
    public void run() {
        loop.run(0);
        if (loop.woken.get()) {
            // Read and written in one step: whoever woke the loop has said before what for.
            loop.woken.getAndSet(false);
        }
    }

    /** Serves what is ready, without waiting. */
    public void poll() {
        loop.runNow();
    }

    /** Makes a waiting {@link #run}, or else the next one, return. */
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

    /**
     * Runs {@code task} on the owning thread.
     *
     * @return false when the loop is closed; the task will not run
     */
    public boolean execute(Runnable task) {
        synchronized (taking) {
            if (!closed) {
                loop.execute(task);
            }
            return !closed;
        }
    }

    /** Runs {@code task} on the owning thread after {@code delay}, unless it is cancelled before. */
    public Future<?> schedule(Duration delay, Runnable task) {
        return loop.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Begins to connect; {@link TcpConnection#isConnected} or {@link TcpConnection#failure} tells the outcome. */
    public TcpConnection connect(InetSocketAddress address, Duration timeout) {
        return connect(address, timeout, null);
    }

    /**
     * The same, inside TLS.
     *
     * @param timeout for the connection, and again for the handshake
     * @param tls null = without
     */
    public TcpConnection connect(InetSocketAddress address, Duration timeout, @Nullable TlsContext tls) {
        SocketChannel channel = isNative ? new EpollSocketChannel() : new NioSocketChannel();
        channel.config().setConnectTimeoutMillis((int) Math.min(Integer.MAX_VALUE, timeout.toMillis()));
        TcpConnection connection = new TcpConnection(channel, pool, address, tls == null ? null : tls.client(address));
        connection.connect(register(channel), address, timeout);
        return connection;
    }

    /** Takes over a connection that its former loop {@linkplain TcpConnection#leave left}. */
    public void adopt(TcpConnection connection) {
        register(connection.channel());
    }

    /** Gives a channel to this loop; done on return when the owning thread calls. */
    ChannelFuture register(Channel channel) {
        ChannelPromise promise = new DefaultChannelPromise(channel, loop);
        channel.unsafe().register(loop, promise);
        return promise;
    }

    /** Runs {@code readable} inside {@link #run} while datagrams wait in {@code socket}. */
    public UdpReadiness watch(UdpSocket socket, Runnable readable) throws IOException {
        return UdpReadiness.register(loop, socket, readable);
    }

    Channel newServerChannel() {
        return isNative ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    }

    /** Runs the tasks that were taken, and frees the loop's own descriptors. Connections must be closed before. */
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
