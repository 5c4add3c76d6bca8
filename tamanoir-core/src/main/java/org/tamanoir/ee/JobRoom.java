package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.tamanoir.transport.Buffer;

/**
 * Jobs that are free, and memory for their packets: what bounds the packets of one kind.
 *
 * <p>Thread contract: {@link #take} one thread at a time; {@link #free} any thread.
 */
final class JobRoom {
    private static final int NONE = -1;

    final JobMemory memory;
    private final int first;
    /** By free job, from the first on: the next free one. */
    private final int[] below;

    private final AtomicInteger free;

    /** Makes the room of so many jobs, all free, whose packets lie in this buffer; it stays the caller's. */
    JobRoom(int first, int jobs, Buffer buffer) {
        this.memory = new JobMemory(buffer);
        this.first = first;
        this.below = new int[jobs];
        for (int i = 0; i < jobs; i++) {
            below[i] = i + 1 < jobs ? first + i + 1 : NONE;
        }
        this.free = new AtomicInteger(first);
    }

    /** Takes a job for a packet, which is copied to where {@code offsets} tells then; -1 when there is no room. */
    int take(ByteBuffer bytes, int offset, int length, int[] offsets) {
        int job = free.get();
        int at = job == NONE ? NONE : memory.put(bytes, offset, length);
        if (at == NONE) {
            return NONE;
        }
        while (!free.compareAndSet(job, below[job - first])) {
            job = free.get(); // Others give jobs back, none but this thread takes any.
        }
        offsets[job] = at;
        return job;
    }

    /** Gives a job back; its memory has a time of its own. */
    void free(int job) {
        int top;
        do {
            top = free.get();
            below[job - first] = top;
        } while (!free.compareAndSet(top, job));
    }
}
