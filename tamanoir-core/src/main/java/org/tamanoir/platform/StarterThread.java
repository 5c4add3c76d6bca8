package org.tamanoir.platform;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    @Override
    public void run(Runnable starting) {
        Future<?> started = Thread.currentThread() instanceof Background ? submit(starting) : null;
        if (started == null) {
            starting.run();
        } else {
            await(started);
        }
    }

    /** Returns null when it cannot be, since the node stops or too much waits. */
    private @Nullable Future<?> submit(Runnable starting) {
        try {
            return one.submit(starting);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    private static void await(Future<?> started) {
        try {
            started.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new IllegalStateException("a Runnable throws no checked exception", e);
        } catch (TimeoutException e) {
            started.cancel(false);
            throw new IllegalStateException("no thread was started in " + PATIENCE_MS + " ms", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted before a thread was started", e);
        }
    }

    @Override
    public void close() {
        one.shutdown();
    }
}
