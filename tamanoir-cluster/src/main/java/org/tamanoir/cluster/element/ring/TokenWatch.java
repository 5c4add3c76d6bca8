package org.tamanoir.cluster.element.ring;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.Token;

/**
 * The token's way through a unit: from the unit before it to the sender, from the sender to the next. The master's is
 * issued again when it is not back in T1, twice; then it is lost. Pure, as {@link Keeper} is, which knows the view.
 */
final class TokenWatch {
    private static final int REISSUES = 2;
    private static final int T1_ROUND_TRIPS = 10;
    /** A turn that nobody has seen is supposed to take this long at most. */
    private static final long MAX_SUPPOSED_NS = 20_000_000;
    /** So that one turn in which a process stood still does not make the master deaf to losses. */
    private static final long MAX_T1_NS = 1_000_000_000;
    /** Looks at a sender that has a token and passes none before it counts as stuck; one rest is none. */
    private static final int STUCK_LOOKS = 6;

    private final RingPlan plan;
    private final int me;
    private final Wire wire;
    private final Consumer<Consumer<RingMember>> calls;

    private Ballot ballot = Ballot.NONE;
    private long lastSerial;
    private long lastTokenNs;
    private long timerNs = Keeper.NEVER;

    /** The master's, as long as it is on its way. */
    private @Nullable Token out;

    private long outNs;
    private long firstNs;
    private int reissues;
    /** Tokens that were given up since the last turn. */
    private int lost;

    /** The sender has a token of this view. */
    private boolean held;
    /** Looks at which it had one since it passed its last. */
    private int vainLooks;

    private long lookNs = Keeper.NEVER;

    private long smoothedNs;
    private long roundTripNs;
    private long turns;
    private long stale;
    private long reissued;

    TokenWatch(RingPlan plan, int me, Wire wire, Consumer<Consumer<RingMember>> calls) {
        this.plan = plan;
        this.me = me;
        this.wire = wire;
        this.calls = calls;
    }

    /** Begins with a view, in which no token has come. */
    void enter(long nowNs, Ballot its) {
        if (!its.equals(ballot)) {
            ballot = its;
            lastSerial = Epoch.begin(its.epoch());
        }
        leave();
        lastTokenNs = nowNs;
    }

    /** Forgets tokens that are under way. */
    void leave() {
        out = null;
        held = false;
    }

    /** Forgets the one that this master has sent. */
    void giveUp() {
        out = null;
    }

    /** Begins the patience of one without a token anew. */
    void await(long nowNs) {
        lastTokenNs = nowNs;
    }

    /** Returns until when a unit of this view waits for a token before it asks where it is. */
    long patienceNs(RingView ring) {
        return out != null
                ? Keeper.NEVER
                : lastTokenNs + 2 * plan.idleMaxNs() + (ring.units().indexOf(me) + 1) * t1Ns();
    }

    long deadlineNs() {
        return Math.min(Math.min(timerNs, lookNs), out == null ? Keeper.NEVER : outNs + t1Ns());
    }

    /** Does what was due by now; returns whether the token is lost for good. */
    boolean expire(long nowNs, @Nullable RingView ring) {
        if (timerNs <= nowNs) {
            timerNs = Keeper.NEVER;
            calls.accept(RingMember::timer);
        }
        if (lookNs <= nowNs) {
            vainLooks += held ? 1 : 0;
            lookNs = held ? nowNs + plan.lookNs() : Keeper.NEVER;
        }
        return out != null && ring != null && outNs + t1Ns() <= nowNs && !reissue(nowNs, ring, out);
    }

    private boolean reissue(long nowNs, RingView ring, Token last) {
        outNs = nowNs;
        if (reissues == REISSUES) {
            if (lost++ > 0) {
                // Twice without a turn: it may be slow, not lost.
                smoothedNs = Math.max(smoothedNs, Math.min((nowNs - firstNs) / T1_ROUND_TRIPS, MAX_SUPPOSED_NS));
            }
            return false;
        }
        reissues++;
        reissued++;
        out = new Token(
                last.serial() + 1, // by which slaves tell it from the lost one; the sender goes on from there
                last.round(),
                last.minHead(),
                last.roundTripUs(),
                last.holdBudget(),
                me);
        wire.send(ring.after(me), out);
        return true;
    }

    /** Takes a token of this view; returns whether it came in its order. */
    boolean came(long nowNs, RingView ring, Token token) {
        if (ring.master() == me ? !isBack(nowNs, token) : !isNext(token)) {
            stale++;
            return false;
        }
        turns++;
        lost = 0;
        lastTokenNs = nowNs;
        held = true;
        if (lookNs == Keeper.NEVER) {
            lookNs = nowNs + plan.lookNs();
        }
        calls.accept(member -> member.token(token));
        return true;
    }

    private boolean isNext(Token token) {
        if (Long.compareUnsigned(token.serial(), lastSerial) <= 0) {
            return false;
        }
        lastSerial = token.serial();
        smooth(token.roundTripUs() * 1000L);
        return true;
    }

    private boolean isBack(long nowNs, Token token) {
        if (out == null || token.serial() != out.serial()) {
            if (out != null && token.serial() == out.serial() - reissues) {
                smooth(nowNs - firstNs); // slow, not lost: the next is given more time
            }
            return false;
        }
        out = null;
        if (reissues == 0) {
            roundTripNs = nowNs - firstNs;
            smooth(roundTripNs);
        }
        return true;
    }

    /** Drops a token of another view than the one that holds here. */
    void drop() {
        stale++;
    }

    /** Passes the sender's token on; one of a view that is no more is dropped. */
    void pass(long nowNs, @Nullable RingView ring, Token token) {
        held = false;
        forgetLooks();
        if (ring == null
                || Epoch.of(token.serial()) != ring.epoch()
                || token.origin() != ring.master() // of one epoch may be two views
                || ring.units().size() == 1) {
            return;
        }
        Token sent = token;
        if (ring.master() == me) {
            sent = new Token(
                    token.serial(),
                    token.round(),
                    token.minHead(),
                    (int) Math.min(roundTripNs / 1000, Integer.MAX_VALUE),
                    token.holdBudget(),
                    me);
            out = sent;
            outNs = nowNs;
            firstNs = nowNs;
            reissues = 0;
        }
        wire.send(ring.after(me), sent);
    }

    /** Has the sender's timer called; a later call replaces an earlier one. */
    void timer(long nowNs, long delayNs) {
        timerNs = nowNs + Math.max(delayNs, 0);
    }

    /** Returns whether the sender gets tokens and passes none on. */
    boolean isStuck() {
        return vainLooks >= STUCK_LOOKS;
    }

    void forgetLooks() {
        vainLooks = 0;
        lookNs = Keeper.NEVER;
    }

    private void smooth(long sampleNs) {
        if (sampleNs > 0) {
            // One sample says little: also the first one moves T1 by an eighth at most.
            long knownNs = smoothedNs == 0 ? Math.min(sampleNs, plan.t1Ns() / T1_ROUND_TRIPS) : smoothedNs;
            smoothedNs = knownNs + (Math.min(sampleNs, MAX_T1_NS / T1_ROUND_TRIPS) - knownNs) / 8;
        }
    }

    long t1Ns() {
        return Math.max(T1_ROUND_TRIPS * smoothedNs, plan.t1Ns());
    }

    RingStatus status(@Nullable RingView view, boolean alone, boolean ended, long views) {
        return new RingStatus(view, alone, ended, smoothedNs, turns, stale, reissued, views);
    }
}
