package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.BufferPool;

/**
 * One worker's view of the jobs that several share. It takes up to 8 ready jobs of one priority at once, and behind each
 * those of the same stream that have come meanwhile, 8 in a row; all of them are sent, and ended, together, so that no
 * other worker sends a later packet of the stream before. When a job is ready that goes before all others, what was
 * handled leaves, then that one is handled, and leaves by itself.
 *
 * <p>Thread contract: as {@link UdpInbox}.
 */
final class WorkerInbox implements UdpInbox {
    private static final int TAKEN = 8;
    private static final int IN_A_ROW = 8;

    private final PacketWorkers workers;
    private final PacketJobs jobs;
    private final int index;
    private final ByteBuffer bytes;
    private final ByteBuffer controlBytes;

    private final int[] taken = new int[TAKEN];
    private int takenCount;
    private int takenNext;
    /** One that goes before what was taken. */
    private final int[] first = new int[1];
    /** Jobs that were gone to since the last release, in their order. */
    private final int[] handled = new int[TAKEN * IN_A_ROW];
    /** Where their packets lie; a job may be another packet's when it is ended. */
    private final int[] offsets = new int[TAKEN * IN_A_ROW];

    private int handledCount;
    /** Of these, those that have been ended. */
    private int ended;

    private int row;
    private int current = -1;

    /** It has said that it rests. */
    private boolean rests;
    /** It has had a packet. */
    private boolean hasWorked;
    /** There is to be another one in its place. */
    private boolean isLost;
    /** It takes no more. */
    private boolean left;
    /** It was the last that left. */
    private boolean drains;

    WorkerInbox(PacketWorkers workers, PacketJobs jobs, int index) {
        this.workers = workers;
        this.jobs = jobs;
        this.index = index;
        this.bytes = jobs.memory().nio().duplicate();
        this.controlBytes = jobs.controlMemory().nio().duplicate();
    }

    @Override
    public boolean next(Arrival arrival) {
        if (left) {
            endDrained();
        }
        int job = left ? drained() : another();
        if (job < 0) {
            return false;
        }
        current = job;
        jobs.arrival(job, arrival);
        return true;
    }

    private int another() {
        if (!workers.isOpen(index)) {
            return -1;
        }
        if (handledCount > 0 && (jobs.isFirst(current) || jobs.isFirstReady())) {
            return -1;
        }
        int job = handledCount > 0 && row < IN_A_ROW ? jobs.successor(current) : -1;
        if (job >= 0) {
            row++;
        } else {
            job = takenNext < takenCount ? firstOrTaken() : fresh();
            row = 1;
        }
        if (job >= 0) {
            hasWorked = true;
            handled[handledCount] = job;
            offsets[handledCount++] = jobs.offset(job);
        }
        return job;
    }

    private int firstOrTaken() {
        boolean mayWait = handledCount == 0 && !jobs.isFirst(taken[takenNext]);
        return mayWait && jobs.isFirstReady() && jobs.takeFirst(first) ? first[0] : taken[takenNext++];
    }

    /** Returns the first of newly taken jobs; none before all earlier ones have been sent. */
    private int fresh() {
        if (handledCount > 0) {
            return -1;
        }
        if (rests) {
            rests = false;
            workers.places.busy(index);
        }
        // What is taken waits while the service is in its code: not where another worker could have it.
        takenCount = jobs.take(taken, workers.places.isAnyIdle() ? 1 : TAKEN);
        takenNext = 1;
        return takenCount == 0 ? -1 : taken[0];
    }

    /** Only now: between its look and here the thread may have been in its service's code, for a timer or a resumed packet. */
    @Override
    public boolean mayRest() {
        if (left || !workers.isOpen(index)) {
            return true;
        }
        if (takenNext >= takenCount) {
            rests = true;
            workers.places.idle(index); // Who makes a job ready from now on wakes this thread.
            takenNext = 0;
            takenCount = jobs.take(taken, 1);
            if (takenCount > 0) {
                rests = false;
                if (!workers.places.busy(index)) {
                    workers.places.wakeOne(); // In its place: what it was woken for may be another job.
                }
            }
        }
        return takenCount == 0;
    }

    @Override
    public ByteBuffer bytes() {
        return jobs.isControl(current) ? controlBytes : bytes;
    }

    @Override
    public int offset() {
        return jobs.offset(current);
    }

    @Override
    public int length() {
        return jobs.length(current);
    }

    @Override
    public void release() {
        endHandled();
        for (int i = 0; i < handledCount; i++) {
            jobs.release(handled[i], offsets[i]);
        }
        handledCount = 0;
        ended = 0;
    }

    private void endHandled() {
        int more = 0;
        for (; ended < handledCount; ended++) {
            int job = handled[ended];
            if (ended + 1 < handledCount && jobs.successor(job) == handled[ended + 1]) {
                jobs.endLinked(job);
            } else if (jobs.end(job)) {
                more++;
            }
        }
        workers.ended(more - 1); // One is for this thread.
    }

    @Override
    public void forsake() {
        isLost = hasWorked; // In the place of one that never does none comes, but when its thread has ended.
        close();
    }

    @Override
    public void leaveToAnother() {
        isLost = true;
        close();
    }

    /** Leaves its jobs to others; the last worker drops what is left for any. */
    @Override
    public void close() {
        if (left) {
            return;
        }
        left = true;
        endHandled();
        while (takenNext < takenCount) {
            jobs.makeReady(taken[takenNext++]);
        }
        current = -1;
        drains = workers.leave(index, isLost);
    }

    private int drained() {
        return drains && jobs.take(taken, 1) == 1 ? taken[0] : -1;
    }

    private void endDrained() {
        if (current >= 0) {
            int job = current;
            int offset = jobs.offset(job);
            jobs.end(job);
            jobs.release(job, offset);
            current = -1;
        }
    }

    @Override
    public boolean takeHeld(List<UdpIntake.Held> packets) {
        return workers.takeHeld(packets);
    }

    @Override
    public @Nullable DropReason offer(Packet packet, Arrival from) {
        return workers.offer(packet, from);
    }

    @Override
    public boolean isClosed() {
        return left || jobs.isClosed();
    }

    @Override
    public boolean isEmpty() {
        return left && !drains || workers.isEmpty();
    }

    @Override
    public boolean hasHeld() {
        return (!left || drains) && workers.hasHeld(index);
    }

    @Override
    public byte @Nullable [] nextHeld(Arrival arrival) {
        byte[] oldest = left && !drains ? null : workers.nextHeld(index, arrival);
        hasWorked |= oldest != null;
        return oldest;
    }

    @Override
    public boolean isShared() {
        return true;
    }

    @Override
    public void free(BufferPool pool, boolean wasGivenUp) {
        workers.freed(pool, wasGivenUp);
    }
}
