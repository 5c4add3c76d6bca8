package org.tamanoir.platform;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One thread, begun by whoever makes this and as that is, from which threads are started in place of background ones. */
final class StarterThread implements Starter {
    /** Who waits has one entry; beyond that threads are started by their callers. */
    private static final int MAX_WAITING = 256;

    private static final long PATIENCE_MS = 5_000;

    private final ThreadPoolExecutor one;

    StarterThread(ThreadFactory threads) {
        this.one = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_WAITING), threads);
        one.prestartCoreThread();
    }

    /** What is to be started: by the thread that has begun it, or else by nobody. */
    private record Start(Runnable starting, AtomicBoolean isClaimed) implements Runnable {
        @Override
        public void run() {
            if (isClaimed.compareAndSet(false, true)) {
                starting.run();
            }
        }

        /** Returns whether it has not begun, and so never will. */
        boolean withdraw() {
            return isClaimed.compareAndSet(false, true);
        }
    }

    @Override
    public void run(Runnable starting) {
        Start start = new Start(starting, new AtomicBoolean());
        Future<?> started = Thread.currentThread() instanceof Background ? submit(start) : null;
        if (started == null) {
            starting.run();
        } else {
            await(started, start);
        }
    }

    /** Returns null when it cannot be, since the node stops or too much waits. */
    private @Nullable Future<?> submit(Start start) {
        try {
            return one.submit(start);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    /** Waits for its end, whoever interrupts; one that does not begin in time is withdrawn. */
    private static void await(Future<?> started, Start start) {
        boolean isInterrupted = false;
        try {
            while (!isDone(started)) {
                if (Thread.interrupted()) {
                    isInterrupted = true;
                } else if (start.withdraw()) {
                    throw new IllegalStateException("no thread was started in " + PATIENCE_MS + " ms");
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for it; false when it took too long, or the thread was interrupted, which it is then again. */
    private static boolean isDone(Future<?> started) {
        try {
            started.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new IllegalStateException("a Runnable throws no checked exception", e);
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        one.shutdown();
    }
}
