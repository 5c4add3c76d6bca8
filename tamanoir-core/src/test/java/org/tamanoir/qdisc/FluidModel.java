package org.tamanoir.qdisc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The GPS server in exact fractions: every backlogged flow is served all the time, in proportion to its weight. Times
 * are in seconds.
 */
final class FluidModel {
    /** Virtual start and finish, and the time at which the last of it is served. */
    record Service(Rational start, Rational finish, Rational finishTime) {}

    /** What each flow has been served by a time; in between it grows linearly. */
    record Point(Rational time, List<Rational> work) {}

    private record Waiting(Trace.Packet packet, Rational start, Rational finish) {}

    private final Trace trace;
    private final Rational rate;
    private final Map<Trace.Packet, Service> services = new HashMap<>();
    private final List<Point> points = new ArrayList<>();

    // The state of the walk.
    private Rational time = Rational.ZERO;
    private Rational virtual = Rational.ZERO;
    private final Rational[] work;
    private final List<Deque<Waiting>> queues = new ArrayList<>();
    private final Rational[] lastFinish;

    FluidModel(Trace trace) {
        this.trace = trace;
        this.rate = Rational.of(trace.rate);
        this.work = new Rational[trace.weights.length];
        this.lastFinish = new Rational[trace.weights.length];
        for (int flow = 0; flow < work.length; flow++) {
            work[flow] = Rational.ZERO;
            lastFinish[flow] = Rational.ZERO;
            queues.add(new ArrayDeque<>());
        }
        points.add(new Point(time, List.of(work)));
        for (Trace.Packet packet : trace.packets) {
            serveUntil(Rational.of(packet.arrivalNs, Trace.NS));
            arrive(packet);
        }
        serveUntil(null);
    }

    Service of(Trace.Packet packet) {
        return Objects.requireNonNull(services.get(packet), "not served");
    }

    /** Where the growth of some flow's work changes. */
    List<Point> points() {
        return points;
    }

    /** What a flow has been served by a time. */
    Rational workAt(int flow, Rational when) {
        int from = 0;
        int to = points.size() - 1;
        while (from < to) {
            int middle = (from + to + 1) / 2;
            if (points.get(middle).time.compareTo(when) <= 0) {
                from = middle;
            } else {
                to = middle - 1;
            }
        }
        Point before = points.get(from);
        if (from == points.size() - 1 || before.time.equals(when)) {
            return before.work.get(flow);
        }
        Point after = points.get(from + 1);
        Rational share = when.minus(before.time).dividedBy(after.time.minus(before.time));
        return before.work
                .get(flow)
                .plus(after.work.get(flow).minus(before.work.get(flow)).times(share));
    }

    private void arrive(Trace.Packet packet) {
        int flow = packet.flow();
        Rational start = lastFinish[flow].max(virtual);
        Rational finish = start.plus(Rational.of(packet.size(), trace.weights[flow]));
        lastFinish[flow] = finish;
        queues.get(flow).add(new Waiting(packet, start, finish));
    }

    /** @param until null = until all is served */
    private void serveUntil(@Nullable Rational until) {
        while (true) {
            Rational weight = Rational.ZERO;
            Rational next = null;
            for (int flow = 0; flow < work.length; flow++) {
                Waiting head = queues.get(flow).peek();
                if (head != null) {
                    weight = weight.plus(Rational.of(trace.weights[flow]));
                    next = next == null ? head.finish : next.min(head.finish);
                }
            }
            if (next == null) {
                virtual = Rational.ZERO;
                Arrays.fill(lastFinish, Rational.ZERO);
                if (until != null && until.compareTo(time) > 0) {
                    time = until;
                    points.add(new Point(time, List.of(work)));
                }
                return;
            }
            Rational nextTime = time.plus(next.minus(virtual).times(weight).dividedBy(rate));
            if (until != null && until.compareTo(nextTime) < 0) {
                step(until, virtual.plus(until.minus(time).times(rate).dividedBy(weight)));
                return;
            }
            step(nextTime, next);
            for (Deque<Waiting> queue : queues) {
                Waiting head = queue.peek();
                if (head != null && head.finish.equals(virtual)) {
                    queue.remove();
                    services.put(head.packet, new Service(head.start, head.finish, time));
                }
            }
        }
    }

    private void step(Rational toTime, Rational toVirtual) {
        Rational growth = toVirtual.minus(virtual);
        for (int flow = 0; flow < work.length; flow++) {
            if (!queues.get(flow).isEmpty()) {
                work[flow] = work[flow].plus(growth.times(Rational.of(trace.weights[flow])));
            }
        }
        virtual = toVirtual;
        if (toTime.compareTo(time) > 0) {
            time = toTime;
            points.add(new Point(time, List.of(work)));
        }
    }
}
