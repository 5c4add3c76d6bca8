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
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.UncheckedBooleanSupplier;
import java.net.InetSocketAddress;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One TCP connection, driven by the thread that owns its loop. Octets that came lie in {@link #input} from
 * {@link #start} to {@link #end} until they are {@linkplain #consumed consumed}; octets to go are slices of
 * {@link Buffer}s, written without a copy. Each {@link IoLoop#run} reads at most one buffer.
 *
 * <p>Thread contract: the owning thread of the loop, except {@link #remoteAddress}.
 */
public final class TcpConnection {
    /** Below this much room the input buffer counts as full. */
    private static final int MIN_ROOM_OCTETS = 2048;
    /** Not more than this is moved to a small buffer so that a larger one can be given back. */
    private static final int LEFTOVER_OCTETS = 4096;
    /** A read of this much is followed by another at once. */
    private static final int BULK_OCTETS = 32 * 1024;
    /** Reads in a row that would have fitted a small buffer before a stream counts as quiet. */
    private static final int QUIET_READS = 16;

    private final SocketChannel channel;
    private final BufferPool pool;
    private final InetSocketAddress remoteAddress;
    private final Instant since = Instant.now();
    private final Receiver receiver = new Receiver();

    private @Nullable Buffer input;
    private int start;
    private int end;
    private int nextReadOctets = BufferPool.SMALL_OCTETS;
    private int quietReads;
    private boolean wanted = true;
    /** The input is full and nobody has made room yet. */
    private boolean full;
    /** It was read into all the same, so reading stopped: octets pile up at the sender, not here. */
    private boolean paused;

    private boolean connected;
    private boolean inputEnded;
    private boolean outputShut;
    private @Nullable String failure;
    private Runnable listener = () -> {};

    TcpConnection(SocketChannel channel, BufferPool pool, InetSocketAddress remoteAddress) {
        this.channel = channel;
        this.pool = pool;
        this.remoteAddress = remoteAddress;
        channel.config()
                .setTcpNoDelay(true)
                .setKeepAlive(true)
                .setAllowHalfClosure(true)
                // "Unwritable" then means: something waits; "writable": everything has left.
                .setWriteBufferWaterMark(new WriteBufferWaterMark(1, 1))
                .setRecvByteBufAllocator(() -> receiver);
        channel.pipeline().addLast(receiver);
        connected = channel.isActive();
    }

    void connect(ChannelFuture registered, InetSocketAddress address) {
        registered.addListener(r -> channel.connect(address).addListener(f -> {
            if (f.isSuccess()) {
                connected = true;
            } else {
                fail(f.cause());
            }
            listener.run();
        }));
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

    /** In a few words, why the connection failed; null while it has not. */
    public @Nullable String failure() {
        return failure;
    }

    // ---- input ----------------------------------------------------------------------------------------------

    /** Where octets lie that came and were not consumed; null when there are none. */
    public @Nullable Buffer input() {
        return input;
    }

    /** Index of the first octet not consumed. */
    public int start() {
        return start;
    }

    /** Index behind the last octet that came. */
    public int end() {
        return end;
    }

    /** Says that the octets before {@code index} are dealt with; they may still wait in other connections. */
    public void consumed(int index) {
        start = index;
    }

    /** Stops or resumes reading from the socket. */
    public void wantInput(boolean wanted) {
        this.wanted = wanted;
        applyAutoRead();
    }

    /**
     * Gives the input buffer back when nothing is left in it, and makes room when it is full. Call it when what
     * was written from it has left.
     */
    public void trim() {
        Buffer buffer = input;
        int held = end - start;
        if (buffer != null && !buffer.isReferenced()) {
            if (held == 0) {
                pool.give(buffer);
                input = null;
            } else if (held <= LEFTOVER_OCTETS && buffer.capacity() > BufferPool.SMALL_OCTETS) {
                // Part of a packet is left of nearly every batch: with a buffer each, streams would push each other
                // out of the cache, and none would be given back.
                Buffer small = pool.take(BufferPool.SMALL_OCTETS, held);
                small.nio().put(0, buffer.nio(), start, held);
                pool.give(buffer);
                input = small;
            }
            if (input != buffer) {
                start = 0;
                end = held;
            }
        }
        if (full && (input == null || start > 0 || end < input.capacity())) {
            full = false;
            paused = false;
            applyAutoRead();
        }
    }

    private void applyAutoRead() {
        boolean read = wanted && !paused;
        if (channel.config().isAutoRead() != read) {
            channel.config().setAutoRead(read);
        }
    }

    // ---- output ---------------------------------------------------------------------------------------------

    /** Appends octets {@code from} to {@code to} of {@code buffer}; they must not change until {@link #isDrained}. */
    public void write(Buffer buffer, int from, int to) {
        channel.write(buffer.memory().retainedSlice(from, to - from), channel.voidPromise());
    }

    /** Hands what was written to the operating system, as far as it takes it. */
    public void flush() {
        channel.flush();
    }

    /** Whether the operating system has taken all that was written; never so when the connection is closed. */
    public boolean isDrained() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending != null && pending.isEmpty();
    }

    /** Octets written that the operating system has not taken yet. */
    public long pendingOctets() {
        ChannelOutboundBuffer pending = channel.unsafe().outboundBuffer();
        return pending == null ? 0 : pending.totalPendingWriteBytes();
    }

    /** Ends this side of the connection; the far side can still send. */
    public void shutdownOutput() {
        if (!outputShut && channel.isActive()) {
            outputShut = true;
            channel.shutdownOutput();
        }
    }

    // ---- end, and change of thread -----------------------------------------------------------------------------

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

    private void release() {
        Buffer buffer = input;
        if (buffer != null) {
            input = null;
            start = 0;
            end = 0;
            pool.give(buffer);
        }
    }

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

    /** Room for the next read behind what has not been consumed. */
    private Buffer room() {
        Buffer buffer = input;
        int held = end - start;
        if (buffer == null) {
            buffer = pool.take(nextReadOctets, MIN_ROOM_OCTETS);
            start = 0;
            end = 0;
        } else if (held == 0 && !buffer.isReferenced()) {
            start = 0;
            end = 0;
        } else if (!receiver.continuing && buffer.capacity() - end < Math.max(MIN_ROOM_OCTETS, nextReadOctets / 2)) {
            buffer = move(buffer, held);
        }
        input = buffer;
        return buffer;
    }

    /** Moves what is held to the front, of a larger buffer if need be. */
    private Buffer move(Buffer from, int held) {
        Buffer to = from;
        if (from.isReferenced() || from.capacity() < nextReadOctets || from.capacity() - held < MIN_ROOM_OCTETS) {
            to = pool.take(nextReadOctets, held + MIN_ROOM_OCTETS);
        }
        to.nio().put(0, from.nio(), start, held);
        if (to != from) {
            pool.give(from);
        }
        start = 0;
        end = held;
        return to;
    }

    private void arrived(int octets, int capacityOctets) {
        if (octets == capacityOctets && nextReadOctets < BufferPool.LARGE_OCTETS) {
            nextReadOctets *= 4;
            quietReads = 0;
        } else if (octets >= BufferPool.SMALL_OCTETS) {
            quietReads = 0;
        } else if (nextReadOctets > BufferPool.SMALL_OCTETS && ++quietReads == QUIET_READS) {
            nextReadOctets = BufferPool.SMALL_OCTETS;
            quietReads = 0;
        }
    }

    /** Netty's side: where to read to, and what happened. */
    private final class Receiver extends ChannelInboundHandlerAdapter implements RecvByteBufAllocator.ExtendedHandle {
        private int attemptedOctets;
        private boolean continuing;
        private int lastOctets;

        @Override
        public ByteBuf allocate(ByteBufAllocator ignored) {
            ByteBuf memory = room().memory();
            return memory.setIndex(0, end).retain();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf memory = (ByteBuf) message;
            int before = end;
            end = memory.writerIndex();
            memory.release();
            arrived(end - before, memory.capacity() - before);
            if (memory.capacity() >= BufferPool.LARGE_OCTETS && memory.capacity() - (end - start) < MIN_ROOM_OCTETS) {
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
                inputEnded = true;
                listener.run();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (connected) {
                inputEnded = true;
                fail(null);
                listener.run();
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (context.channel().isWritable()) {
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
            return nextReadOctets;
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
            // While a large read was copied, the sender has often brought more: fewer and larger batches wake both
            // ends less often, and waking them is what costs most.
            Buffer buffer = input;
            continuing = lastOctets >= BULK_OCTETS
                    && wanted
                    && !paused
                    && buffer != null
                    && buffer.capacity() - end >= BULK_OCTETS;
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
