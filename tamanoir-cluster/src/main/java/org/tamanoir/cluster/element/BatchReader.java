package org.tamanoir.cluster.element;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * Reads a socket in batches, each as one call.
 *
 * <p>Thread contract: {@link #run} on one thread; {@link #stop} from any.
 */
final class BatchReader implements Runnable {
    /** Bounds how long {@link #stop} goes unnoticed. */
    private static final long WAIT_NS = 50_000_000;

    /** Batches that are still read once it is to stop: what a full receive buffer holds, and a sender that goes on. */
    private static final int LAST_BATCHES = 256;

    /** Handles what comes. */
    interface Handler {
        /** Handles a batch; its memory is overwritten by the next one. */
        void take(UdpBatch batch, int messages);

        /** Does what is due when nothing comes, and returns how long it can wait, in ns. */
        long idle();
    }

    private final UdpSocket socket;
    private final UdpBatch batch;
    private final Handler handler;
    private volatile boolean stopping;
    private volatile @Nullable String failure;

    BatchReader(UdpSocket socket, Handler handler) {
        this.socket = socket;
        this.batch = socket.newBatch();
        this.handler = handler;
    }

    /** Reads until {@link #stop}, and then what has come already. */
    @Override
    public void run() {
        try {
            int last = 0;
            while (last < LAST_BATCHES) {
                boolean wasStopping = stopping;
                int messages = socket.receive(batch);
                if (messages > 0) {
                    handler.take(batch, messages);
                } else if (wasStopping) {
                    return;
                } else {
                    socket.awaitReadable(Duration.ofNanos(Math.min(WAIT_NS, handler.idle())));
                }
                last += wasStopping ? 1 : 0;
            }
        } catch (IOException e) {
            failure = e.getMessage() == null ? e.toString() : e.getMessage();
        }
    }

    void stop() {
        stopping = true;
    }

    /** Returns why it ended before it was to; null when it did not. */
    @Nullable
    String failure() {
        return failure;
    }
}
