package org.tamanoir.cluster.element.ring;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.Token;

/**
 * A unit's part in keeping one ring with one token: pure, time and messages are given, what is to be done goes to a
 * {@link Wire}, and to the unit's sender. The token's way is {@link TokenWatch}'s. Source: sections 5 and 6 of the
 * distributed element's specification.
 *
 * <p>Whatever goes wrong is mended in the same two steps. <i>Asking</i>: PING to all voters, twice in T1. <i>Proposing</i>:
 * of those that answered, RING with the next epoch, three times, until all have taken it; then it holds, and the token
 * is injected anew. The master asks when the token is lost for the third time, or a unit comes or goes; a slave when no
 * token came for long, or its master goes: it goes on only if the master did not answer. A unit without a view asks
 * all the time, so it joins by the flag of its PING; it proposes only if nobody has a view and it is the first of those
 * that answered.
 *
 * <p>A voter takes a view if its {@link Ballot} is not older than that of any view that it took or proposed. Every report
 * says in which view its party is, so that of two rings the older one ends: two majorities have a voter in common, which
 * tells the older one's units; a master besides asks the units that it lacks, some times a second. A voter that began again
 * has forgotten its view; the master whose ring it was in tells it again, so two rings last idleMax and a few messages.
 *
 * <p>A unit whose sender has a token and does not pass it on for more than a second says so and is left out for ten, the
 * master as any other. One that has no view for a second sends as if alone until it has one.
 *
 * <p>Messages can be recorded and played again. What decides are answers to the question of now alone, by its nonce; a
 * report that nobody asked for merely has this unit ask, once in T1. Views and tokens of the past are older ones, those of
 * a run before too, whose epochs are below the {@link RunStart}.
 */
final class Keeper {
    static final long NEVER = Long.MAX_VALUE;

    private static final int ASKING_TRIES = 2;
    /** Doublings of the time for answers, while they are too few. */
    private static final int MAX_PATIENCE = 3;
    /** After which a unit that has sent all goes though nobody let it, as without a majority: it lacks nothing. */
    private static final int NOTICES = 16;

    /** Until a unit without a view sends as if alone: also where there is a majority, but none that can agree. */
    private static final int LOOKS_WITHOUT_VIEW = 5;

    private static final long STUCK_NS = 10_000_000_000L;

    private final RingPlan plan;
    private final int me;
    private final Wire wire;
    private final Consumer<Consumer<RingMember>> calls;
    private final TokenWatch watch;
    private RingMember.State state = new RingMember.State(0, 0, 0, 0, false);

    private @Nullable RingView view;
    private @Nullable Set<Integer> group;
    private @Nullable Asking asking;
    private @Nullable Proposal proposal;
    /** Of the newest view that was taken or proposed here: older ones are refused. */
    private Ballot promised;

    private int heardEpoch = Epoch.NONE;
    /** Of the last question. */
    private long nonce;
    /** From when on a report that nobody asked for has this unit ask. */
    private long hintNs;

    private int lacking;
    private boolean alone;
    private boolean leaving;
    private boolean drained;
    private boolean ended;
    private int notices;
    private long attemptNs = NEVER;
    private long noticeNs = NEVER;
    private long callNs = NEVER;
    /** When packets are no longer held for a view. */
    private long aloneNs = NEVER;
    /** Until when this unit, which is stuck, is left out. */
    private long stuckUntilNs = NEVER;

    private long views;

    /**
     * Keeps the ring of a unit.
     *
     * @param calls takes what is to be called of the unit's sender, in this order, after the keeper has returned
     */
    Keeper(RingPlan plan, int me, RunStart start, Wire wire, Consumer<Consumer<RingMember>> calls) {
        if (!plan.units().contains(me)) {
            throw new IllegalArgumentException("unit " + me + " is not one of the ring's " + plan.units());
        }
        this.plan = plan;
        this.me = me;
        this.wire = wire;
        this.calls = calls;
        this.promised = new Ballot(start.epoch(), RingPlan.DISTRIBUTOR);
        this.nonce = start.nonce();
        this.watch = new TokenWatch(plan, me, wire, calls);
    }

    /** Begins to look for a ring. */
    void start(long nowNs) {
        attemptNs = nowNs;
        if (view == null) {
            aloneNs = nowNs + LOOKS_WITHOUT_VIEW * plan.lookNs();
        }
    }

    /** Takes note of the sender's state, before a message or the time is given that may have to tell it. */
    void state(RingMember.State state) {
        this.state = state;
    }

    /** Returns when {@link #expire} is to be called next, {@link #NEVER} if not at all. */
    long deadlineNs() {
        return Math.min(
                Math.min(Math.min(watch.deadlineNs(), stuckUntilNs), aloneNs),
                Math.min(Math.min(noticeNs, callNs), viewNs()));
    }

    private long viewNs() {
        if (asking != null) {
            return asking.deadlineNs();
        }
        if (proposal != null) {
            return proposal.deadlineNs();
        }
        return ended ? NEVER : view == null ? attemptNs : watch.patienceNs(view);
    }

    /** Does what was due by now. */
    void expire(long nowNs) {
        if (watch.expire(nowNs, view)) {
            ask(nowNs, true);
        }
        watchStuck(nowNs);
        if (aloneNs <= nowNs) {
            goOnAlone();
        }
        if (noticeNs <= nowNs) {
            giveNotice(nowNs);
        }
        if (callNs <= nowNs) {
            callOthers(nowNs);
        }
        if (viewNs() > nowNs) {
            return;
        }
        if (asking != null) {
            asking.expire(nowNs, question(asking));
            decideIfOver(nowNs, asking);
        } else if (proposal == null) {
            ask(nowNs, false);
        } else if (!proposal.send(nowNs, watch.t1Ns())) {
            ask(nowNs, true);
        }
    }

    // The token.

    void token(long nowNs, int from, Token token) {
        RingView ring = view;
        int epoch = Epoch.of(token.serial());
        if (ring != null && epoch == ring.epoch() && token.origin() == ring.master()) {
            if (watch.came(nowNs, ring, token) && asking != null) {
                asking.repair = false;
            }
            return;
        }
        watch.drop();
        heardEpoch = Epoch.newest(epoch, heardEpoch);
        if (ring != null && proposal == null && new Ballot(epoch, token.origin()).newer(ring.ballot())) {
            fallBehind(nowNs);
        } else {
            wire.send(from, unasked());
        }
    }

    /** Passes the sender's token on; one of a view that is no more is dropped. */
    void pass(long nowNs, Token token) {
        watch.pass(nowNs, proposal == null ? view : null, token);
    }

    /** Has the sender's timer called; a later call replaces an earlier one. */
    void timer(long nowNs, long delayNs) {
        watch.timer(nowNs, delayNs);
    }

    void wake(long headRound) {
        if (view != null && !master()) {
            wire.send(view.master(), new Message.Wake(me, headRound));
        }
    }

    private void watchStuck(long nowNs) {
        if (stuckUntilNs <= nowNs) {
            stuckUntilNs = NEVER;
            watch.forgetLooks();
        } else if (watch.isStuck() && !isStuck() && !drained && view != null) {
            stuckUntilNs = nowNs + STUCK_NS;
            noticeNs = nowNs;
        }
    }

    private boolean isStuck() {
        return stuckUntilNs != NEVER;
    }

    private boolean goes() {
        return drained || ended || isStuck();
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
            wire.send(from, report(true, report.nonce()));
        }
        if (ended) {
            return;
        }
        heardEpoch = Epoch.newest(report.epoch(), heardEpoch);
        RingView ring = view;
        if (ring == null) {
            if (report.inRing() && !isStuck()) {
                attemptNs = Math.min(attemptNs, nowNs + watch.t1Ns());
            }
        } else if (report.inRing() && report.ballot().newer((proposal == null ? ring : proposal.view).ballot())) {
            fallBehind(nowNs);
        } else if (proposal == null) {
            comesOrGoes(nowNs, from, report, ring);
        }
        if (asking != null && report.answer() && inGroup(from)) {
            asking.answer(report);
            decideIfOver(nowNs, asking);
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

    private void comesOrGoes(long nowNs, int from, Message.Report report, RingView ring) {
        if (report.goes()) {
            if (ring.has(from) && (master() || from == ring.master())) {
                askForHint(nowNs);
            }
        } else if (master() && !report.answer()) {
            if (from != RingPlan.DISTRIBUTOR && !ring.has(from)) {
                if (inGroup(from)) {
                    askForHint(nowNs); // it has no ring, or a forgotten one
                }
            } else if (ring.has(from) && Epoch.newer(report.epoch(), ring.epoch())) {
                ask(nowNs, true); // it proposed in vain and can take newer views alone
            } else if (!report.inRing() || ring.ballot().newer(report.ballot())) {
                wire.send(from, new Message.Ring(ring));
            }
        }
    }

    private void proposed(long nowNs, int from, RingView ring) {
        if (from != ring.master() || from == me) {
            return;
        }
        heardEpoch = Epoch.newest(ring.epoch(), heardEpoch);
        if (promised.newer(ring.ballot()) || ended && ring.has(me)) {
            wire.send(from, unasked());
            return;
        }
        if (!ring.has(me) && !goes()) {
            fallBehind(nowNs);
            return;
        }
        wire.send(from, new Message.Taken(ring.epoch(), me));
        promised = ring.ballot();
        if (!ring.has(me)) {
            letGo(nowNs);
        } else if (!ring.equals(view)) {
            enter(nowNs, ring);
        }
    }

    private void letGo(long nowNs) {
        if (drained) {
            leave();
        } else if (!ended) {
            noView(nowNs, isStuck() ? stuckUntilNs : nowNs + plan.idleMaxNs());
            noticeNs = NEVER;
        }
    }

    private void taken(long nowNs, int from, int epoch) {
        if (proposal != null && epoch == proposal.view.epoch()) {
            proposal.taken(from);
            enterIfTaken(nowNs, proposal);
        }
    }

    // Asking and proposing.

    private void askForHint(long nowNs) {
        if (hintNs <= nowNs) {
            hintNs = nowNs + watch.t1Ns();
            ask(nowNs, false);
        }
    }

    private void ask(long nowNs, boolean repair) {
        if (asking != null) {
            asking.repair |= repair;
            return;
        }
        if (lacking == 0 || lacking >= ASKING_TRIES) {
            nonce++; // else a late answer to the question before is one to this
        }
        boolean begins = repair || proposal != null; // for which the token was given up
        proposal = null;
        long patienceNs = watch.t1Ns() << Math.min(lacking, MAX_PATIENCE); // where answers take longer
        asking = new Asking(plan, me, nonce, wire, nowNs, patienceNs, begins);
        asking.send(question(asking));
        decideIfOver(nowNs, asking);
    }

    /** Asks the units that this master lacks: they may have another ring, and nobody that knows of both. */
    private void callOthers(long nowNs) {
        RingView ring = view;
        callNs = ring != null && master() && ring.units().size() < plan.units().size() ? nowNs + plan.lookNs() : NEVER;
        if (ring != null && callNs != NEVER) {
            Message.Report question = report(false, 0);
            plan.units().stream().filter(unit -> !ring.has(unit)).forEach(unit -> wire.send(unit, question));
        }
    }

    private void decideIfOver(long nowNs, Asking asked) {
        if (asked.isOver(nowNs)) {
            asking = null;
            attemptNs = nowNs + watch.t1Ns();
            watch.await(nowNs);
            if (asked.hasMajority()) {
                lacking = 0;
                decide(nowNs, asked);
            } else {
                lackMajority(nowNs, asked.repair);
            }
        }
    }

    private void decide(long nowNs, Asking asked) {
        List<Integer> units = asked.units(!goes());
        if (units.isEmpty() && drained) {
            leave(); // there is nobody to be told
        }
        if (!units.contains(me) || !mayPropose(asked, units)) {
            return;
        }
        promised = new Ballot(Epoch.next(Epoch.newest(promised.epoch(), heardEpoch)), me);
        watch.giveUp();
        proposal = new Proposal(
                new RingView(promised.epoch(), me, asked.round(state.round()), units), asked.voters(), wire);
        proposal.send(nowNs, watch.t1Ns());
        enterIfTaken(nowNs, proposal);
    }

    private boolean mayPropose(Asking asked, List<Integer> units) {
        RingView ring = view;
        if (ring == null) {
            // If there is a ring, or what is left of one, those in it take a newcomer in.
            return !asked.anyInRing() && units.get(0) == me;
        }
        if (master()) {
            return asked.repair || !units.equals(ring.units());
        }
        Message.Report master = asked.of(ring.master());
        if (master != null && master.goes()) {
            return asked.firstInRing(ring.units()) == me; // those that have no view any more wait for this one
        }
        return master == null || !master.leads();
    }

    private void lackMajority(long nowNs, boolean repair) {
        if (++lacking < ASKING_TRIES) {
            ask(nowNs, repair);
            return;
        }
        noView(nowNs, nowNs + plan.idleMaxNs());
        goOnAlone();
    }

    private void goOnAlone() {
        aloneNs = NEVER;
        if (!alone) {
            alone = true;
            calls.accept(RingMember::alone);
        }
    }

    private void enterIfTaken(long nowNs, Proposal current) {
        if (current.isTaken()) {
            enter(nowNs, current.view);
        }
    }

    // Views.

    private void enter(long nowNs, RingView ring) {
        view = ring;
        asking = null;
        proposal = null;
        lacking = 0;
        alone = false;
        aloneNs = NEVER;
        views++;
        watch.enter(nowNs, ring.ballot());
        boolean master = master();
        callNs = master ? nowNs + plan.lookNs() : NEVER;
        calls.accept(member -> member.view(ring.epoch(), master, ring.units().size(), ring.round()));
    }

    private void noView(long nowNs, long nextNs) {
        if (aloneNs == NEVER && !alone && !ended) {
            aloneNs = nowNs + LOOKS_WITHOUT_VIEW * plan.lookNs();
        }
        view = null;
        proposal = null;
        asking = null;
        attemptNs = nextNs;
        watch.leave();
    }

    /** Leaves a view that others have left: the sender keeps what it has until the next one takes this unit in. */
    private void fallBehind(long nowNs) {
        noView(nowNs, nowNs);
        ask(nowNs, false);
    }

    private void leave() {
        if (!ended) {
            ended = true;
            noView(NEVER, NEVER);
            aloneNs = NEVER;
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

    /** Leaves the ring, if that was announced: all of the unit's packets are sent. */
    void drained(long nowNs) {
        if (leaving) { // a distributor ends the path of a unit too that it has lost for a while
            drained = true;
            noticeNs = nowNs;
        }
    }

    private void giveNotice(long nowNs) {
        RingView ring = view;
        noticeNs = goes() ? nowNs + watch.t1Ns() : leaving ? nowNs + plan.idleMaxNs() : NEVER;
        if (ended || drained && (ring == null || ring.units().size() == 1 || ++notices > NOTICES)) {
            leave();
            noticeNs = NEVER;
            return;
        }
        if (plan.distributor()) {
            wire.send(RingPlan.DISTRIBUTOR, unasked());
        }
        if (ring != null && !master()) {
            wire.send(ring.master(), unasked());
        } else if (ring != null && goes()) {
            ring.units().stream().filter(unit -> unit != me).forEach(unit -> wire.send(unit, unasked()));
        }
    }

    // What others see.

    private Message.Report question(Asking current) {
        return report(false, current.nonce);
    }

    /** Returns a report that nobody asked for. */
    private Message.Report unasked() {
        return report(true, 0);
    }

    private Message.Report report(boolean answer, long about) {
        int flags = view == null && !ended ? Message.Report.JOINS : 0;
        flags |= leaving || ended ? Message.Report.LEAVES : 0;
        flags |= drained || ended ? Message.Report.DRAINED : 0;
        flags |= isStuck() ? Message.Report.STUCK : 0;
        int epoch = view == null ? Epoch.newest(promised.epoch(), heardEpoch) : view.epoch();
        int master = view == null ? RingPlan.DISTRIBUTOR : view.master();
        long serial = Epoch.of(state.lastSerial()) == epoch ? state.lastSerial() : Epoch.begin(epoch);
        return new Message.Report(
                answer,
                me,
                flags,
                master,
                about,
                new RingMember.State(serial, state.round(), state.queued(), state.newest(), drained));
    }

    RingStatus status() {
        return watch.status(view, alone, ended, views);
    }

    private boolean master() {
        return view != null && view.master() == me;
    }
}
