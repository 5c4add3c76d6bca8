package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import org.HdrHistogram.Histogram;

/**
 * A schedule in real time: the calling thread spins on the clock and injects each packet when it is due, and knows how late
 * it was. The node's thread is woken as an interface's interrupts are moderated: not more often than is said.
 *
 * <p>Thread contract: one thread runs it; what it is told by the node comes on the node's.
 */
final class RealRun implements EmulatedPort.Departures, StatedWork.Costs {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long LONGEST_NS = 100_000_000_000L;
    /** What counts as late. */
    static final long LATE_NS = 1_000;

    private final long[] loadNs;
    private final long moderationNs;
    private final Histogram[] waits;
    private final Histogram stays = new Histogram(1, LONGEST_NS, 3);
    private final Histogram errors = new Histogram(1, LONGEST_NS, 3);
    private final long[] wokenNs;
    private long late;
    private long foundWaiting;
    private long lost;
    private volatile boolean begun;

    /** @param loadNs for each service */
    RealRun(long[] loadNs, long moderationNs) {
        this.loadNs = loadNs;
        this.moderationNs = moderationNs;
        wokenNs = new long[loadNs.length];
        waits = new Histogram[loadNs.length];
        for (int i = 0; i < waits.length; i++) {
            waits[i] = new Histogram(1, LONGEST_NS, 3);
        }
    }

    /**
     * Injects it.
     *
     * @param isParted whether each service's packets go through the port of its number, else all through the first
     */
    Outcome run(Schedule schedule, EmulatedNode node, boolean isParted) throws IOException {
        Ring[] rings = new Ring[isParted ? loadNs.length : 1];
        for (int i = 0; i < rings.length; i++) {
            rings[i] = new Ring(EmulatedNode.writer(i), node.port(i).memory());
            node.port(i).feed(rings[i]);
        }
        long cpuNs = cpuNs(node, rings.length);
        long longestQueue = 0;
        begun = true;
        long beganNs = System.nanoTime();
        while (!schedule.isOver()) {
            int to = isParted ? schedule.arrival().service : 0;
            long dueNs = beganNs + schedule.ns();
            long nowNs;
            while ((nowNs = System.nanoTime()) < dueNs) {
                wake(node, rings, nowNs, moderationNs);
                Thread.onSpinWait();
            }
            errors.recordValue(nowNs - dueNs);
            late += nowNs - dueNs > LATE_NS ? 1 : 0;
            long waiting = rings[to].waiting();
            foundWaiting += waiting > 0 ? 1 : 0;
            longestQueue = Math.max(longestQueue, waiting);
            if (!rings[to].put(schedule.arrival(), dueNs)) {
                lost++;
            }
            wake(node, rings, nowNs, moderationNs);
            schedule.advance();
        }
        wake(node, rings, System.nanoTime(), 0);
        EmulatedNode.Counts counts = node.counts(schedule.packets() - lost);
        long ns = System.nanoTime() - beganNs;
        double busy = (cpuNs(node, rings.length) - cpuNs) / (double) ns;
        long batches = 0;
        for (Ring ring : rings) {
            batches += ring.batches();
        }
        return new Outcome(schedule.packets(), lost, ns, busy, batches, longestQueue, waits, stays, counts);
    }

    private static long cpuNs(EmulatedNode node, int ports) {
        long sum = 0;
        for (int i = 0; i < ports; i++) {
            sum += THREADS.getThreadCpuTime(node.port(i).reader());
        }
        return sum;
    }

    private void wake(EmulatedNode node, Ring[] rings, long nowNs, long afterNs) {
        for (int i = 0; i < rings.length; i++) {
            if (nowNs - wokenNs[i] >= afterNs
                    && rings[i].waiting() > 0
                    && node.port(i).isIdle()) {
                wokenNs[i] = nowNs;
                node.port(i).ring();
            }
        }
    }

    @Override
    public void spend(long cameNs, int service) {
        if (!begun) {
            return; // The node's first packets.
        }
        waits[service].recordValue(Math.max(0, System.nanoTime() - cameNs));
        if (loadNs[service] > 0) {
            Burner.spin(loadNs[service]);
        }
    }

    @Override
    public void departs(ByteBuffer memory, int offset, int bytes, long high, long low, int port) {
        // Counted by the node.
    }

    /** Returns how late packets were injected, in ns. */
    Histogram errors() {
        return errors;
    }

    /** Returns how many were injected more than 1 µs late. */
    long late() {
        return late;
    }

    /** Returns how many found others waiting in the port: the node was busy. */
    long foundWaiting() {
        return foundWaiting;
    }
}
