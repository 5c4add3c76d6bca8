package org.tamanoir.node.element;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.load.Progress;
import picocli.CommandLine.Option;

/** How long an end of the element runs, and how it tells. Thread contract: filled in by picocli, then one thread. */
final class EndOptions {
    /** What a stopped command may take to tell its result. */
    static final Duration STOP_GRACE = Duration.ofSeconds(10);

    private static final long POLL_NS = 20_000_000;

    @Option(names = "--count", paramLabel = "N", converter = Converters.Count.class)
    private @Nullable Long count;

    @Option(names = "--duration", paramLabel = "T", converter = Converters.Time.class)
    private @Nullable Duration duration;

    @Option(names = "--json")
    boolean json;

    /**
     * Runs an end on a thread of its own until it is told to stop, enough has come, or the time is over.
     *
     * @param run returns after {@code stop}, or when it cannot go on
     * @param packets that have come
     * @param bytes of those
     * @return seconds that it ran
     */
    double run(Runnable run, Runnable stop, LongSupplier packets, LongSupplier bytes, StopSignal signal, Output output)
            throws InterruptedException {
        long startNs = System.nanoTime();
        Thread thread = new Thread(run, "element");
        thread.setDaemon(true);
        thread.start();
        try {
            Progress progress = new Progress(output, "", packets, bytes);
            while (!signal.await(POLL_NS) && thread.isAlive() && !isOver(packets.getAsLong(), startNs)) {
                progress.show();
            }
        } finally {
            stop.run();
            thread.join();
        }
        return (System.nanoTime() - startNs) / 1e9;
    }

    private boolean isOver(long packets, long startNs) {
        return count != null && packets >= count
                || duration != null && System.nanoTime() - startNs >= duration.toNanos();
    }
}
