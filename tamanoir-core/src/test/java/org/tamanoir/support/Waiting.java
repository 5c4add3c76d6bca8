package org.tamanoir.support;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits of tests, each with a bound. Any thread. */
public final class Waiting {
    /** Bounds a wait for what comes at once on a quiet machine. */
    public static final Duration PATIENCE = Duration.ofSeconds(40);

    private static final Duration INTERVAL = Duration.ofMillis(5);

    private Waiting() {}

    /** Returns a wait that looks at once, and then every 5 ms for 40 s. */
    public static ConditionFactory eventually() {
        return Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(INTERVAL)
                .atMost(PATIENCE);
    }

    /**
     * Runs code on a thread of its own: in the common pool, which has a single thread on two processors, it would wait
     * for whatever another test left there.
     */
    public static <T> CompletableFuture<T> async(Callable<T> code) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        result.complete(code.call());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                },
                "async of a test");
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    /** Runs code that gives nothing, as {@link #async(Callable)} does. */
    public static CompletableFuture<Void> async(Action code) {
        return async(() -> {
            code.run();
            return null;
        });
    }

    /** Code that gives nothing. */
    public interface Action {
        /** Runs it. */
        void run() throws Exception;
    }
}
