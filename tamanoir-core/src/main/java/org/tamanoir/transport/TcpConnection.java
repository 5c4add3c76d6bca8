package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.UncheckedBooleanSupplier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.tls.TlsSession;

/**
 * One TCP connection, driven by the thread that owns its loop. Octets that came lie in {@link #input} from
 * {@link #start} to {@link #end} until they are {@linkplain #consumed consumed}; octets to go are slices of
 * {@link Buffer}s, written without a copy. Each {@link IoLoop#run} reads at most one buffer.
 *
 * <p>With TLS the same holds for plaintext, except that what is written is encrypted into memory of its own. The
 * connection counts as connected when the handshake is over.
 *
 * <p>Thread contract: the owning thread of the loop, except {@link #remoteAddress}.
 */
public final class TcpConnection {
    /** Room for the plaintext of any record, with the padding that some senders add to it. */
    private static final int RECORD_OCTETS = TlsSession.MAX_FRAGMENT_OCTETS + 512;

    private static final String CUT = "TLS: it was cut off, not ended";
    private static final String CLOSED = "TLS handshake: the other side closed the connection; does it speak TLS?";
    /** A read of this much is followed by another at once. */
    private static final int BULK_OCTETS = 32 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(TcpConnection.class);

    private final SocketChannel channel;
    private final InetSocketAddress remoteAddress;
    private final Instant since = Instant.now();
    private final Receiver receiver = new Receiver();
    private final @Nullable TlsFilter tls;

    private final InputBuffer in;
    private boolean wanted = true;
    /** The input is full and nobody has made room yet. */
    private boolean full;
    /** It was read into all the same, so reading stopped: octets pile up at the sender, not here. */
    private boolean paused;

    private boolean connected;
    private boolean inputEnded;
    private boolean outputShut;
    /** The socket's input has ended; with TLS what came before may not be decrypted yet. */
    private boolean socketEnded;
    /** Ciphertext waits here for room, or for somebody who wants input. */
    private boolean stalled;

    private boolean resuming;

    private boolean refused;
    private @Nullable ChannelFuture ending;
    private @Nullable String failure;
    private Runnable listener = () -> {};

    TcpConnection(
            SocketChannel channel, BufferPool pool, InetSocketAddress remoteAddress, @Nullable TlsSession session) {
        this.channel = channel;
        this.in = new InputBuffer(pool);
        this.remoteAddress = remoteAddress;
        this.tls = session == null ? null : new TlsFilter(session, channel, pool);
        channel.config()
                .setTcpNoDelay(true)
                .setKeepAlive(true)
                .setAllowHalfClosure(true)
                // "Unwritable" then means: something waits; "writable": everything has left.
                .setWriteBufferWaterMark(new WriteBufferWaterMark(1, 1))
                .setRecvByteBufAllocator(() -> receiver);
        channel.pipeline().addLast(receiver);
        connected = channel.isActive() && tls == null;
    }

    /**
     * @param handshakeTimeout from the connection to the end of its handshake
     */
    void connect(ChannelFuture registered, InetSocketAddress address, Duration handshakeTimeout) {
        registered.addListener(r -> channel.connect(address).addListener(f -> {
            if (!f.isSuccess()) {
                fail(f.cause());
            } else if (tls == null) {
                connected = true;
            } else {
                beginHandshake(handshakeTimeout);
            }
            listener.run();
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
        decrypt();
    }

    Channel channel() {
        return channel;
    }

    /** The far end. */
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /** When it was accepted, or begun. Any thread. */
    public Instant since() {
        return since;
    }

    /** This end. */
    public InetSocketAddress localAddress() {
        return channel.localAddress();
    }

    /** Runs {@code listener} inside {@link IoLoop#run} whenever this connection's state has changed. */
    public void onChange(Runnable listener) {
        this.listener = listener;
    }

    // ---- state ----------------------------------------------------------------------------------------------

    /** Whether the connection stands, or stood. */
    public boolean isConnected() {
        return connected;
    }

    /** Whether the far side will send no more; what it sent before may still wait in {@link #input}. */
    public boolean inputEnded() {
        return inputEnded;
    }

    /**
     * Whether octets that the far side sent may be missing at the end of the input, by somebody's hand: with TLS an
     * end that the far side did not announce. Without TLS nobody can tell: never so.
     */
    public boolean isInputCut() {
        return tls != null && inputEnded && !tls.session().inputEnded();
    }

    /** Whether TLS failed, so that to connect again would not help. */
    public boolean isRefused() {
        return refused;
    }

    /** In a few words, why the connection failed; null while it has not. */
    public @Nullable String failure() {
        return failure;
    }

    // ---- input ----------------------------------------------------------------------------------------------

    /** Where octets lie that came and were not consumed; null when there are none. */
    public @Nullable Buffer input() {
        return in.buffer;
    }

    /** Index of the first octet not consumed. */
    public int start() {
        return in.start;
    }

    /** Index behind the last octet that came. */
    public int end() {
        return in.end;
    }

    /** Says that the octets before {@code index} are dealt with; they may still wait in other connections. */
    public void consumed(int index) {
        in.start = index;
    }

    /** Stops or resumes reading from the socket. */
    public void wantInput(boolean wanted) {
        this.wanted = wanted;
        applyAutoRead();
        if (stalled && wanted) {
            decryptSoon();
        }
    }

    /**
     * Gives the input buffer back when nothing is left in it, and makes room when it is full. Call it when what
     * was written from it has left.
     */
    public void trim() {
        in.shrink();
        if (full && in.hasRoom()) {
            full = false;
            paused = false;
            applyAutoRead();
        }
        if (stalled && wanted && in.held() <= BufferPool.LARGE_OCTETS - RECORD_OCTETS) {
            decryptSoon();
        }
    }

    private void applyAutoRead() {
        boolean read = wanted && !paused && !stalled;
        if (channel.config().isAutoRead() != read) {
            channel.config().setAutoRead(read);
        }
    }

    // ---- output ---------------------------------------------------------------------------------------------

    /** Appends octets {@code from} to {@code to} of {@code buffer}; they must not change until {@link #isDrained}. */
    public void write(Buffer buffer, int from, int to) {
        if (tls != null) {
            encrypt(tls, buffer, from, to);
            return;
        }
        channel.write(buffer.memory().retainedSlice(from, to - from), channel.voidPromise());
    }

    /** Hands what was written to the operating system, as far as it takes it. */
    public void flush() {
        if (tls != null) {
            flush(tls);
            return;
        }
        channel.flush();
    }

    /** Whether the operating system has taken all that was written; never so when the connection is closed. */
    public boolean isDrained() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending != null && pending.isEmpty() && (tls == null || tls.stagedOctets() == 0);
    }

    /** Octets written that the operating system has not taken yet. */
    public long pendingOctets() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending == null ? 0 : pending.totalPendingWriteBytes() + (tls == null ? 0 : tls.stagedOctets());
    }

    /**
     * Ends this side of the connection; the far side can still send. With TLS that takes an octet or two which the
     * operating system may not take at once: see {@link #isOutputEnded}.
     */
    public void shutdownOutput() {
        if (outputShut || !channel.isActive()) {
            return;
        }
        outputShut = true;
        if (tls == null || !connected) {
            channel.shutdownOutput();
            return;
        }
        try {
            ending = tls.end();
            ending.addListener(left -> {
                if (left.isSuccess()) {
                    channel.shutdownOutput();
                }
                listener.run();
            });
        } catch (SSLException e) {
            tlsFailed(tls, e);
        }
    }

    /** Whether {@link #shutdownOutput} is done and the far side will know; also when the connection is gone. */
    public boolean isOutputEnded() {
        return failure != null || !channel.isActive() || (outputShut && (ending == null || ending.isDone()));
    }

    // ---- end ---------------------------------------------------------------------------------------------------

    /** Closes the connection and frees its input. What was not flushed is lost. */
    public void close() {
        channel.close();
        release();
    }

    /** Closes with a reset, so that the far side knows that octets are missing. */
    public void reset() {
        if (channel.isActive()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        }
        close();
    }

    /**
     * Breaks the connection for the far side although the owning thread does not come back to its loop; that thread
     * must not be inside the loop, nor get there, before this returns. The connection is still its owner's to close.
     *
     * <p>With epoll the far side gets a reset at once: connect(2) with AF_UNSPEC dissolves the association. A channel
     * of the JDK cannot be closed while it stands in a selector that nobody runs; both its directions are shut down, so
     * that the far side gets an end of stream, and a reset when it goes on to send.
     */
    public void resetFromOutside() {
        if (channel instanceof EpollSocketChannel epoll) {
            if (epoll.fd().isOpen()) {
                ByteBuffer nowhere = MessageArray.allocate(16).putShort(0, (short) LibC.AF_UNSPEC);
                LibC.connect(epoll.fd().intValue(), MessageArray.addressOf(nowhere), 16);
            }
        } else if (channel.unsafe() instanceof AbstractNioChannel.NioUnsafe unsafe
                && unsafe.ch() instanceof java.nio.channels.SocketChannel nio) {
            try {
                nio.shutdownInput();
                nio.shutdownOutput();
            } catch (IOException e) {
                LOG.debug("{}: is not connected any more: {}", remoteAddress, e.getMessage());
            }
        }
    }

    private void release() {
        in.release();
        if (tls != null) {
            tls.release();
        }
    }

    // ---- TLS ---------------------------------------------------------------------------------------------------

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
        stalled = false;
        try {
            takeRecords(filter);
            connected = filter.session().isEstablished();
        } catch (SSLException e) {
            tlsFailed(filter, e);
        }
        in.arrived(in.held() - before, Integer.MAX_VALUE);
        if (in.held() == 0) {
            in.shrink();
        }
        applyAutoRead();
        if (in.held() != before || connected != wasConnected || inputEnded != hadEnded) {
            listener.run();
        }
    }

    private void takeRecords(TlsFilter filter) throws SSLException {
        int leastOctets = InputBuffer.MIN_ROOM_OCTETS;
        while (wanted || !connected) {
            if (in.held() > BufferPool.LARGE_OCTETS - RECORD_OCTETS) {
                stalled = true;
                return;
            }
            Buffer buffer = in.room(leastOctets, receiver.continuing);
            in.end = filter.decrypt(buffer, in.end);
            TlsSession.Need need = filter.need();
            switch (need) {
                case OUTPUT -> filter.answer();
                case ROOM -> {
                    leastOctets = RECORD_OCTETS;
                    in.expectMore();
                }
                case NOTHING -> {
                    inputEnded = true;
                    return;
                }
                case INPUT -> {
                    if (socketEnded) {
                        refuse(filter.session().isEstablished() ? CUT : CLOSED);
                    }
                    return;
                }
            }
        }
        stalled = socketEnded || filter.ciphertextOctets() > 0;
    }

    /** In a step of its own, since the caller is in the midst of one. */
    private void decryptSoon() {
        if (!resuming) {
            resuming = true;
            channel.eventLoop().execute(this::decrypt);
        }
    }

    private void encrypt(TlsFilter filter, Buffer buffer, int from, int to) {
        if (channel.isActive() && !refused) {
            try {
                filter.write(buffer, from, to);
            } catch (SSLException e) {
                tlsFailed(filter, e);
            }
        }
    }

    private void flush(TlsFilter filter) {
        if (channel.isActive() && !refused) {
            try {
                filter.flush();
            } catch (SSLException e) {
                tlsFailed(filter, e);
            }
        }
    }

    /** Tells the far side why, if it still listens. */
    private void tlsFailed(TlsFilter filter, SSLException cause) {
        String what = connected ? "TLS: " : "TLS handshake: ";
        try {
            filter.answer();
        } catch (SSLException e) {
            // It has nothing to say, and the cause is known.
        }
        refuse(what + TlsSession.explain(cause));
    }

    private void refuse(String why) {
        refused = true;
        if (failure == null) {
            failure = why;
        }
        inputEnded = true;
        channel.close();
    }

    // ---- change of thread --------------------------------------------------------------------------------------

    /**
     * Leaves its loop, so that another may {@linkplain IoLoop#adopt adopt} it; {@code left} runs on the old loop's
     * thread when it has. Input is kept.
     */
    public void leave(Runnable left) {
        wantInput(false);
        listener = () -> {};
        channel.deregister().addListener(f -> left.run());
    }

    private void fail(@Nullable Throwable cause) {
        if (failure == null) {
            String message = cause == null ? null : cause.getMessage();
            failure = message == null ? "connection closed" : message;
        }
    }

    /** Netty's side: where to read to, and what happened. */
    private final class Receiver extends ChannelInboundHandlerAdapter implements RecvByteBufAllocator.ExtendedHandle {
        private int attemptedOctets;
        private boolean continuing;
        private int lastOctets;

        @Override
        public ByteBuf allocate(ByteBufAllocator ignored) {
            if (tls != null) {
                return tls.memoryToRead();
            }
            ByteBuf memory = in.room(InputBuffer.MIN_ROOM_OCTETS, continuing).memory();
            return memory.setIndex(0, in.end).retain();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf memory = (ByteBuf) message;
            if (tls != null) {
                tls.read(memory);
                decrypt();
                return;
            }
            int before = in.end;
            in.end = memory.writerIndex();
            memory.release();
            in.arrived(in.end - before, memory.capacity() - before);
            if (memory.capacity() >= BufferPool.LARGE_OCTETS
                    && memory.capacity() - in.held() < InputBuffer.MIN_ROOM_OCTETS) {
                // Usually the user makes room before the next read; when one came in between, reading stops.
                paused = full;
                full = true;
                applyAutoRead();
            }
            listener.run();
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
                inputEnded = true;
                fail(null);
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
            fail(cause);
            inputEnded = true;
            context.close();
            listener.run();
        }

        @Override
        public int guess() {
            return in.nextReadOctets();
        }

        @Override
        public void reset(io.netty.channel.ChannelConfig config) {}

        @Override
        public void incMessagesRead(int messages) {}

        @Override
        public void lastBytesRead(int octets) {
            lastOctets = octets;
        }

        @Override
        public int lastBytesRead() {
            return lastOctets;
        }

        @Override
        public void attemptedBytesRead(int octets) {
            attemptedOctets = octets;
        }

        @Override
        public int attemptedBytesRead() {
            return attemptedOctets;
        }

        @Override
        public boolean continueReading() {
            if (tls != null) {
                return false;
            }
            // While a large read was copied, the sender has often brought more: fewer and larger batches wake both
            // ends less often, and waking them is what costs most.
            Buffer buffer = in.buffer;
            continuing = lastOctets >= BULK_OCTETS
                    && wanted
                    && !paused
                    && buffer != null
                    && buffer.capacity() - in.end >= BULK_OCTETS;
            return continuing;
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
            return continueReading();
        }

        @Override
        public void readComplete() {
            continuing = false;
        }
    }
}
