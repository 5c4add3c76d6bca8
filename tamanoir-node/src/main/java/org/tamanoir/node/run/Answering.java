package org.tamanoir.node.run;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.transport.LocalSocket;

/**
 * Accepts processes that take over, one after another, until it is closed. Where that fails, for want of descriptors for
 * instance, it tries again after a pause, and says so once for each cause.
 *
 * <p>Thread contract: a thread of its own; any counts the latch down.
 */
final class Answering implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Answering.class);
    private static final long PAUSE_MS = 1_000;

    /** Waits for a process. */
    interface Accepting {
        LocalSocket accept() throws IOException;
    }

    private final Accepting listener;
    private final Consumer<LocalSocket> answer;
    private final CountDownLatch closed;

    Answering(Accepting listener, Consumer<LocalSocket> answer, CountDownLatch closed) {
        this.listener = listener;
        this.answer = answer;
        this.closed = closed;
    }

    @Override
    public void run() {
        String told = "";
        while (closed.getCount() > 0) {
            try {
                answer.accept(listener.accept());
                told = "";
            } catch (IOException | RuntimeException e) {
                String cause = e.toString();
                if (closed.getCount() > 0 && !cause.equals(told)) {
                    told = cause;
                    LOG.warn("hand-over: no process is answered, and this node goes on: {}", e.getMessage());
                }
                pause();
            }
        }
    }

    private void pause() {
        try {
            closed.await(PAUSE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            // A service's doing: the node interrupts nobody here.
        }
    }
}
