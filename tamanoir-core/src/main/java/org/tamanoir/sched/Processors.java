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

    /** Takes the processors from grants that have them for longer than this. */
    void expel(long nowNs, long limitNs) {
        for (int i = running.size() - 1; i >= 0; i--) {
            CpuGrant grant = running.get(i);
            if (grant.isOverdue(nowNs, limitNs)) {
                grant.become(CpuGrant.State.OVERDUE);
                remove(grant);
            }
        }
    }
}
