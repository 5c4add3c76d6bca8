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
import org.tamanoir.platform.Causes;
import org.tamanoir.tls.TlsSession;

/** A {@link TcpConnection} of Netty's. */
final class NettyConnection implements TcpConnection {
    private final SocketChannel channel;
    private final BufferPool pool;
    private final InetSocketAddress remoteAddress;
    /** Where its QUIC stream came to, or a gateway leads to; null = this end of the socket. */
    private final @Nullable InetSocketAddress localAddress;

    private final Instant since = Instant.now();
    /** Null where the socket has the connection's own bytes. */
    private @Nullable ByteFilter filter;

    private final @Nullable StreamGateway gateway;

    private final InputBuffer in;
    private final ReadControl reads;
    /** Of a stream over QUIC that came in. */
    private @Nullable Runnable stopSender;

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
    /** The socket's input has ended; what came before may not be translated yet. */
    private boolean socketEnded;
    /** Translating goes on in a step of its own, which waits for the loop. */
    private boolean resuming;

    NettyConnection(
            SocketChannel channel, BufferPool pool, InetSocketAddress remoteAddress, @Nullable TlsSession session) {
        this(channel, pool, remoteAddress, null, null, session == null ? null : new TlsFilter(session, channel, pool));
    }

    /** One whose far side speaks something else; from a sender by a gateway, or to where that leads. */
    NettyConnection(
            SocketChannel channel,
            BufferPool pool,
            InetSocketAddress remoteAddress,
            @Nullable StreamGateway gateway,
            StreamCodec codec) {
        this(channel, pool, remoteAddress, null, gateway, new CodecFilter(codec, channel, pool));
    }

    /** One inside the process, behind which a stream over QUIC comes. */
    NettyConnection(SocketChannel channel, BufferPool pool, QuicPort.Origin origin) {
        this(channel, pool, origin.peer(), origin.local(), null, null);
        stopSender = origin.stop();
    }

    private NettyConnection(
            SocketChannel channel,
            BufferPool pool,
            InetSocketAddress remoteAddress,
            @Nullable InetSocketAddress localAddress,
            @Nullable StreamGateway gateway,
            @Nullable ByteFilter filter) {
        this.channel = channel;
        this.pool = pool;
        this.localAddress = localAddress;
        this.gateway = gateway;
        this.in = new InputBuffer(pool);
        this.remoteAddress = remoteAddress;
        this.filter = filter;
        this.reads = new ReadControl(channel.config(), in, filter);
        channel.config() // Netty has set TCP_NODELAY.
                .setKeepAlive(true)
                .setAllowHalfClosure(true)
                // "Unwritable" then means: something waits; "writable": everything has left.
                .setWriteBufferWaterMark(new WriteBufferWaterMark(1, 1))
                .setRecvByteBufAllocator(() -> reads);
        channel.pipeline().addLast(new Receiver());
        connected = channel.isActive() && isEstablished();
    }

    private boolean isEstablished() {
        return filter == null || filter.isEstablished();
    }

    /** Begins to translate what is there without a byte from the far side; its state may change. */
    void begin() {
        if (filter != null && connected) {
            translateInStep();
        }
    }

    /**
     * @param from the address to come from; null = any of this host's
     * @param handshakeTimeout from the connection to the end of its handshake
     */
    void connect(
            ChannelFuture registered,
            InetSocketAddress address,
            @Nullable InetSocketAddress from,
            Duration handshakeTimeout) {
        registered.addListener(r -> channel.connect(address, from).addListener(f -> {
            if (!f.isSuccess()) {
                fail(Causes.text(f.cause()));
            } else if (isEstablished()) {
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
                                connect(registered, inside, null, timeout);
                            } else {
                                refused = failed instanceof SSLException;
                                fail(Causes.text(failed));
                                listener.run();
                            }
                        }));
            } else {
                fail(Causes.text(bound.cause()));
                listener.run();
            }
        }));
    }

    private void beginHandshake(Duration timeout) {
        Future<?> alarm = channel.eventLoop()
                .schedule(
                        () -> {
                            if (!connected) {
                                refuse(late() + " within " + timeout.toMillis() + " ms");
                                listener.run();
                            }
                        },
                        timeout.toNanos(),
                        TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> alarm.cancel(false));
        translateInStep();
    }

    private String late() {
        return filter == null ? "no connection" : filter.late();
    }

    @Override
    public boolean translate(StreamCodec codec) {
        if (filter != null || localAddress != null) {
            return false;
        }
        CodecFilter translator = new CodecFilter(codec, channel, pool);
        translator.takeOver(in);
        filter = translator;
        reads.through(translator);
        inputEnded = false;
        reads.apply();
        translateSoon();
        return true;
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
        return localAddress != null ? localAddress : channel.localAddress();
    }

    @Override
    public @Nullable StreamGateway gateway() {
        return gateway;
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
        return starved || inputCut || (filter != null && inputEnded && !filter.isInputWhole());
    }

    @Override
    public boolean isStarved() {
        return starved;
    }

    @Override
    public boolean isRefused() {
        return refused && !(filter instanceof CodecFilter); // Without a filter it is QUIC, whose TLS is elsewhere.
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
        // To read on behind the end costs two calls for the epoll set; with a filter some may wait to be translated.
        reads.want(wanted && (filter != null || !inputEnded));
        if (wanted && reads.stalled) {
            translateSoon();
        }
    }

    @Override
    public void trim() {
        in.shrink();
        reads.reviewRoom();
        if (reads.stalled && reads.isWanted() && filter != null && filter.isRoom(in)) {
            translateSoon();
        }
    }

    @Override
    public boolean hasPart() {
        return filter != null && !reads.stalled && filter.hasPart();
    }

    @Override
    public void write(Buffer buffer, int generation, int from, int to) {
        buffer.check(owner, generation);
        if (filter != null) {
            through(filter, each -> each.write(buffer, from, to));
            return;
        }
        channel.write(buffer.memory().retainedSlice(from, to - from), channel.voidPromise());
    }

    @Override
    public void flush() {
        if (filter != null) {
            through(filter, ByteFilter::flush);
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
                && (filter == null || filter.stagedBytes() == 0);
    }

    @Override
    public long pendingBytes() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending == null ? 0 : pending.totalPendingWriteBytes() + (filter == null ? 0 : filter.stagedBytes());
    }

    @Override
    public void shutdownOutput() {
        if (outputShut || !channel.isActive()) {
            return;
        }
        outputShut = true;
        if (filter == null || !connected) {
            endOutput();
            return;
        }
        through(filter, each -> {
            ending = each.end(reads.isWanted());
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
        if (filter != null) {
            filter.release();
        }
    }

    @Override
    public void mark(int trafficOctet) {
        if (localAddress == null) { // Else it is a socket inside the process.
            channel.config().setOption(ChannelOption.IP_TOS, trafficOctet);
        }
    }

    @Override
    public boolean stopSender() {
        if (stopSender != null) {
            stopSender.run();
        }
        return stopSender != null;
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

    /** Translates what came, as far as there is room and input is wanted, and answers. */
    private void translate() {
        ByteFilter translator = filter;
        if (translator == null || refused || !channel.isActive()) {
            return;
        }
        int before = in.held();
        boolean wasConnected = connected;
        boolean hadEnded = inputEnded;
        resuming = false;
        reads.stalled = false;
        through(translator, this::takeTranslated);
        in.arrived(in.held() - before, Integer.MAX_VALUE);
        if (in.held() == 0) {
            in.shrink();
        }
        reads.apply();
        if (in.held() != before || connected != wasConnected || inputEnded != hadEnded) {
            listener.run();
        }
    }

    private void takeTranslated(ByteFilter translator) throws IOException {
        switch (translator.translate(in, reads, socketEnded)) {
            case ENDED -> inputEnded = true;
            case ROOM -> reads.stalled = true;
            case UNWANTED -> reads.stalled = socketEnded || translator.untranslatedBytes() > 0;
            case INPUT -> {
                if (socketEnded) {
                    refuse(translator.cut());
                }
            }
        }
        connected = translator.isEstablished();
    }

    /** Translates in a step of its own, since the caller is in the midst of one. */
    private void translateSoon() {
        if (!resuming) {
            resuming = true;
            channel.eventLoop().execute(this::translateInStep);
        }
    }

    /** Translates outside of Netty's handlers, where what is thrown would be logged, and the connection stand for ever. */
    private void translateInStep() {
        try {
            translate();
        } catch (Throwable e) {
            channel.pipeline().fireExceptionCaught(e);
        }
    }

    /** A step of a filter's. */
    private interface FilterStep {
        void take(ByteFilter filter) throws IOException;
    }

    /** Takes a step, unless the connection has ended; where it fails, so does the connection. */
    private void through(ByteFilter translator, FilterStep step) {
        if (refused || !channel.isActive()) {
            return;
        }
        try {
            step.take(translator);
        } catch (IOException e) {
            filterFailed(translator, e);
        } catch (NoMemoryException e) {
            starve(e);
        }
    }

    /** Tells the far side why, if it still listens. */
    private void filterFailed(ByteFilter translator, IOException cause) {
        boolean wasConnected = connected;
        try {
            translator.answer();
        } catch (IOException | NoMemoryException e) {
            // It has nothing to say, and the cause is known.
        }
        refuse(translator.explain(cause, wasConnected));
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
            String reason = why == null ? "connection closed" : why;
            failure = reason;
            if (filter != null && !connected) {
                filter.failed(reason);
            }
        }
    }

    /** What Netty tells of the socket. */
    private final class Receiver extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf memory = (ByteBuf) message;
            if (filter != null) {
                filter.read(memory);
                translate();
            } else {
                reads.take(memory);
                listener.run();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                socketEnded = true;
                if (filter != null) {
                    translate();
                    return;
                }
                inputEnded = true;
                listener.run();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (connected || filter != null) {
                lose(null);
                listener.run();
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (context.channel().isWritable()) {
                if (filter != null) {
                    filter.drained();
                }
                listener.run();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            starved |= cause instanceof NoMemoryException;
            lose(Causes.text(cause));
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
