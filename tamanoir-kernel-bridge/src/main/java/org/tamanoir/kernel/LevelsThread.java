package org.tamanoir.kernel;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;

/**
 * The thread {@code levels}: reads this host's addresses every second, and looks at slots ten times a second while there
 * are any to look at. It starts in the network namespace of the thread that starts it.
 */
final class LevelsThread {
    private static final Logger LOG = LoggerFactory.getLogger(LevelsThread.class);
    private static final long ADDRESSES_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long SLOTS_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long PATIENCE_MS = 5_000;

    private final RouteNetlink routes;
    private final Policies policies;
    private final Reconciler reconciler;
    private final Thread thread = new Thread(this::run, "levels");
    private volatile boolean isStopped;

    LevelsThread(RouteNetlink routes, Policies policies, Reconciler reconciler) {
        this.routes = routes;
        this.policies = policies;
        this.reconciler = reconciler;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        long addressesNs = System.nanoTime() + ADDRESSES_NS;
        while (!isStopped) {
            LockSupport.parkNanos(reconciler.isBusy() ? SLOTS_NS : ADDRESSES_NS);
            long nowNs = System.nanoTime();
            lookAtSlots(nowNs);
            if (nowNs - addressesNs >= 0) {
                addressesNs = nowNs + ADDRESSES_NS;
                readAddresses();
            }
        }
    }

    private void lookAtSlots(long nowNs) {
        try {
            reconciler.pass(nowNs, policies::free);
        } catch (RuntimeException fault) {
            LOG.error("levels: a fault of the node; it goes on", fault);
        }
    }

    private void readAddresses() {
        try {
            policies.locals(routes.addresses());
        } catch (NetlinkException | LevelException refused) {
            LOG.warn("levels: addresses of this host: {}", refused.getMessage());
        }
    }

    /** Ends it, and waits until it has. */
    void stop() {
        isStopped = true;
        LockSupport.unpark(thread);
        try {
            thread.join(PATIENCE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
