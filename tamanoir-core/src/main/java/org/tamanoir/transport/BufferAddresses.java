package org.tamanoir.transport;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where the direct buffers lie that a sender met lately, by identity: asking JNA allocates. It holds the buffers, so
 * that their memory lives until it forgets them.
 *
 * <p>Thread contract: one thread.
 */
final class BufferAddresses {
    private static final int LIMIT = 32;

    private final @Nullable ByteBuffer[] buffers = new ByteBuffer[LIMIT];
    private final long[] addresses = new long[LIMIT];
    private int count;
    private int last;

    /** Returns the address of the buffer's index 0; 0 when the buffer is not known. */
    long find(ByteBuffer buffer) {
        if (buffers[last] == buffer) {
            return addresses[last];
        }
        for (int i = 0; i < count; i++) {
            if (buffers[i] == buffer) {
                last = i;
                return addresses[i];
            }
        }
        if (count == LIMIT) {
            return 0;
        }
        return remember(buffer);
    }

    /** Forgets the others when there is no room. */
    long remember(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("buffer on the heap; the kernel reads from direct buffers only");
        }
        if (count == LIMIT) {
            Arrays.fill(buffers, null);
            count = 0;
        }
        last = count++;
        buffers[last] = buffer;
        addresses[last] = MessageArray.addressOf(buffer);
        return addresses[last];
    }
}
