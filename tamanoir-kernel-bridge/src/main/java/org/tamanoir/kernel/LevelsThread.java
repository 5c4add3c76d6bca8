package org.tamanoir.kernel;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;

/**
 * The thread {@code levels}: reads this host's addresses every second, has levels go on that wait for packets, and looks at slots ten times a second while there
 * are any to look at. It starts in the network namespace of the thread that starts it.
 */
final class LevelsThread {
    private static final Logger LOG = LoggerFactory.getLogger(LevelsThread.class);
    private static final long ADDRESSES_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long SLOTS_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration PATIENCE = Duration.ofMillis(5_000);

    private final WayUp wayUp;
    private final AttachedLevels levels;
    private final Policies policies;
    private final Reconciler reconciler;
    private final Thread thread = new Thread(this::run, "levels");
    private volatile boolean isStopped;

    LevelsThread(WayUp wayUp, AttachedLevels levels, Policies policies, Reconciler reconciler) {
        this.wayUp = wayUp;
        this.levels = levels;
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
            // The node interrupts it never, a service of its JVM perhaps; it would not wait again.
            boolean ignored = Thread.interrupted();
            long nowNs = System.nanoTime();
            try {
                reconciler.pass(nowNs, policies::free);
                policies.endLeaving(nowNs);
                if (nowNs - addressesNs >= 0) {
                    addressesNs = nowNs + ADDRESSES_NS;
                    readAddresses();
                    proceed();
                }
            } catch (Throwable fault) {
                tell(fault);
            }
        }
    }

    private static void tell(Throwable fault) {
        try {
            LOG.error(
                    "levels: a fault of the node: {}; it goes on",
                    fault.getClass().getName(),
                    fault);
        } catch (Throwable again) {
            // Without memory there is no line, but a next round.
        }
    }

    private void proceed() {
        try {
            levels.proceed();
        } catch (LevelException refused) {
            LOG.warn("levels: {}", refused.getMessage());
        }
    }

    private void readAddresses() {
        try {
            policies.locals(wayUp.addresses());
        } catch (NetlinkException | LevelException refused) {
            LOG.warn("levels: addresses of this host: {}", refused.getMessage());
        }
    }

    /** Ends it, and waits until it has. */
    void stop() {
        isStopped = true;
        LockSupport.unpark(thread);
        Uninterruptibles.joinUninterruptibly(thread, PATIENCE);
    }
}
