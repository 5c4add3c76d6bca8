package org.tamanoir.node.demo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.cluster.element.Aggregator;
import org.tamanoir.cluster.element.Distribution;
import org.tamanoir.cluster.element.Reordering;
import org.tamanoir.cluster.element.Sprayer;
import org.tamanoir.cluster.element.Unit;
import org.tamanoir.cluster.element.ring.RingView;
import org.tamanoir.cluster.element.ring.RingWatch;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;

/** One stream of the demo over three units, of which one is killed half-way. Thread contract: one thread. */
enum ElementPhase {
    /** Packets leave units as they come. */
    NONE(false, Distribution.ROUND_ROBIN),
    /** They leave by the token of the units' ring. Rounds have eight packets for each unit: a turn takes a while. */
    FCT(true, Distribution.WEIGHTED),
    /** They leave units as they come, and are joined in exact order. */
    EXACT(false, Distribution.EXACT);

    static final int PACKETS = 7_500;
    private static final int KILL_AT = PACKETS / 2;
    private static final long INTERVAL_NS = 400_000;
    private static final int KILLED = 2;
    private static final long UNITS_READY_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long POLL_NS = 5_000_000;

    private final boolean byToken;
    private final Distribution distribution;

    ElementPhase(boolean byToken, Distribution distribution) {
        this.byToken = byToken;
        this.distribution = distribution;
    }

    /**
     * What came of it.
     *
     * @param sent datagrams
     * @param arrived of them, each counted once
     * @param lost the rest
     * @param twice datagrams that came again
     * @param wrong datagrams that are none of those that were sent
     * @param killedAfter datagrams that had been sent when the unit was killed
     * @param missedAfterMs until the distributor sent nothing to it any more; -1 = it went on
     * @param stepsBack arrivals with a lower number than the one before
     * @param longestStepBack the lowest difference, 0 = none
     * @param steps how often numbers differed how much
     * @param right whether all is as it must be: nothing wrong or twice, in exact order no step back, and the stream went
     *     on without the unit
     */
    record Result(
            String order,
            long sent,
            long arrived,
            long lost,
            long twice,
            long wrong,
            long killedAfter,
            long missedAfterMs,
            long stepsBack,
            long longestStepBack,
            Map<String, Long> steps,
            boolean right) {}

    /**
     * Sends, kills, and looks at what arrived.
     *
     * @param main the program's main class
     * @param histogram gets the steps
     */
    Result run(String main, ReorderHistogram histogram) throws IOException {
        ElementArrivals arrivals = new ElementArrivals(PACKETS);
        long missedNs;
        try (arrivals) {
            Aggregator.Settings joining =
                    Aggregator.between(new InetSocketAddress(DemoNetwork.loopback(), 0), arrivals.address());
            try (Aggregator aggregator = (this == EXACT ? joining.exact(ElementUnits.UNITS) : joining).open();
                    ElementUnits units = new ElementUnits(main, aggregator.address(), byToken)) {
                Thread thread = new Thread(aggregator, "demo aggregator");
                thread.start();
                try {
                    missedNs = send(units);
                    awaitSilence(arrivals);
                } finally {
                    aggregator.stop();
                    join(thread);
                }
            }
        }
        histogram.add(name(), arrivals.numbers());
        Reordering order = Reordering.of(arrivals.numbers());
        boolean right = arrivals.wrong() == 0
                && arrivals.twice() == 0
                && arrivals.largest() > KILL_AT
                && !(this == EXACT && order.nMinus() > 0);
        return new Result(
                name(),
                PACKETS,
                arrivals.count(),
                PACKETS - arrivals.count(),
                arrivals.twice(),
                arrivals.wrong(),
                KILL_AT,
                missedNs < 0 ? -1 : TimeUnit.NANOSECONDS.toMillis(missedNs),
                order.nMinus(),
                Math.min(0, order.min()),
                histogram.bars(name()),
                right);
    }

    /** Returns after how long the distributor missed the unit that was killed; -1 = not before all was sent. */
    private long send(ElementUnits units) throws IOException {
        AtomicLong round = new AtomicLong();
        long missedNs = -1;
        try (Sprayer sprayer = Sprayer.over(units.units())
                        .distribution(distribution)
                        .firstRound(1)
                        .destination(new Endpoint(DemoNetwork.DESTINATION, 0).address())
                        .service(NodeConfigBuilder.serviceName("Monitor"))
                        .open();
                RingWatch watch = RingWatch.open(units.ring(), round::get)) {
            awaitAll(watch, units);
            List<Integer> known = watch.units();
            long killedNs = 0;
            long dueNs = System.nanoTime();
            for (int i = 0; i < PACKETS; i++, dueNs += INTERVAL_NS) {
                LockSupport.parkNanos(dueNs - System.nanoTime());
                if (i == KILL_AT) {
                    units.kill(KILLED);
                    killedNs = System.nanoTime();
                }
                List<Integer> now = watch.units();
                if (now != known && !now.isEmpty()) {
                    known = now;
                    follow(known, units.units(), sprayer);
                }
                if (killedNs != 0 && missedNs < 0 && !known.contains(KILLED)) {
                    missedNs = System.nanoTime() - killedNs;
                }
                sprayer.send(ElementArrivals.datagram(i));
                sprayer.flush();
                round.set(sprayer.round());
            }
        }
        return missedNs;
    }

    /** Sends to units while the ring has them: one that it lost may come back. */
    private static void follow(List<Integer> known, List<Unit> units, Sprayer sprayer) {
        for (Unit unit : units) {
            if (known.contains(unit.path())) {
                sprayer.weight(unit.path(), unit.weight());
            } else {
                sprayer.leave(unit.path());
            }
        }
    }

    private static void awaitAll(RingWatch watch, ElementUnits units) throws IOException {
        long deadlineNs = System.nanoTime() + UNITS_READY_NS;
        while (!hasAll(watch)) {
            units.requireAlive();
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IOException("the three units have found no ring within "
                        + TimeUnit.NANOSECONDS.toSeconds(UNITS_READY_NS)
                        + " s; try again on a host that is less busy");
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private static boolean hasAll(RingWatch watch) {
        RingView view = watch.view();
        return view != null
                && view.units().size() == ElementUnits.UNITS
                && watch.units().size() == ElementUnits.UNITS;
    }

    private static void awaitSilence(ElementArrivals arrivals) {
        int before = -1;
        long sinceNs = System.nanoTime();
        while (arrivals.count() < PACKETS && System.nanoTime() - sinceNs < SILENCE_NS) {
            if (arrivals.count() != before) {
                before = arrivals.count();
                sinceNs = System.nanoTime();
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
