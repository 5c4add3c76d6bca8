package org.tamanoir.cluster.element.ring;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;

/**
 * The distributor's part in the ring: a voter that takes views and asks all units how they are, once in idleMax. One that
 * begins again has forgotten its view and takes any; a master that has a newer one tells it on its next question. It
 * believes answers to its questions of the last second alone, each once; news that nobody asked for merely have it ask,
 * once in T1. Pure, as {@link Keeper} is.
 */
final class Watch {
    /** Questions without an answer after which a unit counts as dead though no view says so. */
    private static final int SILENT = 5;

    private final RingPlan plan;
    private final RunStart start;
    private final Wire wire;
    private final Map<Integer, Message.Report> reports = new HashMap<>();
    private final Map<Integer, Integer> unanswered = new HashMap<>();
    private @Nullable RingView view;
    private long askNs;
    /** Units that may have news, and when to ask them. */
    private final Set<Integer> hints = new HashSet<>();

    private long hintNs;
    /** Of the last question, and of those of the last second. */
    private long nonce;

    private final long[] nonces = new long[SILENT];
    private int rounds;

    Watch(RingPlan plan, RunStart start, Wire wire) {
        this.plan = plan;
        this.start = start;
        this.nonce = start.nonce();
        Arrays.fill(nonces, nonce + 1);
        this.wire = wire;
    }

    long deadlineNs() {
        return hints.isEmpty() ? askNs : Math.min(askNs, hintNs);
    }

    /** Asks if it is time to: all units, or those that may have news. */
    void expire(long nowNs, long round) {
        if (nowNs < deadlineNs()) {
            return;
        }
        Message.Report question = report(false, round, ++nonce);
        hintNs = nowNs + plan.t1Ns();
        if (nowNs < askNs) {
            hints.forEach(unit -> wire.send(unit, question));
        } else {
            askNs = nowNs + plan.idleMaxNs();
            nonces[rounds++ % SILENT] = nonce;
            for (int unit : plan.units()) {
                unanswered.merge(unit, 1, (a, b) -> Math.min(a + b, SILENT));
                wire.send(unit, question);
            }
        }
        hints.clear();
    }

    void message(int from, Message message, long round) {
        if (message instanceof Message.Report report) {
            if (!report.answer()) {
                wire.send(from, report(true, round, report.nonce()));
            }
            if (isFresh(from, report)) {
                reports.put(from, report);
                unanswered.remove(from);
            } else if (isNews(from, report)) {
                hints.add(from);
            }
        } else if (message instanceof Message.Ring ring) {
            proposed(from, ring.view(), round);
        }
    }

    private boolean isFresh(int from, Message.Report report) {
        Message.Report last = reports.get(from);
        return report.answer()
                && report.nonce() - nonces[rounds % SILENT] >= 0
                && nonce - report.nonce() >= 0
                && (last == null || report.nonce() - last.nonce() > 0);
    }

    private boolean isNews(int from, Message.Report report) {
        Message.Report last = reports.get(from);
        return last == null || silent(from) || report.flags() != last.flags();
    }

    private void proposed(int from, RingView next, long round) {
        RingView last = view;
        if (last != null && last.ballot().newer(next.ballot())) {
            wire.send(from, report(true, round, 0));
            return;
        }
        if (!next.equals(last)) {
            view = next;
        }
        wire.send(from, new Message.Taken(next.epoch(), RingPlan.DISTRIBUTOR));
    }

    private Message.Report report(boolean answer, long round, long about) {
        RingView ring = view;
        return new Message.Report(
                answer,
                RingPlan.DISTRIBUTOR,
                ring == null ? Message.Report.JOINS : 0,
                ring == null ? RingPlan.DISTRIBUTOR : ring.master(),
                about,
                new RingMember.State(Epoch.begin(ring == null ? start.epoch() : ring.epoch()), round, 0, 0, false));
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
