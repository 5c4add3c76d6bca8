package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A piece of direct memory that a connection reads into and others write from without a copy. While bytes of it
 * wait in a connection it counts those as references.
 *
 * <p>It knows whose bytes lie in it, and its generation grows whenever they make room for others. Who keeps a place in
 * it for later keeps the generation beside, and {@linkplain #check asks} before the bytes leave: what is no longer
 * what it was, or another stream's, never does.
 *
 * <p>Thread contract: one thread at a time; handed from thread to thread with the connection that holds it.
 */
public final class Buffer {
    private final ByteBuf memory;
    private final ByteBuffer nio;
    private @Nullable Object owner;
    private int generation;
    /** Taken from its pool, and not given back. */
    private boolean taken;

    Buffer(ByteBuf memory) {
        this.memory = memory;
        this.nio = memory.nioBuffer(0, memory.capacity());
    }

    /** Returns the whole memory, big-endian; use absolute indexes, position and limit belong to nobody. */
    public ByteBuffer nio() {
        return nio;
    }

    /** Returns its size in bytes. */
    public int capacity() {
        return memory.capacity();
    }

    /**
     * Says whose bytes will lie in it.
     *
     * @param owner compared by identity; null = nobody's in particular
     */
    public Buffer ownedBy(@Nullable Object owner) {
        this.owner = owner;
        return this;
    }

    /** Returns a number that stays the same while the bytes that were put in stay what they are. */
    public int generation() {
        return generation;
    }

    /** Leaves its pool. */
    Buffer taken() {
        taken = true;
        return this;
    }

    /** Goes back to its pool: in two hands at once it would mix two streams. */
    void given() {
        if (!taken) {
            throw new IllegalStateException("memory is given back twice");
        }
        taken = false;
        owner = null;
        generation++;
    }

    /** Says that its bytes make room for others. */
    void renew() {
        generation++;
    }

    /**
     * Checks that bytes which were put in then, by this owner, are still there.
     *
     * @throws IllegalStateException if they are not; it is a fault of the program, and nothing may be sent
     */
    public void check(@Nullable Object owner, int generation) {
        if (this.owner != owner || this.generation != generation) {
            throw new IllegalStateException("bytes to send are gone: their memory belongs to " + this.owner
                    + ", generation " + this.generation + ", and belonged to " + owner + ", generation " + generation);
        }
    }

    ByteBuf memory() {
        return memory;
    }

    /** Keeps the memory as it is until {@link #unpin}, whatever the connection that read into it does. */
    public void pin() {
        memory.retain();
    }

    /** Ends {@link #pin}. */
    public void unpin() {
        memory.release();
    }

    /** Returns whether bytes of it still wait in a connection. */
    public boolean isReferenced() {
        return memory.refCnt() > 1;
    }
}
