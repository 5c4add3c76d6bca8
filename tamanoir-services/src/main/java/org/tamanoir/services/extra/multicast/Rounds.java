package org.tamanoir.services.extra.multicast;

import org.tamanoir.services.extra.multicast.Window.Place;

/**
 * What is done for a flow when its time has come: repairs that were asked for, and what branches are to be told.
 *
 * <p>Thread contract: one thread.
 */
final class Rounds {
    private static final int REPAIRS_A_ROUND = 256;

    private final Branches branches;
    private final Progress progress;
    private final Outlet outlet;
    private final MulticastCounters counts;

    Rounds(Branches branches, Progress progress, Outlet outlet, MulticastCounters counts) {
        this.branches = branches;
        this.progress = progress;
        this.outlet = outlet;
        this.counts = counts;
    }

    /** Does it. */
    void go(Flow flow, long nowNs) {
        progress.settle(flow);
        Audience audience = flow.audience();
        audience.refill(nowNs);
        repair(flow);
        for (long left = audience.takeLetGo(); left != 0; left &= left - 1) {
            outlet.letGo(flow, branches.get(Long.numberOfTrailingZeros(left)));
            counts.letGo.add(1);
        }
        long told = audience.takeUninformed();
        if (flow.heartbeatDueNs() <= nowNs) {
            long waitedFor = audience.unconfirmed();
            told |= waitedFor;
            flow.beat(waitedFor != 0, nowNs);
        }
        tell(flow, told);
    }

    /** Sends what was asked for, and tells all who do not know how far it is, a last time. */
    void last(Flow flow, long nowNs) {
        go(flow, nowNs);
        tell(flow, flow.audience().unconfirmed());
    }

    private void tell(Flow flow, long told) {
        for (long left = told; left != 0; left &= left - 1) {
            outlet.heartbeat(flow, branches.get(Long.numberOfTrailingZeros(left)));
        }
    }

    private void repair(Flow flow) {
        Audience audience = flow.audience();
        long each = audience.nextWanted(0);
        for (int sent = 0;
                each <= flow.window().highest() && sent < REPAIRS_A_ROUND;
                each = audience.nextWanted(each)) {
            Place place = flow.window().place(each);
            for (long left = place.wanted & audience.members(); left != 0; left &= left - 1) {
                Branch branch = branches.get(Long.numberOfTrailingZeros(left));
                if (audience.mayHaveAgain(branch)) {
                    outlet.repair(flow, each, branch);
                    sent++;
                } else {
                    counts.repairsOver.add(1);
                }
            }
            place.wanted = 0;
        }
    }
}
