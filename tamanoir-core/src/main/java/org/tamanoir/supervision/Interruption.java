package org.tamanoir.supervision;

import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Platform;

/**
 * Interrupts a thread that runs foreign code, from a thread of its own: an interrupt closes the channel that the other
 * thread waits in, and how a channel closes is, in a channel of the service's own making, foreign code.
 *
 * <p>Thread contract: any thread; what is to be done {@code then} is done on the thread that interrupts.
 */
final class Interruption implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Interruption.class);
    /** That have not returned; beyond that many, threads are no longer interrupted. */
    private static final int MAX_PENDING = 64;

    private static final AtomicInteger PENDING = new AtomicInteger();

    private final Thread interrupted;
    private final Runnable then;

    private Interruption(Thread interrupted, Runnable then) {
        this.interrupted = interrupted;
        this.then = then;
    }

    /**
     * Begins to interrupt; returns at once.
     *
     * @param then called when the interrupt is over, which may be never
     * @return false when there is no thread for that: the other one is not interrupted, {@code then} not called
     */
    static boolean begin(Platform platform, Thread interrupted, Runnable then) {
        if (PENDING.incrementAndGet() > MAX_PENDING) {
            PENDING.decrementAndGet();
            return false;
        }
        try {
            platform.newThread("interrupts", new Interruption(interrupted, then))
                    .start();
            return true;
        } catch (OutOfMemoryError e) {
            PENDING.decrementAndGet();
            LOG.warn("no thread to be had to interrupt {}", interrupted.getName());
            return false;
        }
    }

    @Override
    public void run() {
        try {
            interrupted.interrupt();
        } catch (Throwable e) {
            LOG.debug("{}: its channel does not close", interrupted.getName(), ForeignFailure.of(e));
        } finally {
            PENDING.decrementAndGet();
            then.run();
        }
    }
}
