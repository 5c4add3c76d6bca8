package org.tamanoir.node.run;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.manager.ActiveNodeManager;

/**
 * Looks once a second whether another process has revoked something, while one process takes the place of the other
 * and both serve.
 *
 * <p>Thread contract: a background thread runs it; any thread closes it.
 */
final class RevocationWatch implements Runnable, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RevocationWatch.class);

    private final ActiveNodeManager manager;
    private final CountDownLatch closed = new CountDownLatch(1);
    private boolean isReported;

    RevocationWatch(ActiveNodeManager manager) {
        this.manager = manager;
    }

    @Override
    public void run() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                look();
            }
        } catch (InterruptedException e) {
            LOG.warn("somebody interrupted the thread that looks for revocations by other processes: it ends");
        }
    }

    private void look() {
        try {
            manager.revokedElsewhere();
            isReported = false;
        } catch (RuntimeException e) {
            LOG.error("what another process revokes has not taken effect, and is tried again: {}", e, e);
        } catch (IOException e) {
            if (!isReported) {
                LOG.error("{}; what another process revokes is not known", e.getMessage());
            }
            isReported = true;
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
