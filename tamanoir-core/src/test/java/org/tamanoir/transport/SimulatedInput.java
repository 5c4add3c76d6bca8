package org.tamanoir.transport;

import java.nio.ByteBuffer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The input of a simulated connection: the real buffer, and the pacing of the real connection, without a socket.
 *
 * <p>Thread contract: the owning thread of the connection's loop.
 */
public final class SimulatedInput {
    private final InputBuffer in;
    private boolean wanted = true;
    private boolean full;
    private boolean paused;

    /** An empty input. */
    public SimulatedInput(BufferPool pool) {
        this.in = new InputBuffer(pool);
    }

    /** Says whose bytes come. */
    public void ownedBy(Object owner) {
        in.ownedBy(owner);
    }

    /** As {@link TcpInput#input}. */
    public @Nullable Buffer buffer() {
        return in.buffer;
    }

    /** As {@link TcpInput#start}. */
    public int start() {
        return in.start;
    }

    /** As {@link TcpInput#end}. */
    public int end() {
        return in.end;
    }

    /** As {@link TcpInput#consumed}. */
    public void consumed(int index) {
        in.start = index;
    }

    /** As {@link TcpInput#wantInput}. */
    public void want(boolean wants) {
        wanted = wants;
    }

    /** Returns whether the socket is to be read. */
    public boolean isReading() {
        return wanted && !paused;
    }

    /** As {@link TcpInput#trim}. */
    public void trim() {
        in.shrink();
        if (full && in.hasRoom()) {
            full = false;
            paused = false;
        }
    }

    /**
     * Reads once.
     *
     * @param source puts bytes at the buffer's position, to its limit at most, and returns how many
     */
    public void read(ToIntFunction<ByteBuffer> source) {
        Buffer buffer = in.room(InputBuffer.MIN_ROOM_BYTES, false);
        int before = in.end;
        int bytes = source.applyAsInt(
                buffer.nio().duplicate().limit(buffer.capacity()).position(before));
        in.end = before + bytes;
        in.arrived(bytes, buffer.capacity() - before);
        if (buffer.capacity() >= BufferPool.LARGE_BYTES && buffer.capacity() - in.held() < InputBuffer.MIN_ROOM_BYTES) {
            paused = full;
            full = true;
        }
    }

    /** Frees what is held. */
    public void release() {
        in.release();
    }
}
