package org.tamanoir.cluster.element.ring;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;

/**
 * The distributor's part in the ring: a voter that takes views and asks all units how they are, once in idleMax. One that
 * begins again has forgotten its view and takes any; a master that has a newer one tells it on its next question. Pure,
 * as {@link Keeper} is.
 */
final class Watch {
    /** Questions without an answer after which a unit counts as dead though no view says so. */
    private static final int SILENT = 5;

    private final RingPlan plan;
    private final Wire wire;
    private final Map<Integer, Message.Report> reports = new HashMap<>();
    private final Map<Integer, Integer> unanswered = new HashMap<>();
    private @Nullable RingView view;
    private long askNs;

    Watch(RingPlan plan, Wire wire) {
        this.plan = plan;
        this.wire = wire;
    }

    long deadlineNs() {
        return askNs;
    }

    /** Asks all units if it is time to. */
    void expire(long nowNs, long round) {
        if (nowNs < askNs) {
            return;
        }
        askNs = nowNs + plan.idleMaxNs();
        for (int unit : plan.units()) {
            unanswered.merge(unit, 1, (a, b) -> Math.min(a + b, SILENT));
            wire.send(unit, report(false, round));
        }
    }

    void message(int from, Message message, long round) {
        if (message instanceof Message.Report report) {
            reports.put(from, report);
            unanswered.remove(from);
            if (!report.answer()) {
                wire.send(from, report(true, round));
            }
        } else if (message instanceof Message.Ring ring) {
            proposed(from, ring.view(), round);
        }
    }

    private void proposed(int from, RingView next, long round) {
        RingView last = view;
        if (last != null && last.ballot().newer(next.ballot())) {
            wire.send(from, report(true, round));
            return;
        }
        if (!next.equals(last)) {
            view = next;
        }
        wire.send(from, new Message.Taken(next.epoch(), RingPlan.DISTRIBUTOR));
    }

    private Message.Report report(boolean answer, long round) {
        RingView ring = view;
        return new Message.Report(
                answer,
                RingPlan.DISTRIBUTOR,
                ring == null ? Message.Report.JOINS : 0,
                ring == null ? RingPlan.DISTRIBUTOR : ring.master(),
                new RingMember.State(ring == null ? 0 : Epoch.begin(ring.epoch()), round, 0, 0, false));
    }

    @Nullable
    RingView view() {
        return view;
    }

    /** Returns the last report of a unit, null before the first. */
    Message.@Nullable Report report(int unit) {
        return reports.get(unit);
    }

    boolean silent(int unit) {
        return unanswered.getOrDefault(unit, 0) == SILENT;
    }
}
