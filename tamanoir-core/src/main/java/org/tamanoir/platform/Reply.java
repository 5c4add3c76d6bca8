package org.tamanoir.platform;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of something that another thread does for the one that made this.
 *
 * <p>Thread contract: {@link #make} the other thread, once; all else the thread that made this.
 */
public final class Reply<T> {
    private final Platform platform;
    private final Thread asker = Thread.currentThread();
    private @Nullable T value;
    private @Nullable Throwable failure;
    private volatile boolean done;

    public Reply(Platform platform) {
        this.platform = platform;
    }

    /** Does it, and tells the asker what came of it; a failure is the asker's matter. */
    public void make(Callable<T> task) {
        try {
            value = task.call();
        } catch (Throwable e) {
            failure = e;
        } finally {
            done = true;
            platform.unpark(asker);
        }
    }

    /**
     * Waits, bounded, for the outcome. An interrupt does not end the wait, and stays.
     *
     * @return null when it failed, or has not come in time
     */
    @Nullable
    public T await(long ms) {
        long beganNs = platform.nanoTime();
        boolean interrupted = false;
        long leftNs;
        while (!done && (leftNs = TimeUnit.MILLISECONDS.toNanos(ms) - (platform.nanoTime() - beganNs)) > 0) {
            platform.park(this, leftNs);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return done ? value : null;
    }

    /** Returns what it failed by; null while it has not. */
    @Nullable
    public Throwable failure() {
        return done ? failure : null;
    }
}
