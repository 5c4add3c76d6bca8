package org.tamanoir.cluster.element.ring;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;

/**
 * A unit's keeper between the ring's thread and those of its sender.
 *
 * <p>The sender passes tokens inside its own lock, so it is called, also for its state, only outside of this one.
 */
final class Seat implements RingPort, Party {
    private final LongSupplier clockNs;
    private final Runnable wake;
    private final Keeper keeper;
    private final Queue<Consumer<RingMember>> calls = new ArrayDeque<>();
    private volatile @Nullable RingMember member;
    /** What the ring's thread takes for the next deadline. */
    private long knownNs = Keeper.NEVER;
    /** It was woken for that, and keeps it until then: else each token that comes and goes would wake it again. */
    private boolean woken;

    /**
     * Seats a unit.
     *
     * @param start of the unit's run
     * @param wake has the ring's thread ask for the deadline again; any thread
     */
    Seat(RingPlan plan, int unit, RunStart start, LongSupplier clockNs, Wire wire, Runnable wake) {
        this.clockNs = clockNs;
        this.wake = wake;
        this.keeper = new Keeper(plan, unit, start, wire, calls::add);
    }

    /** Begins to look for a ring, for this sender. */
    void start(RingMember sender) {
        member = sender;
        change(() -> keeper.start(clockNs.getAsLong()));
    }

    @Override
    public void pass(Token token) {
        change(() -> keeper.pass(clockNs.getAsLong(), token));
    }

    @Override
    public void timer(long delayNs) {
        change(() -> keeper.timer(clockNs.getAsLong(), delayNs));
    }

    @Override
    public void wake(long headRound) {
        change(() -> keeper.wake(headRound));
    }

    @Override
    public void drained() {
        change(() -> keeper.drained(clockNs.getAsLong()));
    }

    void announceLeaving() {
        change(() -> keeper.announceLeaving(clockNs.getAsLong()));
    }

    void group(Set<Integer> units) {
        change(() -> keeper.group(clockNs.getAsLong(), units));
    }

    private synchronized void change(Runnable change) {
        change.run();
        long nextNs = calls.isEmpty() ? keeper.deadlineNs() : 0;
        if (nextNs < knownNs) {
            knownNs = nextNs;
            woken = true;
            wake.run();
        }
    }

    @Override
    public void token(int from, Token token) {
        synchronized (this) {
            keeper.token(clockNs.getAsLong(), from, token);
        }
        callMember();
    }

    @Override
    public void message(int from, Message message) {
        RingMember.State state = member().state();
        synchronized (this) {
            keeper.state(state);
            keeper.message(clockNs.getAsLong(), from, message);
        }
        callMember();
    }

    @Override
    public void expire() {
        RingMember.State state = member().state();
        synchronized (this) {
            keeper.state(state);
            keeper.expire(clockNs.getAsLong());
        }
        callMember();
    }

    @Override
    public synchronized long deadlineNs() {
        long nextNs = calls.isEmpty() ? keeper.deadlineNs() : 0;
        if (!woken || nextNs < knownNs || knownNs <= clockNs.getAsLong()) {
            knownNs = nextNs;
            woken = false;
        }
        return knownNs;
    }

    private void callMember() {
        for (Consumer<RingMember> call = next(); call != null; call = next()) {
            call.accept(member());
        }
    }

    private RingMember member() {
        return Objects.requireNonNull(member, "the ring has begun without a sender");
    }

    private synchronized @Nullable Consumer<RingMember> next() {
        return calls.poll();
    }

    synchronized RingStatus status() {
        return keeper.status();
    }
}
