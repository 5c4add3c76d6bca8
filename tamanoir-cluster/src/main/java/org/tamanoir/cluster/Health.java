package org.tamanoir.cluster;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.HealthPolicy;

/**
 * What the director makes of a back-end's answers: the states of {@link BackEndState}. Time is given by the caller.
 *
 * <p>A node that stops lets its streams end: it says so, and is drained instead of cut off. It is taken in again when it
 * answers as ready afterwards; one that was told to drain waits until it is told to join.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class Health {
    /** Why a back-end gets no new streams, though those that it has go on. */
    enum Cause {
        /** It was told to drain. */
        ORDER,
        /** It registered as leaving, and still answers as ready. */
        LEAVING,
        /** It answers that it stops. */
        STOPPING
    }

    private static final Duration FLAP_WINDOW = Duration.ofMinutes(5);
    private static final Duration FLAP_HOLD = Duration.ofMinutes(2);

    private final HealthPolicy policy;
    /** When it went down, in the last {@link #FLAP_WINDOW}. */
    private final Deque<Long> downsNs = new ArrayDeque<>();

    private BackEndState state;
    private @Nullable Cause cause;
    private @Nullable String reason;
    private int failures;
    private int successes;
    private long heldUntilNs;
    private long drainEndsNs;

    private Health(HealthPolicy policy, BackEndState state) {
        this.policy = policy;
        this.state = state;
    }

    /** Returns the health of a back-end that was never asked. */
    static Health joining(HealthPolicy policy) {
        return new Health(policy, BackEndState.JOINING);
    }

    /** Returns the health of one in the kernel's table: it is believed to be well until its answers say otherwise. */
    static Health trusted(HealthPolicy policy) {
        return new Health(policy, BackEndState.UP);
    }

    BackEndState state() {
        return state;
    }

    /** Returns why it is in its state; null = nothing to say. */
    @Nullable
    String reason() {
        return reason;
    }

    /** Returns why it gets no new streams; null unless it drains or is drained. */
    @Nullable
    Cause cause() {
        return cause;
    }

    /** Returns when the drain ends; meaningful while it drains. */
    long drainEndsNs() {
        return drainEndsNs;
    }

    /** Returns whether it is out of the table, and not by an order that is to be kept. */
    boolean isGone() {
        return state == BackEndState.JOINING
                || state == BackEndState.DOWN
                || state == BackEndState.HELD
                || state == BackEndState.DRAINED && cause != Cause.ORDER;
    }

    /** Takes the answer that it does its work. */
    void ready() {
        failures = 0;
        boolean told = cause == Cause.ORDER || cause == Cause.LEAVING;
        if (told || state == BackEndState.HELD) {
            return;
        }
        if (state == BackEndState.UP) {
            reason = null;
        } else if (++successes >= policy.successes()) {
            enter(BackEndState.UP, null);
        }
    }

    /** Takes the answer that it stops, once its streams have ended. */
    void stops(String why, long nowNs, long drainEndsNs) {
        switch (state) {
            case UP -> beginDrain(Cause.STOPPING, why, drainEndsNs);
            case DRAINING, DRAINED -> {
                failures = 0;
                successes = 0;
                if (cause == Cause.LEAVING) {
                    cause = Cause.STOPPING;
                }
            }
            default -> fails(why, nowNs);
        }
    }

    /** Takes the answer that it does not do its work. */
    void notReady(String why, long nowNs) {
        if (state == BackEndState.DRAINING && cause != Cause.STOPPING) {
            failures = 0; // It is there: its streams may go on until they end.
            return;
        }
        fails(why, nowNs);
    }

    /** Notes that it did not answer. */
    void fails(String why, long nowNs) {
        successes = 0;
        failures++;
        boolean dead = failures >= policy.failures();
        switch (state) {
            case UP -> {
                reason = why + " (" + failures + " of " + policy.failures() + ")";
                if (dead) {
                    goDown(why, nowNs);
                }
            }
            case JOINING -> {
                reason = why;
                if (dead) {
                    enter(BackEndState.DOWN, why);
                }
            }
            case DOWN -> reason = why;
            case DRAINING -> {
                if (dead) {
                    drained(why);
                }
            }
            case DRAINED -> {
                if (dead && cause == Cause.LEAVING) {
                    cause = Cause.STOPPING; // What answers next is another, which did not say that it leaves.
                }
            }
            case HELD -> {}
        }
    }

    private void goDown(String why, long nowNs) {
        downsNs.addLast(nowNs);
        long windowNs = FLAP_WINDOW.toNanos();
        downsNs.removeIf(at -> nowNs - at > windowNs);
        if (policy.flapLimit() == 0 || downsNs.size() < policy.flapLimit()) {
            enter(BackEndState.DOWN, why);
            return;
        }
        enter(
                BackEndState.HELD,
                "went down " + downsNs.size() + " times in " + Bounds.text(FLAP_WINDOW) + ", now: " + why
                        + "; it stays out for " + Bounds.text(FLAP_HOLD) + ", or until told to join");
        downsNs.clear();
        heldUntilNs = nowNs + FLAP_HOLD.toNanos();
    }

    /** Lets time go on. */
    void tick(long nowNs) {
        if (state == BackEndState.HELD && nowNs - heldUntilNs >= 0) {
            enter(BackEndState.DOWN, "was held, is asked again");
        }
    }

    /** Gives it no new streams. One that has none, as it is out of the table, is drained at once. */
    void drain(Cause why, String text, long endsNs) {
        switch (state) {
            case UP -> beginDrain(why, text, endsNs);
            case DRAINING -> {
                if (why == Cause.ORDER) {
                    cause = why;
                    reason = text;
                }
                drainEndsNs = endsNs;
            }
            case DRAINED -> cause = why == Cause.ORDER ? why : cause;
            case JOINING, DOWN, HELD -> {
                cause = why;
                enter(BackEndState.DRAINED, text);
            }
        }
    }

    private void beginDrain(Cause why, String text, long endsNs) {
        cause = why;
        drainEndsNs = endsNs;
        enter(BackEndState.DRAINING, text);
    }

    /** Ends a drain: it has no streams any more, or must not have them. */
    void drained(String why) {
        enter(BackEndState.DRAINED, why);
    }

    /** Takes it in again; one whose streams still go on stays in the table. */
    void join() {
        switch (state) {
            case DRAINING -> enter(BackEndState.UP, null);
            case DRAINED, HELD -> {
                downsNs.clear();
                enter(BackEndState.JOINING, null);
            }
            default -> {}
        }
    }

    private void enter(BackEndState next, @Nullable String why) {
        state = next;
        reason = why;
        failures = 0;
        successes = 0;
        if (next != BackEndState.DRAINING && next != BackEndState.DRAINED) {
            cause = null;
        }
    }
}
