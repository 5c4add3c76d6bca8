package org.tamanoir.cluster.element.ring;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A question to all other voters, put twice, and who has answered until now. */
final class Asking {
    private final RingPlan plan;
    private final int me;
    /** By which answers are known to be to this question. */
    final long nonce;

    private final Wire wire;
    private final Map<Integer, Message.Report> answers = new HashMap<>();
    private long againNs;
    private final long untilNs;
    /** Whether a new epoch is needed even if nobody came or went. */
    boolean repair;

    Asking(RingPlan plan, int me, long nonce, Wire wire, long nowNs, long patienceNs, boolean repair) {
        this.plan = plan;
        this.me = me;
        this.nonce = nonce;
        this.wire = wire;
        this.againNs = nowNs + patienceNs / 2;
        this.untilNs = nowNs + patienceNs;
        this.repair = repair;
    }

    void send(Message.Report question) {
        for (int voter : plan.voters()) {
            if (voter != me && !answers.containsKey(voter)) {
                wire.send(voter, question);
            }
        }
    }

    long deadlineNs() {
        return Math.min(againNs, untilNs);
    }

    /** Asks again when it is time to. */
    void expire(long nowNs, Message.Report question) {
        if (againNs <= nowNs && nowNs < untilNs) {
            againNs = Keeper.NEVER;
            send(question);
        }
    }

    void answer(Message.Report report) {
        if (report.nonce() == nonce) {
            answers.put(report.unit(), report);
        }
    }

    boolean isOver(long nowNs) {
        return untilNs <= nowNs || voters().size() == plan.voters().size() - 1;
    }

    /** Returns those that answered. */
    List<Integer> voters() {
        return List.copyOf(answers.keySet());
    }

    boolean hasMajority() {
        return (answers.size() + 1) * 2 > plan.voters().size();
    }

    Message.@Nullable Report of(int voter) {
        return answers.get(voter);
    }

    /** Returns the units that a view would have. */
    List<Integer> units(boolean withMe) {
        List<Integer> units = new ArrayList<>();
        for (int unit : plan.units()) {
            Message.Report answer = answers.get(unit);
            if (unit == me ? withMe : answer != null && !answer.goes()) {
                units.add(unit);
            }
        }
        return units;
    }

    /** Returns the largest round of this one and those of the units that answered. */
    long round(long mine) {
        return answers.values().stream()
                .filter(answer -> answer.unit() != RingPlan.DISTRIBUTOR)
                .map(answer -> answer.state().round())
                .reduce(mine, (a, b) -> Long.compareUnsigned(a, b) < 0 ? b : a);
    }

    /** Returns the first of these units that has a view, as this one has, which is among them. */
    int firstInRing(List<Integer> units) {
        for (int unit : units) {
            Message.Report answer = answers.get(unit);
            if (unit == me || answer != null && answer.inRing()) {
                return unit;
            }
        }
        return me;
    }

    /** Returns whether a unit that answered has a view. */
    boolean anyInRing() {
        return answers.values().stream().anyMatch(answer -> answer.unit() != RingPlan.DISTRIBUTOR && answer.inRing());
    }
}
