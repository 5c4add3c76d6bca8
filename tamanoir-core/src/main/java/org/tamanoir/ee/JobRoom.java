package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.tamanoir.transport.Buffer;

/**
 * Jobs that are free, and memory for their packets: what bounds the packets of one kind, and of one stream among them.
 *
 * <p>A stream may have as many jobs, and as many units of memory, as are free: the dynamic threshold of Choudhury and
 * Hahne ("Dynamic queue length thresholds for shared-memory packet switches", 1998) with a factor of 1. So one stream
 * behind a packet that takes long comes to half of each, two come to a third, and there is room for others:
 *
 * <pre>
 * jobs of a stream &lt; free jobs, units of a stream &lt; free units, before a packet is taken
 * </pre>
 *
 * <p>Thread contract: {@link #take} one thread at a time; all else any thread.
 */
final class JobRoom {
    private static final int NONE = -1;
    /** By job, one more in the upper half of a stream's share; the lower half has units of memory. */
    private static final long ONE_JOB = 1L << 32;

    final JobMemory memory;
    private final int first;
    /** By free job, from the first on: the next free one. */
    private final int[] below;

    private final AtomicInteger free;
    private final AtomicInteger inUse = new AtomicInteger();
    /** By stream, as far as there are jobs: what it has. Streams that meet here have one share. Empty = no bound. */
    private final AtomicLongArray shares;

    /**
     * Makes the room of so many jobs, all free, whose packets lie in this buffer; it stays the caller's.
     *
     * @param isShared whether a stream may have no more than its share
     */
    JobRoom(int first, int jobs, Buffer buffer, boolean isShared) {
        this.memory = new JobMemory(buffer);
        this.first = first;
        this.below = new int[jobs];
        for (int i = 0; i < jobs; i++) {
            below[i] = i + 1 < jobs ? first + i + 1 : NONE;
        }
        this.free = new AtomicInteger(first);
        this.shares = new AtomicLongArray(isShared ? Integer.highestOneBit(jobs) : 0);
    }

    /**
     * Takes a job for a packet of this stream, which is copied to where {@code offsets} tells then; -1 when there is no
     * room.
     */
    int take(ByteBuffer bytes, int offset, int length, int stream, int[] offsets) {
        int job = free.get();
        if (job == NONE || exceedsShare(stream)) {
            return NONE;
        }
        int at = memory.put(bytes, offset, length);
        if (at == NONE) {
            return NONE;
        }
        while (!free.compareAndSet(job, below[job - first])) {
            job = free.get(); // Others give jobs back, none but this thread takes any.
        }
        offsets[job] = at;
        inUse.incrementAndGet();
        share(stream, ONE_JOB + JobMemory.units(length));
        return job;
    }

    private boolean exceedsShare(int stream) {
        if (shares.length() == 0) {
            return false;
        }
        long share = shares.get(stream & shares.length() - 1);
        return share >>> 32 >= below.length - inUse.get() || (int) share >= memory.freeUnits();
    }

    private void share(int stream, long more) {
        if (shares.length() > 0) {
            shares.addAndGet(stream & shares.length() - 1, more);
        }
    }

    /** Takes note that a packet has been handled, before its job is {@linkplain #free given back}. */
    void end(int stream, int length) {
        share(stream, -ONE_JOB - JobMemory.units(length));
    }

    /** Takes note that the job of one has ended, whoever frees it. */
    void ended() {
        inUse.decrementAndGet();
    }

    /** Returns how many jobs have been taken and have not ended. */
    int inUse() {
        return inUse.get();
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
