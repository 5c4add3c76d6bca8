package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a connection's socket is read, how often in a row, and into which memory: not while nobody wants
 * input, nor while what came before finds no room, so that bytes pile up at the sender and not here.
 *
 * <p>Thread contract: the thread of the connection's loop.
 */
final class ReadControl implements RecvByteBufAllocator.ExtendedHandle {
    /** A read of this much is followed by another at once. */
    private static final int BULK_BYTES = 32 * 1024;

    private final ChannelConfig config;
    private final InputBuffer in;
    private @Nullable ByteFilter filter;

    private boolean wanted = true;
    /** The input is full and nobody has made room yet. */
    private boolean full;
    /** It was read into all the same, so reading stopped. */
    private boolean paused;
    /** Bytes that are not translated wait for room, or for somebody who wants input; who sets this applies it. */
    boolean stalled;

    private int attemptedBytes;
    private int lastBytes;
    private boolean continuing;

    ReadControl(ChannelConfig config, InputBuffer in, @Nullable ByteFilter filter) {
        this.config = config;
        this.in = in;
        this.filter = filter;
    }

    /** Has the socket be read for this filter from now on. */
    void through(ByteFilter translator) {
        filter = translator;
        full = false;
        paused = false;
    }

    boolean isWanted() {
        return wanted;
    }

    void want(boolean input) {
        wanted = input;
        apply();
    }

    /** Takes note that the user may have made room. */
    void reviewRoom() {
        if (full && in.hasRoom()) {
            full = false;
            paused = false;
            apply();
        }
    }

    /** Takes note of what a read has put behind the input, and gives the memory back. */
    void take(ByteBuf memory) {
        int before = in.end;
        in.end = memory.writerIndex();
        memory.release();
        in.arrived(in.end - before, memory.capacity() - before);
        if (memory.capacity() >= BufferPool.LARGE_BYTES && memory.capacity() - in.held() < InputBuffer.MIN_ROOM_BYTES) {
            // Usually the user makes room before the next read; when one came in between, reading stops.
            paused = full;
            full = true;
            apply();
        }
    }

    /** Has the loop read, or not. */
    void apply() {
        boolean read = wanted && !paused && !stalled;
        if (config.isAutoRead() != read) {
            config.setAutoRead(read);
        }
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator ignored) {
        if (filter != null) {
            return filter.memoryToRead();
        }
        ByteBuf memory = in.room(InputBuffer.MIN_ROOM_BYTES, continuing).memory();
        return memory.setIndex(0, in.end).retain();
    }

    @Override
    public boolean continueReading() {
        if (filter != null) {
            return false;
        }
        // While a large read was copied, the sender has often brought more: fewer and larger batches wake both ends
        // less often, and waking them is what costs most.
        Buffer buffer = in.buffer;
        continuing = lastBytes >= BULK_BYTES
                && wanted
                && !paused
                && buffer != null
                && buffer.capacity() - in.end >= BULK_BYTES;
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

    @Override
    public int guess() {
        return in.nextReadBytes();
    }

    @Override
    public void reset(ChannelConfig config) {}

    @Override
    public void incMessagesRead(int messages) {}

    @Override
    public void lastBytesRead(int bytes) {
        lastBytes = bytes;
    }

    @Override
    public int lastBytesRead() {
        return lastBytes;
    }

    @Override
    public void attemptedBytesRead(int bytes) {
        attemptedBytes = bytes;
    }

    @Override
    public int attemptedBytesRead() {
        return attemptedBytes;
    }
}
