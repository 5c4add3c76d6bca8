package org.tamanoir.node.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * SIGINT and SIGTERM as a wish to stop: a command that runs until then still gets to tell its result.
 *
 * <p>Thread contract: any thread.
 */
public final class StopSignal implements AutoCloseable {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch told = new CountDownLatch(1);
    private final Thread hook;

    /** @param grace how long the process may live on after the signal */
    public StopSignal(Duration grace) {
        hook = new Thread(() -> onSignal(grace), "stop-signal");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void onSignal(Duration grace) {
        stopped.countDown();
        try {
            if (!told.await(grace.toMillis(), TimeUnit.MILLISECONDS)) {
                System.err.println(
                        "stopped before the result was there: it took longer than " + grace.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public boolean isStopped() {
        return stopped.getCount() == 0;
    }

    /** Waits; true when the signal has come. */
    public boolean await(long timeoutNs) throws InterruptedException {
        return stopped.await(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /** The result is told. */
    @Override
    public void close() {
        told.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The signal has come: the hook runs, and ends by the line above.
        }
    }
}
