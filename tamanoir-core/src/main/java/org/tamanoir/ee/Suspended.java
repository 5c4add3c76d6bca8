package org.tamanoir.ee;

import java.time.Duration;
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

    private final Platform platform;
    /**
     * What the service has said, {@link Verdict#HELD} = nothing can be said any more; until then what wakes the service's
     * thread. One place for both, so that a suspension that is decided, which others may keep, keeps no instance.
     */
    private final AtomicReference<Object> state;

    /** @param wake runs on the thread that resumes, once */
    Suspended(Duration atMost, long calls, Platform platform, Runnable wake) {
        if (atMost.isNegative() || atMost.isZero() || atMost.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("hold for " + atMost + ": must be more than 0 and at most " + MAX);
        }
        this.atMost = atMost;
        this.untilNs = platform.nanoTime() + atMost.toNanos();
        this.calls = calls;
        this.platform = platform;
        this.state = new AtomicReference<>(wake);
    }

    @Override
    public boolean resume(Verdict verdict) {
        switch (verdict) {
            case FORWARD, REPLY, DROP, CONSUME -> {}
            case FORWARD_ELSEWHERE, HELD ->
                throw new IllegalArgumentException(
                        "resume with " + verdict + ": FORWARD, REPLY, DROP or CONSUME is wanted");
        }
        if (platform.nanoTime() - untilNs < 0
                && state.get() instanceof Runnable wake
                && state.compareAndSet(wake, verdict)) {
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

    /**
     * Ends it: what the service says from now on comes too late. Returns what it has said, which counts, since {@link
     * #resume} has told it so; or null.
     */
    @Nullable
    Verdict end() {
        return verdict(state.getAndSet(Verdict.HELD));
    }

    /** As {@link #end}, but what the service has said stays, for {@link #end} to return. */
    @Nullable
    Verdict endUnlessSaid() {
        return verdict(state.getAndUpdate(now -> now instanceof Verdict ? now : Verdict.HELD));
    }

    private static @Nullable Verdict verdict(@Nullable Object state) {
        return state instanceof Verdict said && said != Verdict.HELD ? said : null;
    }
}
