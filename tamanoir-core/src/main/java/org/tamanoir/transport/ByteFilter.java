package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What stands between a {@link TcpConnection} and its socket: bytes that came and were not translated into those of the
 * connection, and translated bytes to go. What is written is translated at once, so that its own memory is free. Buffers
 * come from the pool and go back when nothing is in them.
 *
 * <p>Thread contract: the owning thread of the connection's loop.
 */
abstract class ByteFilter {
    /** What {@link #translate} has come to. */
    enum Progress {
        /** All that came has been translated, or more has to come. */
        INPUT,
        /** The input is full. */
        ROOM,
        /** Nobody wants input. */
        UNWANTED,
        /** The far side has ended, in order. */
        ENDED
    }

    static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Holds four records of TLS, or any packet. */
    private static final int CHUNK_BYTES = BufferPool.MEDIUM_BYTES;

    private final Channel channel;
    final BufferPool pool;

    @Nullable
    Buffer arrived;

    int arrivedStart;
    int arrivedEnd;

    private @Nullable Buffer outgoing;
    private int outgoingStart;
    private int outgoingEnd;
    /** Full ones, from which bytes still leave. */
    private final ArrayDeque<Buffer> leaving = new ArrayDeque<>();

    ByteFilter(Channel channel, BufferPool pool) {
        this.channel = channel;
        this.pool = pool;
    }

    /** Returns where the socket is to be read to. */
    final ByteBuf memoryToRead() {
        Buffer buffer = arrived;
        if (buffer == null) {
            buffer = pool.take(CHUNK_BYTES, CHUNK_BYTES);
            arrived = buffer;
        } else if (arrivedStart > 0) {
            buffer.nio().put(0, buffer.nio(), arrivedStart, arrivedEnd - arrivedStart);
            arrivedEnd -= arrivedStart;
            arrivedStart = 0;
        } else if (arrivedEnd == buffer.capacity()) {
            // Reading stops when nothing is translated; one read more may be on its way, and one of 0 bytes would
            // look like the end.
            Buffer larger = pool.take(BufferPool.LARGE_BYTES, 2 * arrivedEnd);
            larger.nio().put(0, buffer.nio(), 0, arrivedEnd);
            pool.give(buffer);
            buffer = larger;
            arrived = buffer;
        }
        return buffer.memory().setIndex(0, arrivedEnd).retain();
    }

    /** Takes over what was read from the socket. */
    final void read(ByteBuf memory) {
        arrivedEnd = memory.writerIndex();
        memory.release();
    }

    /** Takes over what a connection has read and not consumed, which is to be translated now. */
    final void takeOver(InputBuffer in) {
        int bytes = in.held();
        Buffer from = in.buffer;
        if (from != null && bytes > 0) {
            Buffer buffer = pool.take(CHUNK_BYTES, bytes);
            buffer.nio().put(0, from.nio(), in.start, bytes);
            arrived = buffer;
            arrivedEnd = bytes;
        }
        in.release();
    }

    /** Returns how many bytes came and were not translated. */
    final int untranslatedBytes() {
        return arrivedEnd - arrivedStart;
    }

    final void dropArrived() {
        Buffer buffer = arrived;
        if (buffer != null) {
            arrived = null;
            arrivedStart = 0;
            arrivedEnd = 0;
            pool.give(buffer);
        }
    }

    /** Returns whether part of something has come that is to be whole within the time for a packet. */
    boolean hasPart() {
        return false;
    }

    /** Returns whether the input has room for a record, or a packet. */
    abstract boolean isRoom(InputBuffer in);

    /** Returns whether both sides have agreed to begin. */
    abstract boolean isEstablished();

    /** Returns whether the far side has ended in order. */
    abstract boolean isInputWhole();

    /** Translates what came to the end of the input, and answers where the far side waits for that. */
    abstract Progress translate(InputBuffer in, ReadControl reads, boolean socketEnded) throws IOException;

    /** Returns in a few words why a connection fails whose socket has ended too early. */
    abstract String cut();

    /** Returns in a few words what has not come in the time for a handshake. */
    abstract String late();

    /** Takes note that the connection failed, in a few words why, before it was connected. */
    void failed(String why) {}

    /** Returns in a few words why it fails that is connected, or is to be. */
    abstract String explain(IOException cause, boolean connected);

    abstract void write(Buffer buffer, int from, int to) throws IOException;

    /** Hands what was written to the operating system, as far as it takes it. */
    abstract void flush() throws IOException;

    /** Sends what the other side is to know before the connection fails, or begins. */
    abstract void answer() throws IOException;

    /**
     * Says that this side ends.
     *
     * @param isRead whether what comes is read from now on
     * @return done when that has been handed to the operating system
     */
    abstract ChannelFuture end(boolean isRead) throws IOException;

    /** Returns how many bytes were written that are not on their way; none after a flush. */
    abstract int stagedBytes();

    /** Returns memory with so much room from its position on, for translated bytes; {@link #appended} is to follow. */
    final ByteBuffer room(int bytes) {
        Buffer buffer = outgoing;
        if (buffer != null && buffer.capacity() - outgoingEnd < bytes) {
            commit();
            leaving.add(buffer);
            buffer = null;
        }
        if (buffer == null) {
            buffer = pool.take(CHUNK_BYTES, bytes);
            outgoing = buffer;
            outgoingStart = 0;
            outgoingEnd = 0;
        }
        return buffer.nio().position(outgoingEnd);
    }

    /** Takes over what was put up to the position of what {@link #room} gave. */
    final void appended(ByteBuffer room) {
        outgoingEnd = room.position();
        room.clear();
    }

    /** Returns whether something that was appended has not been given to the channel. */
    final boolean isUncommitted() {
        return outgoingEnd > outgoingStart;
    }

    final int uncommittedBytes() {
        return outgoingEnd - outgoingStart;
    }

    private void commit() {
        commit(channel.voidPromise());
    }

    private void commit(ChannelPromise promise) {
        Buffer buffer = outgoing;
        if (buffer != null && isUncommitted()) {
            channel.write(buffer.memory().retainedSlice(outgoingStart, outgoingEnd - outgoingStart), promise);
            outgoingStart = outgoingEnd;
        }
    }

    /** Gives the channel what was appended, and has it leave. */
    final void send() {
        commit();
        channel.flush();
        reclaim();
    }

    /** Does the same; returns what is done when it has been handed to the operating system. */
    final ChannelFuture sendLast() {
        ChannelPromise left = newPromise();
        sendLast(left);
        return left;
    }

    /** Returns what {@link #sendLast} can be told to have done. */
    final ChannelPromise newPromise() {
        return channel.newPromise();
    }

    /** Sends, and has {@code left} be done when it has been handed to the operating system. */
    final void sendLast(ChannelPromise left) {
        if (isUncommitted()) {
            commit(left);
        } else {
            channel.write(Unpooled.EMPTY_BUFFER, left); // It leaves behind what waits.
        }
        channel.flush();
        reclaim();
    }

    /** Returns whether nothing waits to leave. */
    final boolean isClear() {
        return channel.isWritable();
    }

    /** Takes note that all has left. */
    void drained() {
        reclaim();
    }

    /** Gives buffers back from which all has left. */
    final void reclaim() {
        Buffer oldest;
        while ((oldest = leaving.peek()) != null && !oldest.isReferenced()) {
            leaving.remove();
            pool.give(oldest);
        }
        Buffer buffer = outgoing;
        if (buffer != null && !isUncommitted() && !buffer.isReferenced()) {
            outgoing = null;
            outgoingStart = 0;
            outgoingEnd = 0;
            pool.give(buffer);
        }
    }

    /** Gives all buffers back; for a connection that is closed. */
    void release() {
        dropArrived();
        if (outgoing != null) {
            pool.give(outgoing);
            outgoing = null;
            outgoingStart = 0;
            outgoingEnd = 0;
        }
        leaving.forEach(pool::give);
        leaving.clear();
    }
}
