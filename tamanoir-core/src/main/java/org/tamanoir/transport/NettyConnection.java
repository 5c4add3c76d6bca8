package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.NotYetConnectedException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsSession;

/** A {@link TcpConnection} of Netty's. */
final class NettyConnection implements TcpConnection {
    private static final String CUT = "TLS: it was cut off, not ended";
    private static final String CLOSED = "TLS handshake: the other side closed the connection; does it speak TLS?";
    private final SocketChannel channel;
    private final InetSocketAddress remoteAddress;
    /** Where its QUIC stream came to; null without QUIC. */
    private final @Nullable InetSocketAddress quicAddress;

    private final Instant since = Instant.now();
    private final @Nullable TlsFilter tls;

    private final InputBuffer in;
    private final ReadControl reads;
    private @Nullable Object owner;
    private boolean connected;
    private boolean inputEnded;
    private boolean outputShut;
    private boolean refused;
    private boolean starved;
    private @Nullable ChannelFuture ending;
    private @Nullable String failure;
    private Runnable listener = () -> {};
    /** The connection broke before the far side had ended its side. */
    private boolean inputCut;
    /** The socket's input has ended; with TLS what came before may not be decrypted yet. */
    private boolean socketEnded;
    /** Decrypting goes on in a step of its own, which waits for the loop. */
    private boolean resuming;

    NettyConnection(
            SocketChannel channel, BufferPool pool, InetSocketAddress remoteAddress, @Nullable TlsSession session) {
        this(channel, pool, remoteAddress, null, session);
    }

    /** One inside the process, behind which a stream over QUIC comes. */
    NettyConnection(SocketChannel channel, BufferPool pool, QuicPort.Origin origin) {
        this(channel, pool, origin.peer(), origin.local(), null);
    }

    private NettyConnection(
            SocketChannel channel,
            BufferPool pool,
            InetSocketAddress remoteAddress,
            @Nullable InetSocketAddress quicAddress,
            @Nullable TlsSession session) {
        this.channel = channel;
        this.quicAddress = quicAddress;
        this.in = new InputBuffer(pool);
        this.remoteAddress = remoteAddress;
        this.tls = session == null ? null : new TlsFilter(session, channel, pool);
        this.reads = new ReadControl(channel.config(), in, tls);
        channel.config() // Netty has set TCP_NODELAY.
                .setKeepAlive(true)
                .setAllowHalfClosure(true)
                // "Unwritable" then means: something waits; "writable": everything has left.
                .setWriteBufferWaterMark(new WriteBufferWaterMark(1, 1))
                .setRecvByteBufAllocator(() -> reads);
        channel.pipeline().addLast(new Receiver());
        connected = channel.isActive() && tls == null;
    }

    /** @param handshakeTimeout from the connection to the end of its handshake */
    void connect(ChannelFuture registered, InetSocketAddress address, Duration handshakeTimeout) {
        registered.addListener(r -> channel.connect(address).addListener(f -> {
            if (!f.isSuccess()) {
                fail(f.cause().getMessage());
            } else if (tls == null) {
                connected = true;
            } else {
                beginHandshake(handshakeTimeout);
            }
            listener.run();
        }));
    }

    /** Connects inside the process when the stream over QUIC is there. */
    void connect(ChannelFuture registered, QuicAddress address, Duration timeout) {
        registered.addListener(r -> channel.bind(QuicLibrary.anyInside()).addListener(bound -> {
            if (bound.isSuccess()) {
                address.open(channel.localAddress(), timeout)
                        .whenComplete((inside, failed) -> channel.eventLoop().execute(() -> {
                            if (inside != null) {
                                connect(registered, inside, timeout);
                            } else {
                                refused = failed instanceof SSLException;
                                fail(failed.getMessage());
                                listener.run();
                            }
                        }));
            } else {
                fail(bound.cause().getMessage());
                listener.run();
            }
        }));
    }

    private void beginHandshake(Duration timeout) {
        Future<?> alarm = channel.eventLoop()
                .schedule(
                        () -> {
                            if (!connected) {
                                refuse("no end of the TLS handshake within " + timeout.toMillis() + " ms");
                                listener.run();
                            }
                        },
                        timeout.toNanos(),
                        TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> alarm.cancel(false));
        decryptInStep();
    }

    Channel channel() {
        return channel;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public Instant since() {
        return since;
    }

    @Override
    public InetSocketAddress localAddress() {
        return quicAddress != null ? quicAddress : channel.localAddress();
    }

    @Override
    public void ownedBy(Object owner) {
        this.owner = owner;
        in.ownedBy(owner);
    }

    @Override
    public void onChange(Runnable listener) {
        this.listener = listener;
    }

    @Override
    public boolean isConnected() {
        return connected;
    }

    @Override
    public boolean inputEnded() {
        return inputEnded;
    }

    @Override
    public boolean isInputCut() {
        return starved
                || inputCut
                || (tls != null && inputEnded && !tls.session().inputEnded());
    }

    @Override
    public boolean isStarved() {
        return starved;
    }

    @Override
    public boolean isRefused() {
        return refused;
    }

    @Override
    public @Nullable String failure() {
        return failure;
    }

    @Override
    public @Nullable Buffer input() {
        return in.buffer;
    }

    @Override
    public int start() {
        return in.start;
    }

    @Override
    public int end() {
        return in.end;
    }

    @Override
    public void consumed(int index) {
        in.start = index;
    }

    @Override
    public void wantInput(boolean wanted) {
        // To read on behind the end costs two calls for the epoll set; with TLS some may wait to be decrypted.
        reads.want(wanted && (tls != null || !inputEnded));
        if (wanted && reads.stalled) {
            decryptSoon();
        }
    }

    @Override
    public void trim() {
        in.shrink();
        reads.reviewRoom();
        if (reads.stalled && reads.isWanted() && TlsFilter.isRoom(in)) {
            decryptSoon();
        }
    }

    @Override
    public void write(Buffer buffer, int generation, int from, int to) {
        buffer.check(owner, generation);
        if (tls != null) {
            secure(tls, filter -> filter.write(buffer, from, to));
            return;
        }
        channel.write(buffer.memory().retainedSlice(from, to - from), channel.voidPromise());
    }

    @Override
    public void flush() {
        if (tls != null) {
            secure(tls, TlsFilter::flush);
            return;
        }
        channel.flush();
    }

    @Override
    public boolean isDrained() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        // Netty's isEmpty() looks at what was flushed alone.
        return pending != null
                && pending.totalPendingWriteBytes() == 0
                && pending.isEmpty()
                && (tls == null || tls.stagedBytes() == 0);
    }

    @Override
    public long pendingBytes() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending == null ? 0 : pending.totalPendingWriteBytes() + (tls == null ? 0 : tls.stagedBytes());
    }

    @Override
    public void shutdownOutput() {
        if (outputShut || !channel.isActive()) {
            return;
        }
        outputShut = true;
        if (tls == null || !connected) {
            endOutput();
            return;
        }
        secure(tls, filter -> {
            ending = filter.end();
            ending.addListener(left -> {
                if (left.isSuccess()) {
                    endOutput();
                }
                listener.run();
            });
        });
    }

    /** Ends this side of the socket. Netty's own way makes an exception to fail with what waits, where nothing does too. */
    private void endOutput() {
        if (channel instanceof EpollSocketChannel epoll && isDrained()) {
            try {
                ((Socket) epoll.fd()).shutdown(false, true);
            } catch (IOException | NotYetConnectedException e) {
                // It is broken, which who reads it learns.
            }
        } else {
            channel.shutdownOutput();
        }
    }

    @Override
    public boolean isOutputEnded() {
        return failure != null || !channel.isActive() || (outputShut && (ending == null || ending.isDone()));
    }

    @Override
    public void close() {
        channel.close();
        in.release();
        if (tls != null) {
            tls.release();
        }
    }

    @Override
    public void mark(int trafficOctet) {
        if (quicAddress == null) {
            channel.config().setOption(ChannelOption.IP_TOS, trafficOctet);
        }
    }

    @Override
    public void reset() {
        if (channel.isActive()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        }
        close();
    }

    @Override
    public void resetFromOutside() {
        OutsideReset.reset(channel);
    }

    /** Decrypts what came, as far as there is room and input is wanted, and answers the handshake. */
    private void decrypt() {
        TlsFilter filter = tls;
        if (filter == null || refused || !channel.isActive()) {
            return;
        }
        int before = in.held();
        boolean wasConnected = connected;
        boolean hadEnded = inputEnded;
        resuming = false;
        reads.stalled = false;
        secure(filter, this::takeRecords);
        in.arrived(in.held() - before, Integer.MAX_VALUE);
        if (in.held() == 0) {
            in.shrink();
        }
        reads.apply();
        if (in.held() != before || connected != wasConnected || inputEnded != hadEnded) {
            listener.run();
        }
    }

    private void takeRecords(TlsFilter filter) throws SSLException {
        switch (filter.decrypt(in, reads, connected)) {
            case NOTHING -> inputEnded = true;
            case ROOM -> reads.stalled = true;
            case OUTPUT -> reads.stalled = socketEnded || filter.ciphertextBytes() > 0;
            case INPUT -> {
                if (socketEnded) {
                    refuse(filter.session().isEstablished() ? CUT : CLOSED);
                }
            }
        }
        connected = filter.session().isEstablished();
    }

    /** Decrypts in a step of its own, since the caller is in the midst of one. */
    private void decryptSoon() {
        if (!resuming) {
            resuming = true;
            channel.eventLoop().execute(this::decryptInStep);
        }
    }

    /** Decrypts outside of Netty's handlers, where what is thrown would be logged, and the connection stand for ever. */
    private void decryptInStep() {
        try {
            decrypt();
        } catch (Throwable e) {
            channel.pipeline().fireExceptionCaught(e);
        }
    }

    /** A step of TLS's. */
    private interface TlsStep {
        void take(TlsFilter filter) throws SSLException;
    }

    /** Takes a step, unless the connection has ended; where it fails, so does the connection. */
    private void secure(TlsFilter filter, TlsStep step) {
        if (refused || !channel.isActive()) {
            return;
        }
        try {
            step.take(filter);
        } catch (SSLException e) {
            tlsFailed(filter, e);
        } catch (NoMemoryException e) {
            starve(e);
        }
    }

    /** Tells the far side why, if it still listens. */
    private void tlsFailed(TlsFilter filter, SSLException cause) {
        String what = connected ? "TLS: " : "TLS handshake: ";
        try {
            filter.answer();
        } catch (SSLException | NoMemoryException e) {
            // It has nothing to say, and the cause is known.
        }
        refuse(what + TlsSession.explain(cause));
    }

    private void refuse(String why) {
        refused = true;
        giveUp(why);
    }

    /** Closes for want of memory for what came or is to go: the connection cannot go on whole. */
    private void starve(NoMemoryException cause) {
        starved = true;
        giveUp(cause.getMessage());
    }

    private void giveUp(@Nullable String why) {
        fail(why);
        inputEnded = true;
        channel.close();
    }

    @Override
    public void leave(Runnable left) {
        wantInput(false);
        listener = () -> {};
        channel.deregister().addListener(f -> left.run());
    }

    private void fail(@Nullable String why) {
        if (failure == null) {
            failure = why == null ? "connection closed" : why;
        }
    }

    /** What Netty tells of the socket. */
    private final class Receiver extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf memory = (ByteBuf) message;
            if (tls != null) {
                tls.read(memory);
                decrypt();
            } else {
                reads.take(memory);
                listener.run();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                socketEnded = true;
                if (tls != null) {
                    decrypt();
                    return;
                }
                inputEnded = true;
                listener.run();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (connected || tls != null) {
                lose(null);
                listener.run();
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (context.channel().isWritable()) {
                if (tls != null) {
                    tls.reclaim();
                }
                listener.run();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            starved |= cause instanceof NoMemoryException;
            lose(cause.getMessage());
            context.close();
            listener.run();
        }

        private void lose(@Nullable String why) {
            fail(why);
            inputCut |= !inputEnded && !socketEnded;
            inputEnded = true;
        }
    }
}
