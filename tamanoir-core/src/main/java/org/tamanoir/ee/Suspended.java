package org.tamanoir.ee;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;

/**
 * What is known of a packet that a service holds: for how long it may, and what it has said since.
 *
 * <p>Thread contract: {@link #resume} any thread, all else the service's.
 */
final class Suspended implements Suspension {
    private static final Duration MAX = Duration.ofMinutes(10);

    final Duration atMost;
    /** When its time is up, in ns. */
    final long untilNs;
    /** The service had returned so many packets before this one. */
    final long calls;

    /** What may still leave in reaction to a datagram that is held ({@link UdpReaction#hold}). The service's thread. */
    long onwardLeft;

    long answersLeft;
    /** Of the datagram: IP and UDP. */
    int headerBytes;

    long farAnswersLeft;

    /** A verdict that counts, and its place among all that were resumed of an instance, from 1 on. */
    private record Said(Verdict verdict, long number) {}

    /** Nothing can be said any more. */
    private static final Said OVER = new Said(Verdict.HELD, 0);

    private final Platform platform;
    private final AtomicLong resumptions;
    /**
     * What the service has {@link Said}; until then what wakes the service's thread. One place for both, so that a
     * suspension that is decided, which others may keep, keeps no instance.
     */
    private final AtomicReference<Object> state;

    /**
     * @param resumptions the number of the last that was resumed of the instance
     * @param wake runs on the thread that resumes, once
     */
    Suspended(Duration atMost, long calls, Platform platform, AtomicLong resumptions, Runnable wake) {
        if (atMost.isNegative() || atMost.isZero() || atMost.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("hold for " + atMost + ": must be more than 0 and at most " + MAX);
        }
        this.atMost = atMost;
        this.untilNs = platform.nanoTime() + atMost.toNanos();
        this.calls = calls;
        this.platform = platform;
        this.resumptions = resumptions;
        this.state = new AtomicReference<>(wake);
    }

    @Override
    public boolean resume(Verdict verdict) {
        switch (verdict) {
            case FORWARD, REPLY, DROP, CONSUME, CLOSE, RESET -> {}
            case FORWARD_ELSEWHERE, HELD ->
                throw new IllegalArgumentException(
                        "resume with " + verdict + ": FORWARD, REPLY, DROP, CONSUME, CLOSE or RESET is wanted");
        }
        if (platform.nanoTime() - untilNs < 0
                && state.get() instanceof Runnable wake
                && state.compareAndSet(wake, new Said(verdict, resumptions.incrementAndGet()))) {
            wake.run();
            return true;
        }
        return false;
    }

    /** Returns what the service has said; null while it has not. */
    @Nullable
    Verdict verdict() {
        return verdict(state.get());
    }

    /** Returns whether it was ended, and nothing had been said. */
    boolean isOver() {
        return state.get() == OVER;
    }

    /** Returns its place among those that were resumed of its instance, as {@link HeldDatagrams#serve} needs it; 0 = none. */
    long number() {
        return state.get() instanceof Said said ? said.number : 0;
    }

    /**
     * Ends it: what the service says from now on comes too late. Returns what it has said, which counts, since {@link
     * #resume} has told it so; or null.
     */
    @Nullable
    Verdict end() {
        return verdict(state.getAndSet(OVER));
    }

    /** As {@link #end}, but what the service has said stays, for {@link #end} to return. */
    @Nullable
    Verdict endUnlessSaid() {
        return verdict(state.getAndUpdate(now -> now instanceof Said ? now : OVER));
    }

    private static @Nullable Verdict verdict(@Nullable Object state) {
        return state instanceof Said said && said != OVER ? said.verdict : null;
    }
}
