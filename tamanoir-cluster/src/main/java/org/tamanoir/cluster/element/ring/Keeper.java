package org.tamanoir.cluster.element.ring;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.Token;

/**
 * A unit's part in keeping one ring with one token: pure, time and messages are given, what is to be done goes to a
 * {@link Wire}, and to the unit's sender. Source: sections 5 and 6 of the distributed element's specification.
 *
 * <p>Whatever goes wrong is mended in the same two steps. <i>Asking</i>: PING to all voters, twice in T1. <i>Proposing</i>:
 * of those that answered, RING with the next epoch, three times, until all have taken it; then it holds, and the token
 * is injected anew. The master asks when the token is lost for the third time, or a unit comes or goes; a slave when no
 * token came for long, or its master leaves: it goes on only if the master did not answer. A unit without a view asks
 * all the time, so it joins by the flag of its PING; it proposes only if nobody has a view and it is the first of those
 * that answered.
 *
 * <p>Two candidates: a voter takes a view if its epoch is newer than that of any view that it took or proposed; of equal
 * ones the lower master's. Tokens hold in the view of their epoch and origin alone: what is left of another ring is
 * dropped by the next that sees it, and its sender is told by a PONG.
 *
 * <p>Not protected against: one that records messages of this epoch and plays PONGs of a dead unit again. Views then do
 * not come about until it stops, and units send as if alone.
 */
final class Keeper {
    static final long NEVER = Long.MAX_VALUE;

    private static final int REISSUES = 2;
    private static final int RING_TRIES = 3;
    private static final int ASKING_TRIES = 2;
    private static final int T1_ROUND_TRIPS = 10;
    /** So that one turn in which a process stood still does not make the master deaf to losses. */
    private static final long MAX_T1_NS = 1_000_000_000;

    private static final RingMember.State BLANK = new RingMember.State(0, 0, 0, 0, false);

    private final RingPlan plan;
    private final List<Integer> voters;
    private final int me;
    private final Wire wire;
    private final Consumer<Consumer<RingMember>> calls;
    private RingMember.State state = BLANK;

    private @Nullable RingView view;
    private @Nullable Set<Integer> group;
    private @Nullable Asking asking;
    private @Nullable Proposal proposal;
    /** Of the newest view that was taken or proposed here: older ones are refused. */
    private int promisedEpoch = Epoch.NONE;

    private int promisedMaster = RingPlan.DISTRIBUTOR;
    private int heardEpoch = Epoch.NONE;
    private int lacking;
    private boolean alone;
    private boolean leaving;
    private boolean drained;
    /** Whether the distributor has taken the view that was proposed here last. */
    private boolean distributorTook;

    private boolean finishing;
    private boolean ended;

    private long lastSerial;
    private long lastTokenNs;
    private long attemptNs = NEVER;
    private long noticeNs = NEVER;
    private long memberNs = NEVER;

    /** The master's, as long as it is on its way. */
    private @Nullable Token out;

    private long outNs;
    private long firstNs;
    private int reissues;

    private long smoothedNs;
    private long roundTripNs;

    private long turns;
    private long stale;
    private long reissued;
    private long views;

    /** Those that answered until now. */
    private static final class Asking {
        final Map<Integer, Message.Report> answers = new HashMap<>();
        long againNs;
        final long untilNs;
        /** Whether a new epoch is needed even if nobody came or went. */
        boolean repair;

        Asking(long againNs, long untilNs, boolean repair) {
            this.againNs = againNs;
            this.untilNs = untilNs;
            this.repair = repair;
        }
    }

    private static final class Proposal {
        final RingView view;
        final Set<Integer> missing;
        int tries = 1;
        long retryNs;

        Proposal(RingView view, Set<Integer> missing, long retryNs) {
            this.view = view;
            this.missing = missing;
            this.retryNs = retryNs;
        }
    }

    /**
     * Keeps the ring of a unit.
     *
     * @param calls takes what is to be called of the unit's sender, in this order, after the keeper has returned
     */
    Keeper(RingPlan plan, int me, Wire wire, Consumer<Consumer<RingMember>> calls) {
        if (!plan.units().contains(me)) {
            throw new IllegalArgumentException("unit " + me + " is not one of the ring's " + plan.units());
        }
        this.plan = plan;
        this.voters = plan.voters();
        this.me = me;
        this.wire = wire;
        this.calls = calls;
    }

    /** Begins to look for a ring. */
    void start(long nowNs) {
        attemptNs = nowNs;
    }

    /** Takes note of the sender's state, before a message or the time is given that may have to tell it. */
    void state(RingMember.State state) {
        this.state = state;
    }

    /** Returns when {@link #expire} is to be called next, {@link #NEVER} if not at all. */
    long deadlineNs() {
        long next = Math.min(memberNs, noticeNs);
        if (out != null) {
            next = Math.min(next, outNs + t1Ns());
        }
        if (asking != null) {
            return Math.min(next, Math.min(asking.againNs, asking.untilNs));
        }
        if (proposal != null) {
            return Math.min(next, proposal.retryNs);
        }
        if (ended) {
            return next;
        }
        if (view == null) {
            return Math.min(next, attemptNs);
        }
        return out != null ? next : Math.min(next, lastTokenNs + patienceNs(view));
    }

    /** Does what was due by now. */
    void expire(long nowNs) {
        if (memberNs <= nowNs) {
            memberNs = NEVER;
            calls.accept(RingMember::timer);
        }
        if (noticeNs <= nowNs) {
            giveNotice(nowNs);
        }
        if (out != null && outNs + t1Ns() <= nowNs) {
            missToken(nowNs, out);
        }
        if (asking != null) {
            goOnAsking(nowNs, asking);
        } else if (proposal != null) {
            goOnProposing(nowNs, proposal);
        } else if (!ended && deadlineNs() <= nowNs) {
            ask(nowNs, false);
        }
    }

    // The token.

    void token(long nowNs, int from, Token token) {
        RingView ring = view;
        int epoch = Epoch.of(token.serial());
        if (ring == null || epoch != ring.epoch() || token.origin() != ring.master()) {
            stale++;
            heardEpoch = Epoch.newest(epoch, heardEpoch);
            if (ring != null && proposal == null && Epoch.newer(epoch, ring.epoch())) {
                fallBehind(nowNs);
            } else {
                wire.send(from, report(true));
            }
        } else if (master()) {
            returned(nowNs, token);
        } else if (Long.compareUnsigned(token.serial(), lastSerial) <= 0) {
            stale++;
        } else {
            lastSerial = token.serial();
            lastTokenNs = nowNs;
            turns++;
            smooth(token.roundTripUs() * 1000L);
            if (token.finish()) {
                wire.send(ring.after(me), token);
                end();
            } else {
                calls.accept(member -> member.token(token));
            }
        }
    }

    private void returned(long nowNs, Token token) {
        if (out == null || token.serial() != out.serial()) {
            stale++;
            if (out != null && token.serial() == out.serial() - reissues) {
                smooth(nowNs - firstNs); // slow, not lost: the next is given more time
            }
            return;
        }
        turns++;
        lastTokenNs = nowNs;
        if (reissues == 0) {
            roundTripNs = nowNs - firstNs;
            smooth(roundTripNs);
        }
        out = null;
        if (asking != null) {
            asking.repair = false;
        }
        if (token.finish()) {
            end();
            return;
        }
        calls.accept(member -> member.token(token));
    }

    /** Passes the sender's token on; one of a view that is no more is dropped. */
    void pass(long nowNs, Token token) {
        RingView ring = view;
        if (ring == null
                || proposal != null
                || Epoch.of(token.serial()) != ring.epoch()
                || ring.units().size() == 1) {
            return;
        }
        Token sent = token;
        if (master()) {
            finishing |= token.finish();
            sent = new Token(
                    token.serial(),
                    token.round(),
                    token.minHead(),
                    (int) Math.min(roundTripNs / 1000, Integer.MAX_VALUE),
                    token.holdBudget(),
                    finishing,
                    me);
            out = sent;
            outNs = nowNs;
            firstNs = nowNs;
            reissues = 0;
        }
        wire.send(ring.after(me), sent);
    }

    private void missToken(long nowNs, Token lost) {
        outNs = nowNs;
        if (reissues < REISSUES && view != null) {
            reissues++;
            reissued++;
            out = new Token(
                    lost.serial() + 1, // by which slaves tell it from the lost one; the sender goes on from there
                    lost.round(),
                    lost.minHead(),
                    lost.roundTripUs(),
                    lost.holdBudget(),
                    lost.finish(),
                    me);
            wire.send(view.after(me), out);
        } else if (finishing) {
            end();
        } else {
            ask(nowNs, true);
        }
    }

    /** Has the sender's timer called; a later call replaces an earlier one. */
    void timer(long nowNs, long delayNs) {
        memberNs = nowNs + Math.max(delayNs, 0);
    }

    void wake(long headRound) {
        if (view != null && !master()) {
            wire.send(view.master(), new Message.Wake(me, headRound));
        }
    }

    // Messages.

    void message(long nowNs, int from, Message message) {
        if (message instanceof Message.Report report) {
            reported(nowNs, from, report);
        } else if (message instanceof Message.Ring ring) {
            proposed(nowNs, from, ring.view());
        } else if (message instanceof Message.Taken taken) {
            taken(nowNs, from, taken.epoch());
        } else if (message instanceof Message.Wake wake && master()) {
            calls.accept(member -> member.wake(wake.headRound()));
        }
    }

    private void reported(long nowNs, int from, Message.Report report) {
        if (!report.answer()) {
            wire.send(from, report(true));
        }
        if (ended) {
            return;
        }
        heardEpoch = Epoch.newest(report.epoch(), heardEpoch);
        RingView ring = view;
        if (ring == null) {
            attemptNs = Math.min(attemptNs, nowNs + t1Ns());
        } else if (overrules(from, report, proposal == null ? ring : proposal.view)) {
            fallBehind(nowNs);
        } else if (proposal == null) {
            comesOrGoes(nowNs, from, report, ring);
        }
        if (asking != null && report.answer() && inGroup(from)) {
            asking.answers.put(from, report);
            if (asking.answers.size() == voters.size() - 1) {
                decide(nowNs, asking);
            }
        }
    }

    /**
     * Takes the units that a membership besides the ring's own questions has. One that is missing there is out whatever
     * it answers; one that is there has to answer all the same.
     */
    void group(long nowNs, Set<Integer> units) {
        group = Set.copyOf(units);
        RingView ring = view;
        if (ring == null) {
            attemptNs = Math.min(attemptNs, nowNs);
        } else if (!ring.units().stream().allMatch(this::inGroup)
                && (master() || !inGroup(ring.master()) && firstBut(ring.master(), ring) == me)) {
            ask(nowNs, false);
        }
    }

    private boolean inGroup(int party) {
        return group == null || party == RingPlan.DISTRIBUTOR || group.contains(party);
    }

    private int firstBut(int gone, RingView ring) {
        return ring.units().stream()
                .filter(unit -> unit != gone && inGroup(unit))
                .findFirst()
                .orElse(gone);
    }

    private static boolean overrules(int from, Message.Report report, RingView ring) {
        return report.inRing() && Epoch.newer(report.epoch(), ring.epoch())
                || report.is(Message.Report.LEADS) && report.epoch() == ring.epoch() && from < ring.master();
    }

    private void comesOrGoes(long nowNs, int from, Message.Report report, RingView ring) {
        if (report.is(Message.Report.DRAINED)) {
            if (ring.has(from) && (master() || from == ring.master())) {
                ask(nowNs, false);
            }
        } else if (master() && !report.answer()) {
            if (ring.has(from) && Epoch.newer(report.epoch(), ring.epoch())) {
                ask(nowNs, true); // it proposed in vain and can take newer views alone
            } else if (from == RingPlan.DISTRIBUTOR
                    ? !distributorTook || !report.inRing()
                    : ring.has(from) && !report.inRing()) {
                wire.send(from, new Message.Ring(ring));
            } else if (!ring.has(from) && report.is(Message.Report.JOINS)) {
                ask(nowNs, false);
            }
        }
    }

    private void proposed(long nowNs, int from, RingView ring) {
        int epoch = ring.epoch();
        if (from != ring.master() || from == me) {
            return;
        }
        heardEpoch = Epoch.newest(epoch, heardEpoch);
        if (epoch == promisedEpoch ? from > promisedMaster : !Epoch.newer(epoch, promisedEpoch)) {
            wire.send(from, report(true));
        } else if (ring.has(me)) {
            take(nowNs, from, ring);
        } else if (drained || ended) {
            wire.send(from, new Message.Taken(epoch, me));
            leave();
        } else {
            fallBehind(nowNs);
        }
    }

    private void take(long nowNs, int from, RingView ring) {
        if (ended) {
            wire.send(from, report(true));
            return;
        }
        wire.send(from, new Message.Taken(ring.epoch(), me));
        if (!ring.equals(view)) {
            if (ring.epoch() != promisedEpoch || from != promisedMaster) {
                promisedEpoch = ring.epoch();
                promisedMaster = from;
                lastSerial = Epoch.begin(promisedEpoch);
            }
            enter(nowNs, ring);
        }
    }

    private void taken(long nowNs, int from, int epoch) {
        distributorTook |= from == RingPlan.DISTRIBUTOR && epoch == promisedEpoch;
        if (proposal != null && epoch == proposal.view.epoch()) {
            proposal.missing.remove(from);
            enterIfTaken(nowNs, proposal);
        }
    }

    // Asking and proposing.

    private void ask(long nowNs, boolean repair) {
        if (asking != null) {
            asking.repair |= repair;
            return;
        }
        proposal = null;
        asking = new Asking(nowNs + t1Ns() / 2, nowNs + t1Ns(), repair);
        sendQuestions(asking);
        if (voters.size() == 1) {
            decide(nowNs, asking);
        }
    }

    private void sendQuestions(Asking current) {
        Message.Report question = report(false);
        for (int voter : voters) {
            if (voter != me && !current.answers.containsKey(voter)) {
                wire.send(voter, question);
            }
        }
    }

    private void goOnAsking(long nowNs, Asking current) {
        if (current.untilNs <= nowNs) {
            decide(nowNs, current);
        } else if (current.againNs <= nowNs) {
            current.againNs = NEVER;
            sendQuestions(current);
        }
    }

    private void decide(long nowNs, Asking asked) {
        asking = null;
        Map<Integer, Message.Report> answers = asked.answers;
        attemptNs = nowNs + t1Ns();
        lastTokenNs = nowNs;
        if ((answers.size() + 1) * 2 <= voters.size()) {
            lackMajority(nowNs);
            return;
        }
        lacking = 0;
        List<Integer> units = new ArrayList<>();
        long round = state.round();
        for (int unit : plan.units()) {
            Message.Report answer = answers.get(unit);
            if (unit == me ? !drained : answer != null && !answer.is(Message.Report.DRAINED)) {
                units.add(unit);
            }
            if (answer != null && Long.compareUnsigned(answer.state().round(), round) > 0) {
                round = answer.state().round();
            }
        }
        if (units.isEmpty()) {
            leave(); // drained, and there is nobody to be told
        }
        if (!units.contains(me) || !mayPropose(asked, units)) {
            return;
        }
        int epoch = Epoch.next(Epoch.newest(promisedEpoch, heardEpoch));
        promisedEpoch = epoch;
        promisedMaster = me;
        out = null;
        distributorTook = false;
        proposal = new Proposal(new RingView(epoch, me, round, units), new HashSet<>(answers.keySet()), nowNs + t1Ns());
        sendProposal(proposal);
        enterIfTaken(nowNs, proposal);
    }

    private boolean mayPropose(Asking asked, List<Integer> units) {
        RingView ring = view;
        if (ring == null) {
            for (Map.Entry<Integer, Message.Report> answer : asked.answers.entrySet()) {
                if (answer.getKey() != RingPlan.DISTRIBUTOR && answer.getValue().inRing()) {
                    return false; // there is a ring, or what is left of one: those in it take a newcomer in
                }
            }
            return units.get(0) == me;
        }
        if (master()) {
            return asked.repair || !units.equals(ring.units());
        }
        Message.Report master = asked.answers.get(ring.master());
        if (master != null && master.is(Message.Report.DRAINED)) {
            return firstInRing(ring, asked) == me;
        }
        return master == null || !master.is(Message.Report.LEADS);
    }

    /** Returns the first of the view that still has it; those that have none wait for this one. */
    private int firstInRing(RingView ring, Asking asked) {
        for (int unit : ring.units()) {
            Message.Report answer = asked.answers.get(unit);
            if (unit == me || answer != null && answer.inRing()) {
                return unit;
            }
        }
        return me;
    }

    private void lackMajority(long nowNs) {
        if (++lacking < ASKING_TRIES) {
            ask(nowNs, true);
            return;
        }
        attemptNs = nowNs + plan.idleMaxNs();
        view = null;
        out = null;
        if (!alone) {
            alone = true;
            calls.accept(RingMember::alone);
        }
    }

    private void sendProposal(Proposal current) {
        Message.Ring ring = new Message.Ring(current.view);
        for (int voter : current.missing) {
            wire.send(voter, ring);
        }
    }

    private void goOnProposing(long nowNs, Proposal current) {
        if (current.retryNs > nowNs) {
            return;
        }
        if (current.tries++ == RING_TRIES) {
            ask(nowNs, true);
        } else {
            current.retryNs = nowNs + t1Ns();
            sendProposal(current);
        }
    }

    private void enterIfTaken(long nowNs, Proposal current) {
        if (current.missing.isEmpty()) {
            enter(nowNs, current.view);
        }
    }

    // Views.

    private void enter(long nowNs, RingView ring) {
        view = ring;
        asking = null;
        proposal = null;
        out = null;
        lacking = 0;
        alone = false;
        views++;
        lastTokenNs = nowNs;
        boolean master = master();
        calls.accept(member -> member.view(ring.epoch(), master, ring.units().size(), ring.round()));
    }

    /** Leaves a view that others have left: the sender keeps what it has until the next one takes this unit in. */
    private void fallBehind(long nowNs) {
        view = null;
        proposal = null;
        asking = null;
        out = null;
        ask(nowNs, false);
    }

    private void leave() {
        if (!ended) {
            ended = true;
            view = null;
            asking = null;
            proposal = null;
            out = null;
            noticeNs = NEVER;
            calls.accept(RingMember::alone);
        }
    }

    // Going.

    /** Announces that this unit wants no more packets; the distributor then sends its last one. */
    void announceLeaving(long nowNs) {
        leaving = true;
        noticeNs = nowNs;
    }

    /** Leaves the ring: all of the unit's packets are sent. */
    void drained(long nowNs) {
        leaving = true;
        drained = true;
        noticeNs = nowNs;
    }

    private void giveNotice(long nowNs) {
        RingView ring = view;
        noticeNs = nowNs + (drained ? t1Ns() : plan.idleMaxNs());
        if (ended || drained && (ring == null || ring.units().size() == 1)) {
            leave();
            noticeNs = NEVER;
            return;
        }
        if (plan.distributor()) {
            wire.send(RingPlan.DISTRIBUTOR, report(true));
        }
        if (ring != null && !master()) {
            wire.send(ring.master(), report(true));
        } else if (ring != null && drained) {
            ring.units().stream().filter(unit -> unit != me).forEach(unit -> wire.send(unit, report(true)));
        }
    }

    /**
     * Ends the ring: the master has its next token tell every unit, which drains; at another unit only that one ends.
     */
    void finish(long nowNs) {
        if (view != null && master() && view.units().size() > 1) {
            finishing = true;
            if (out == null && memberNs != NEVER) {
                memberNs = nowNs; // it rests with the token: no longer
            }
        } else {
            end();
        }
    }

    private void end() {
        leave();
        long finishNs = plan.finishNs();
        calls.accept(member -> member.finish(finishNs));
    }

    // What others see.

    private Message.Report report(boolean answer) {
        int flags = view == null && !ended ? Message.Report.JOINS : 0;
        flags |= master() ? Message.Report.LEADS : 0;
        flags |= leaving || ended ? Message.Report.LEAVES : 0;
        flags |= drained || ended ? Message.Report.DRAINED : 0;
        int epoch = view == null ? Epoch.newest(promisedEpoch, heardEpoch) : view.epoch();
        long serial = Epoch.of(state.lastSerial()) == epoch ? state.lastSerial() : Epoch.begin(epoch);
        return new Message.Report(
                answer, me, flags, new RingMember.State(serial, state.round(), state.queued(), state.sent(), drained));
    }

    RingStatus status() {
        return new RingStatus(view, alone, ended, smoothedNs, turns, stale, reissued, views);
    }

    private boolean master() {
        return view != null && view.master() == me;
    }

    private void smooth(long sampleNs) {
        if (sampleNs > 0) {
            long bounded = Math.min(sampleNs, MAX_T1_NS / T1_ROUND_TRIPS);
            smoothedNs = smoothedNs == 0 ? bounded : smoothedNs + (bounded - smoothedNs) / 8;
        }
    }

    private long t1Ns() {
        return Math.max(T1_ROUND_TRIPS * smoothedNs, plan.t1Ns());
    }

    private long patienceNs(RingView ring) {
        return 2 * plan.idleMaxNs() + (ring.units().indexOf(me) + 1) * t1Ns();
    }
}
