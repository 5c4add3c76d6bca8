package org.tamanoir.node.load;

import java.util.List;
import java.util.function.ToLongFunction;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;

/**
 * Runs streams on threads of their own and shows how far they are. Thread contract: one thread.
 */
final class SendProgress {
    /** Makes the report once the streams have ended. */
    interface Reporter {
        SendReport report(List<SendStream> sent, double seconds);
    }

    private final Output output;
    private final List<SendStream> streams;
    private final StopSignal stop;
    private final Runnable onStop;

    /** @param onStop ends reads that the streams wait in */
    SendProgress(Output output, List<SendStream> streams, StopSignal stop, Runnable onStop) {
        this.output = output;
        this.streams = streams;
        this.stop = stop;
        this.onStop = onStop;
    }

    SendReport run(Reporter reporter) {
        long startNs = System.nanoTime();
        Progress progress = new Progress(
                output,
                "",
                () -> sum(stream -> stream.sender().sentPackets()),
                () -> sum(stream -> stream.sender().sentBytes()));
        List<Thread> threads = streams.stream()
                .map(stream -> new Thread(stream, "send " + streams.indexOf(stream)))
                .toList();
        threads.forEach(Thread::start);
        try {
            for (Thread thread : threads) {
                await(thread, progress);
            }
        } catch (InterruptedException e) {
            streams.forEach(SendStream::stop);
            Thread.currentThread().interrupt();
        }
        for (SendStream stream : streams) {
            if (stream.isLeftOpen()) {
                output.message("send: the far side has not ended the connection: what it has read of the stream is "
                        + "not known");
            }
        }
        long lastNs = streams.stream().mapToLong(SendStream::endNs).max().orElse(startNs);
        return reporter.report(streams, (lastNs - startNs) / 1e9);
    }

    private void await(Thread thread, Progress progress) throws InterruptedException {
        while (thread.isAlive()) {
            thread.join(Progress.INTERVAL_NS / 1_000_000);
            if (stop.isStopped()) {
                streams.forEach(SendStream::stop);
                onStop.run();
            }
            progress.show();
        }
    }

    private long sum(ToLongFunction<SendStream> quantity) {
        return streams.stream().mapToLong(quantity).sum();
    }
}
