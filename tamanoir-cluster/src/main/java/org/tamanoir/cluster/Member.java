package org.tamanoir.cluster;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.WeightPolicy;

/**
 * All that the director knows of one back-end.
 *
 * <p>Thread contract: none, the {@link Roster}'s owner guards it.
 */
final class Member {
    final boolean listed;
    final Health health;
    final Capacity capacity;
    BackEnd backEnd;
    long registeredNs;
    List<String> findings = List.of();
    List<String> services = List.of();

    /** When it is to be asked again whether it is ready, and for its load; and whether an answer is awaited. */
    boolean isScheduled;

    long nextReadyNs;
    long nextLoadNs;
    boolean asksReady;
    boolean asksLoad;
    /** Why its load is not known, one line; null = it is. */
    @Nullable
    String noLoad = "its load was not asked yet";

    /** What it has of streams; begun anew when the kernel has weight 0. */
    private DrainWatch watch;

    /** Whether {@link #watch} began with the drain. */
    private boolean watchesDrain;
    /** The state that the log knows. */
    BackEndState logged = BackEndState.JOINING;
    /** When its drain ends; null = it was told nothing of the kind. */
    @Nullable
    Instant drainUntil;

    Member(BackEnd backEnd, boolean listed, Health health, Capacity capacity, long nowNs) {
        this.backEnd = backEnd;
        this.listed = listed;
        this.health = health;
        this.capacity = capacity;
        registeredNs = nowNs;
        watch = new DrainWatch(nowNs);
    }

    void drain(Health.Cause cause, String why, Duration deadline, long nowNs, Instant now) {
        health.drain(cause, why, nowNs + deadline.toNanos());
        drainUntil = now.plus(deadline);
    }

    /** Takes the answer that it stops. */
    void stops(String why, Duration deadline, long nowNs, Instant now) {
        boolean drained = health.state() == BackEndState.DRAINING;
        health.stops(why, nowNs, nowNs + deadline.toNanos());
        if (!drained && health.state() == BackEndState.DRAINING) {
            drainUntil = now.plus(deadline);
        }
    }

    /** Takes what the kernel's counters say of it now; a drain that is over ends. */
    void look(long tcpStreams, long udpFlows, long udpPackets, long nowNs) {
        watch.look(tcpStreams, udpFlows, udpPackets, nowNs);
        if (health.state() == BackEndState.DRAINING && watchesDrain && watch.isOver(nowNs)) {
            health.drained("drained: its streams have ended" + remedy());
        }
    }

    /** Lets time go on. */
    void tick(long nowNs) {
        health.tick(nowNs);
        if (health.state() != BackEndState.DRAINING) {
            watchesDrain = false;
            drainUntil = null;
            return;
        }
        if (nowNs - health.drainEndsNs() >= 0) {
            health.drained("drained: the deadline cut " + watch.streams() + " streams" + remedy());
        }
    }

    /** Notes that the kernel has the table that was wanted. */
    void placed(long nowNs) {
        if (health.state() == BackEndState.DRAINING && !watchesDrain) {
            watch = new DrainWatch(nowNs);
            watchesDrain = true;
        }
    }

    /** Returns whether the kernel gives it new streams though it drains. */
    boolean isAwaited() {
        return health.state() == BackEndState.DRAINING && !watchesDrain;
    }

    /** Returns how many streams the kernel has for it. */
    long streams() {
        return watch.streams();
    }

    private String remedy() {
        return health.cause() == Health.Cause.ORDER ? "; tell it to join to take it in again" : "";
    }

    /** Returns its weight in the table; null = it is not in it. */
    @Nullable
    Integer weight(WeightPolicy policy) {
        return switch (health.state()) {
            case DRAINING -> 0;
            case UP -> {
                Integer own = backEnd.weight();
                yield own != null ? own : policy.dynamic() ? capacity.weight() : policy.fixed();
            }
            default -> null;
        };
    }
}
