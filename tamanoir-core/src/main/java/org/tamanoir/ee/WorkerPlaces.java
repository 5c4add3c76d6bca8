package org.tamanoir.ee;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a service by their places, and which of them rest: a worker that finds nothing ready says so by a bit;
 * who makes a job ready clears one of the bits and wakes that worker.
 *
 * <p>Thread contract: any thread, without locks; {@link #free}, {@link #put} and {@link #remove} one at a time.
 */
final class WorkerPlaces {
    /** As there are bits for. */
    static final int MAX_WORKERS = 64;

    private final AtomicReferenceArray<@Nullable UdpService> workers = new AtomicReferenceArray<>(MAX_WORKERS);
    /** A bit for each worker that rests since it found nothing ready. */
    private final AtomicLong idle = new AtomicLong();

    /** Returns a place that nobody has; there is one while there are fewer workers than {@link #MAX_WORKERS}. */
    int free() {
        int index = 0;
        while (workers.get(index) != null) {
            index++;
        }
        return index;
    }

    void put(int index, UdpService worker) {
        workers.set(index, worker);
    }

    void remove(int index) {
        workers.set(index, null);
        change(1L << index, 0);
    }

    /** Returns a place that somebody has; there is one while there are workers. */
    int any() {
        int index = 0;
        while (workers.get(index) == null) {
            index++;
        }
        return index;
    }

    void forEach(Consumer<UdpService> action) {
        for (int i = 0; i < MAX_WORKERS; i++) {
            UdpService worker = workers.get(i);
            if (worker != null) {
                action.accept(worker);
            }
        }
    }

    /** Takes note that a worker finds nothing ready, before it looks once more and rests. */
    void idle(int index) {
        change(0, 1L << index);
    }

    /** Takes note that a worker rests no more; returns whether nobody has woken it. */
    boolean busy(int index) {
        return (change(1L << index, 0) & 1L << index) != 0;
    }

    private long change(long without, long with) {
        long before;
        do {
            before = idle.get();
        } while (!idle.compareAndSet(before, before & ~without | with));
        return before;
    }

    boolean isAnyIdle() {
        return idle.get() != 0;
    }

    /** Wakes a worker that rests, if there is one. */
    void wakeOne() {
        long resting = idle.get();
        while (resting != 0) {
            int index = Long.numberOfTrailingZeros(resting);
            if (idle.compareAndSet(resting, resting & resting - 1)) {
                UdpService worker = workers.get(index);
                if (worker != null) {
                    worker.loop.wakeup();
                    return;
                }
            }
            resting = idle.get();
        }
    }

    void wakeAll() {
        forEach(worker -> worker.loop.wakeup());
    }
}
