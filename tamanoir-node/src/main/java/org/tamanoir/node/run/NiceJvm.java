package org.tamanoir.node.run;

import java.time.Duration;
import java.util.List;
import org.tamanoir.transport.JvmThreads;

/**
 * Makes the JVM's compiler and collector threads nicer than those of streams, and does so again later: the JVM starts
 * more collectors when it first needs them, which it mostly does in its first minutes.
 *
 * <p>Thread contract: a thread of its own, which ends after the last time.
 */
final class NiceJvm implements Runnable {
    private static final List<Duration> AFTER =
            List.of(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMinutes(1), Duration.ofMinutes(5));

    private final int nice;

    /** @param nice as {@link JvmThreads#nicer} takes it */
    NiceJvm(int nice) {
        this.nice = nice;
    }

    @Override
    public void run() {
        JvmThreads.nicer(nice);
        try {
            for (Duration pause : AFTER) {
                Thread.sleep(pause.toMillis());
                JvmThreads.nicer(nice);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // Of those that come, some stay as they are.
        }
    }
}
