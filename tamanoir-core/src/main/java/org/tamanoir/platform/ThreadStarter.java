package org.tamanoir.platform;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Starts threads from one of its own. On Linux a thread inherits nice value and policy of the one that starts it, and
 * without a privilege never gets rid of a higher nice value: what a thread starts that loads code, or answers for the
 * node, would run services as that does.
 *
 * <p>Thread contract: any thread; {@link #begin} one that has no rank.
 */
final class ThreadStarter {
    private ThreadStarter() {}

    /** Its queue has no more than one entry for each thread that waits. After a failure one is started by the one before. */
    private static final ThreadPoolExecutor ONE = new ThreadPoolExecutor(
            1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), body -> daemon("starter", body));

    /** Starts the thread that starts others, once. */
    static void begin() {
        ONE.prestartCoreThread();
    }

    private static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Makes a daemon thread that begins without its starter's rank. */
    static Thread newThread(String name, Runnable body) {
        Thread thread = new Thread(body, name) {
            @Override
            public void start() {
                await(super::start);
            }
        };
        thread.setDaemon(true);
        return thread;
    }

    /** Starts a thread and waits for that; throws what {@link Thread#start} does. */
    static void start(Thread thread) {
        await(thread::start);
    }

    private static void await(Runnable start) {
        try {
            CompletableFuture.runAsync(start, ONE).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
