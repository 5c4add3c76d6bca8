package org.tamanoir.transport;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * A piece of direct memory that a connection reads into and others write from without a copy. While octets of it
 * wait in a connection it counts those as references.
 *
 * <p>Thread contract: one thread at a time; handed from thread to thread with the connection that holds it.
 */
public final class Buffer {
    private final ByteBuf memory;
    private final ByteBuffer nio;

    Buffer(ByteBuf memory) {
        this.memory = memory;
        this.nio = memory.nioBuffer(0, memory.capacity());
    }

    /** The whole memory, big-endian; use absolute indexes, position and limit belong to nobody. */
    public ByteBuffer nio() {
        return nio;
    }

    /** Octets. */
    public int capacity() {
        return memory.capacity();
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

    /** Whether octets of it still wait in a connection. */
    public boolean isReferenced() {
        return memory.refCnt() > 1;
    }
}
