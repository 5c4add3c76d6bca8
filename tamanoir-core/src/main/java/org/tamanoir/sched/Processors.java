package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.List;

/**
 * The processors given to services, and the grants that have one.
 *
 * <p>Thread contract: inside the scheduler's lock.
 */
final class Processors {
    private final List<CpuGrant> running = new ArrayList<>();
    private int count;

    /** Has so many from now on; what runs goes on. */
    void change(int count) {
        this.count = count;
    }

    int count() {
        return count;
    }

    boolean isFree() {
        return running.size() < count;
    }

    /** Gives a grant a processor. */
    void add(CpuGrant grant) {
        grant.place = running.size();
        running.add(grant);
        grant.owner.runs(grant);
        grant.become(CpuGrant.State.RUNNING);
        grant.ofClass().counts.runs(1);
    }

    /** Takes the processor from a grant that has one. */
    void remove(CpuGrant grant) {
        grant.ofClass().counts.runs(-1);
        CpuGrant last = running.remove(running.size() - 1);
        if (last != grant) {
            running.set(grant.place, last);
            last.place = grant.place;
        }
    }

    /** Returns when the turn was granted that ends first if none goes on; the maximum = none that hears of it. */
    long oldestNs() {
        long oldestNs = Long.MAX_VALUE;
        for (CpuGrant grant : running) {
            if (grant.owner.deafUntilNs <= grant.grantedNs()) {
                oldestNs = Math.min(oldestNs, grant.grantedNs());
            }
        }
        return oldestNs;
    }

    /**
     * Takes the processors from grants that have them for longer than this.
     *
     * @param deafNs for how long none of their owners is asked to give way: they have come to no checkpoint
     */
    void expel(long nowNs, long limitNs, long deafNs) {
        for (int i = running.size() - 1; i >= 0; i--) {
            CpuGrant grant = running.get(i);
            if (grant.isOverdue(nowNs, limitNs)) {
                grant.become(CpuGrant.State.OVERDUE);
                grant.owner.deafUntilNs = nowNs + deafNs;
                remove(grant);
            }
        }
    }
}
