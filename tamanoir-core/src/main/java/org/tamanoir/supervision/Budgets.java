package org.tamanoir.supervision;

import java.time.Duration;
import java.util.List;
import org.tamanoir.accounting.DropReason;

/**
 * Holds packets to their budget of processor time: one that has used more is stopped at the service's next checkpoint.
 * Between two looks at a packet it is charged with what its thread has used; what it had used before the first is not
 * known, and in its favour. So it may have its budget and three looks more.
 *
 * <p>Costs the packet path nothing. Thread contract: the watchdog's thread.
 */
final class Budgets {
    /** Between looks while a service works that has a budget. */
    private static final long TICK_NS = 2_000_000;
    /** And while none of those does. */
    private static final long IDLE_NS = 4_000_000;

    static final long NEVER = Long.MAX_VALUE;

    private Budgets() {}

    /** Looks at instances; returns after how many ns to look again. */
    static long look(List<? extends Watchdog.Watched> instances) {
        long nextNs = NEVER;
        for (Watchdog.Watched instance : instances) {
            Supervision supervision = instance.supervision();
            long budgetNs = supervision.definition().health().packetBudgetNs();
            if (budgetNs > 0 && !supervision.isGivenUp()) {
                boolean works = look(instance, supervision, budgetNs);
                nextNs = Math.min(nextNs, works ? TICK_NS : IDLE_NS);
            }
        }
        return nextNs;
    }

    private static boolean look(Watchdog.Watched instance, Supervision supervision, long budgetNs) {
        long call = instance.call();
        supervision.forgetStop(call);
        if (supervision.isResting()) {
            return false;
        }
        Supervision.Watch watch = supervision.watch;
        if (supervision.isBeside() || !instance.isInService()) {
            watch.call = -1; // The time is the node's own, or no packet's: the next look begins anew.
            return true;
        }
        long usedNs = supervision.meter().usedNs();
        if (call != watch.call) {
            watch.usedNs = usedNs;
            watch.leftNs = budgetNs;
            watch.call = call;
            return true;
        }
        watch.leftNs = Math.max(0, budgetNs - (usedNs - watch.usedNs));
        if (usedNs - watch.usedNs > budgetNs) {
            supervision.suspect();
            supervision.stop(
                    DropReason.BUDGET,
                    call,
                    "its packet has used more than its budget of "
                            + Duration.ofNanos(budgetNs).toMillis() + " ms of a processor");
        }
        return true;
    }
}
