package org.tamanoir.kernel;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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
    /** Why a step was refused the last time, by its name; empty if it was not. The thread's own. */
    private final Map<String, String> refusals = new HashMap<>();

    private interface Step {
        void take() throws NetlinkException, LevelException;
    }

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
                    attempt("levels: addresses of this host", () -> policies.locals(wayUp.addresses()));
                    attempt("levels", levels::proceed);
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

    /** Takes a step that may be refused again and again: the log has each refusal once. */
    private void attempt(String what, Step step) {
        String refusal = "";
        try {
            step.take();
        } catch (NetlinkException | LevelException refused) {
            refusal = String.valueOf(refused.getMessage());
        }
        boolean isNews = !refusal.equals(refusals.put(what, refusal));
        if (isNews && !refusal.isEmpty()) {
            LOG.warn("{}: {}", what, refusal);
        }
    }

    /** Ends it, and waits until it has. */
    void stop() {
        isStopped = true;
        LockSupport.unpark(thread);
        Uninterruptibles.joinUninterruptibly(thread, PATIENCE);
    }
}
