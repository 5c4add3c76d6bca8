package org.tamanoir.cluster;

import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.RealServer;

/**
 * The weight of one back-end by what it can still take:
 *
 * <pre>
 *   busy   = max(&Delta; processorSeconds, &Delta; hostBusySeconds) / (&Delta; uptimeSeconds &times; processors), 0 to 1,
 *            damped: busy += (1 &minus; 2^(&minus;&Delta; uptimeSeconds / {@value #HALF_LIFE_SECONDS})) &times; (new &minus; busy)
 *   free   = min(1 &minus; busy, 1 &minus; streams / maxStreams)
 *   target = max(1, round(perProcessor &times; processors &times; free)), at most {@link RealServer#MAX_WEIGHT}
 * </pre>
 *
 * The weight moves towards the target when it is more than {@value #HYSTERESIS} &times; weight away, by at most {@value
 * #MAX_STEP} &times; weight (and at least 1) at each look. Differences of two answers are used, so whoever else asks the
 * node changes nothing, and the node's own uptime is the clock. A node that is new, or started anew, begins as an idle one; a
 * weight that the kernel has already stays until a difference is known. Never 0:
 * a busy back-end still takes its share, 0 would drain it.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class Capacity {
    /** The time in which an old load counts half. */
    private static final double HALF_LIFE_SECONDS = 10;

    private static final double HYSTERESIS = 0.1;
    private static final double MAX_STEP = 0.25;

    private final WeightPolicy policy;
    private @Nullable Load last;
    private @Nullable Double busy;
    /** 0 = not known yet. */
    private int weight;

    /** @param weight that it has in the kernel's table; 0 = it is not there, the first load says */
    Capacity(WeightPolicy policy, int weight) {
        this.policy = policy;
        this.weight = weight;
    }

    /** Takes what the node says now. */
    void heard(Load now) {
        Load before = last;
        if (before == null || !before.instance().equals(now.instance())) {
            begin(before != null, now);
            return;
        }
        double seconds = now.uptimeSeconds() - before.uptimeSeconds();
        if (seconds <= 0) {
            return; // The same moment, or answers that overtook each other.
        }
        last = now;
        double part = clamp(usedSeconds(before, now) / (seconds * now.processors()));
        double share = 1 - Math.pow(2, -seconds / HALF_LIFE_SECONDS);
        busy = busy == null ? part : busy + share * (part - busy);
        move(target(now, busy));
    }

    private void begin(boolean restarted, Load now) {
        last = now;
        busy = null;
        if (restarted || weight == 0) {
            weight = target(now, 0);
        }
    }

    private static double usedSeconds(Load before, Load now) {
        double own = now.processorSeconds() - before.processorSeconds();
        Double hostBefore = before.hostBusySeconds();
        Double hostNow = now.hostBusySeconds();
        return hostBefore == null || hostNow == null ? own : Math.max(own, hostNow - hostBefore);
    }

    private int target(Load load, double busy) {
        double free = Math.min(1 - busy, 1 - clamp((double) load.streams() / load.maxStreams()));
        long weight = Math.round(policy.perProcessor() * (double) load.processors() * free);
        return (int) Math.max(1, Math.min(weight, RealServer.MAX_WEIGHT));
    }

    private void move(int target) {
        int away = target - weight;
        if (Math.abs(away) <= HYSTERESIS * weight) {
            return;
        }
        int step = (int) Math.max(1, Math.floor(MAX_STEP * weight));
        weight += Math.max(-step, Math.min(step, away));
    }

    private static double clamp(double part) {
        return Math.max(0, Math.min(1, part));
    }

    /** Returns 1 to {@link RealServer#MAX_WEIGHT}; that of one idle processor until a load is known. */
    int weight() {
        return weight == 0 ? policy.perProcessor() : weight;
    }

    /** Returns the busy part of its processors, damped; null = not known yet. */
    @Nullable
    Double busy() {
        return busy;
    }

    /** Returns the last load; null = none yet. */
    @Nullable
    Load last() {
        return last;
    }
}
