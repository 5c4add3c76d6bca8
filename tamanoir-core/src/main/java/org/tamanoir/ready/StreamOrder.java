package org.tamanoir.ready;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Lets one job of a stream go at a time, in the order in which they came: a linked list of jobs for each stream, of
 * which the first one goes. Jobs and streams are indexes. Whoever comes second of an appender and a finisher that meet
 * at one job does what is left to do, so none waits for the other.
 *
 * <p>Thread contract: any thread, without locks; {@link #successor} and {@link #finish} only for a job that goes, and
 * its holder.
 */
public final class StreamOrder {
    /** There is none. */
    public static final int NONE = -1;
    /** The job goes on belonging to the list; who appends behind it frees it. */
    public static final int LEFT = -2;
    /** The job waits for those before it. */
    public static final int WAITS = -3;

    private static final VarHandle ITEM = MethodHandles.arrayElementVarHandle(int[].class);

    /** By stream: the last job, {@link #NONE} when there is none. */
    private final int[] tails;
    /** By job: the one behind it, {@link #NONE}, or {@link #LEFT} when the job has finished before there was one. */
    private final int[] next;

    /** Makes lists for so many streams of jobs below {@code jobs}. */
    public StreamOrder(int streams, int jobs) {
        tails = new int[streams];
        Arrays.fill(tails, NONE);
        next = new int[jobs];
    }

    /**
     * Puts a job behind those of its stream.
     *
     * @return {@link #WAITS}; or that it may go: {@link #NONE}, or the job before it, which the caller is to free
     */
    public int append(int stream, int job) {
        ITEM.set(next, job, NONE);
        int last = (int) ITEM.getAndSet(tails, stream, job);
        if (last == NONE) {
            return NONE;
        }
        return (int) ITEM.getAndSet(next, last, job) == LEFT ? last : WAITS;
    }

    /** Returns the job behind this one, as far as one is known; {@link #finish} is not to be called for this one then. */
    public int successor(int job) {
        return (int) ITEM.getAcquire(next, job);
    }

    /**
     * Ends a job's turn.
     *
     * @return the job that may go now; or {@link #NONE}; or {@link #LEFT}, where the caller must not free the job
     */
    public int finish(int stream, int job) {
        if (ITEM.compareAndSet(tails, stream, job, NONE)) {
            return NONE;
        }
        int behind = (int) ITEM.getAndSet(next, job, LEFT);
        return behind == NONE ? LEFT : behind;
    }
}
