package org.tamanoir.qdisc;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/** The published bounds of fair queueing disciplines, on random traces and against the exact fluid model. */
class FairBoundsTest {
    private static final int TRACES = Seeds.scaled(250);
    private static final long SEED = Seeds.ofCommit(FairBoundsTest.class);
    private static final Drops NONE = (item, reason) -> {
        throw new AssertionError("dropped: " + reason);
    };

    /** Checks random traces, each test others; the seed of one that fails is in the message. */
    private static void forTraces(long firstOfTest, Function<Random, Trace> maker, BiConsumer<Trace, String> check) {
        long firstSeed = SEED + firstOfTest;
        for (long seed = firstSeed; seed < firstSeed + TRACES; seed++) {
            Trace trace = maker.apply(new Random(seed));
            check.accept(
                    trace, "seed " + seed + ", rate " + trace.rate + ", weights " + Arrays.toString(trace.weights));
        }
    }

    private static List<Trace.Packet> serve(Trace trace, String name) {
        return trace.serve(Disciplines.create(name, trace.config(), NONE));
    }

    private static Rational seconds(long ns) {
        return Rational.of(ns, Trace.NS);
    }

    private static void atMost(Rational bound, Rational value, Supplier<String> label) {
        if (value.compareTo(bound) > 0) {
            throw new AssertionError(label.get() + ": " + value + ", which is more than " + bound);
        }
    }

    private static void atMost(long bound, long value, Supplier<String> label) {
        if (value > bound) {
            throw new AssertionError(label.get() + ": " + value + ", which is more than " + bound);
        }
    }

    @Test
    void wfqFinishesAPacketAtMostOneLargestPacketLaterThanTheFluidServer() {
        forTraces(1, random -> Trace.random(random, 36), (trace, label) -> {
            FluidModel fluid = new FluidModel(trace);
            Rational largest = seconds(trace.transmissionNs(trace.largest()));
            for (Trace.Packet packet : serve(trace, "wfq")) {
                Rational bound = fluid.of(packet).finishTime().plus(largest);
                atMost(bound, seconds(packet.finishNs), () -> String.format("%s: %s", label, packet));
            }
        });
    }

    @Test
    void wfqIsAtMostOneLargestPacketOfWorkBehindTheFluidServer() {
        forTraces(10_001, random -> Trace.random(random, 24), (trace, label) -> {
            FluidModel fluid = new FluidModel(trace);
            Schedule schedule = new Schedule(trace, serve(trace, "wfq"));
            Rational largest = Rational.of(trace.largest());
            for (int f = 0; f < trace.weights.length; f++) {
                int flow = f;
                for (long timeNs : schedule.timesNs()) {
                    Rational done = Rational.of(schedule.work(flow, timeNs));
                    atMost(
                            largest,
                            fluid.workAt(flow, seconds(timeNs)).minus(done),
                            () -> String.format("%s: flow %s at %s ns", label, flow, timeNs));
                }
                for (FluidModel.Point point : fluid.points()) {
                    Rational ns = point.time().times(Rational.of(Trace.NS));
                    Rational done = schedule.work(flow, ns);
                    atMost(
                            largest,
                            point.work().get(flow).minus(done),
                            () -> String.format("%s: flow %s at %s s", label, flow, point.time()));
                }
            }
        });
    }

    @Test
    void scfqAndStfqKeepTheLagOfTwoBackloggedFlowsWithinTheirLargestPackets() {
        for (String name : List.of("scfq", "stfq")) {
            BiConsumer<Trace, String> check = (trace, label) -> {
                Schedule schedule = new Schedule(trace, serve(trace, name));
                for (int a = 0; a < trace.weights.length; a++) {
                    int i = a;
                    for (int b = 0; b < i; b++) {
                        int j = b;
                        long bound = trace.largest(i) * trace.weights[j] + trace.largest(j) * trace.weights[i];
                        atMost(
                                bound + rounding(trace, i, j),
                                schedule.worstLag(i, j),
                                () -> String.format("%s, %s: flows %s, %s", name, label, i, j));
                    }
                }
            };
            forTraces(20_001, random -> Trace.saturated(random, 12), check);
            forTraces(30_001, random -> Trace.random(random, 30), check);
        }
    }

    /** Tags are below a unit too small: less than a byte of the heaviest flow, for each of the two. */
    private static long rounding(Trace trace, int i, int j) {
        return 2 * Math.max(trace.weights[i], trace.weights[j]);
    }

    @Test
    void drrKeepsTheLagOfTwoBackloggedFlowsWithinTwoLargestPacketsAndAQuantum() {
        forTraces(40_001, random -> Trace.saturated(random, 12), (trace, label) -> {
            Trace equal = new Trace(trace.rate, new long[trace.weights.length]);
            Arrays.fill(equal.weights, 1);
            trace.packets.forEach(packet -> equal.add(packet.arrivalNs, packet.flow(), packet.size()));
            int quantum = equal.largest();
            DisciplineConfig config = new DisciplineConfig(
                    equal.config().flows(), equal.rate, Map.of("quantum", Integer.toString(quantum)));
            Schedule schedule = new Schedule(equal, equal.serve(Disciplines.create("drr", config, NONE)));
            for (int a = 0; a < equal.weights.length; a++) {
                int i = a;
                for (int b = 0; b < i; b++) {
                    int j = b;
                    atMost(3L * quantum, schedule.worstLag(i, j), () -> String.format("%s: flows %s, %s", label, i, j));
                }
            }
        });
    }

    /** In terms of the guaranteed rate {@code r_i}: {@code E_k = max(a_k, E_(k-1)) + L_k/r_i}. */
    @Test
    void wf2qPlusFinishesAPacketAtMostOneLargestPacketLaterThanAtItsGuaranteedRate() {
        forTraces(50_001, random -> Trace.random(random, 60), (trace, label) -> {
            Map<Integer, Rational> expected = new HashMap<>();
            Map<Trace.Packet, Rational> bounds = new HashMap<>();
            for (Trace.Packet packet : trace.packets) {
                Rational bytesPerSecond =
                        Rational.of(trace.rate).times(Rational.of(trace.weights[packet.flow()], trace.totalWeight()));
                Rational before = expected.getOrDefault(packet.flow(), Rational.ZERO);
                Rational end = before.max(seconds(packet.arrivalNs))
                        .plus(Rational.of(packet.size()).dividedBy(bytesPerSecond));
                expected.put(packet.flow(), end);
                bounds.put(packet, end.plus(seconds(trace.transmissionNs(trace.largest()))));
            }
            for (Trace.Packet packet : serve(trace, "wf2q+")) {
                atMost(
                        Objects.requireNonNull(bounds.get(packet)),
                        seconds(packet.finishNs),
                        () -> String.format("%s: %s", label, packet));
            }
        });
    }

    /** {@code finish <= arrival + (bytes of the flow there then)/r_i + Lmax_i/r_i (1 - r_i/C) + Lmax/C}. */
    @Test
    void wf2qPlusMakesAPacketWaitForItsOwnFlowAndAboutOnePacketMore() {
        forTraces(60_001, random -> Trace.random(random, 60), (trace, label) -> {
            Schedule schedule = new Schedule(trace, serve(trace, "wf2q+"));
            long total = trace.totalWeight();
            long[] arrived = new long[trace.weights.length];
            for (Trace.Packet packet : trace.packets) {
                int flow = packet.flow();
                long weight = trace.weights[flow];
                arrived[flow] += packet.size();
                long queued = arrived[flow] - schedule.work(flow, packet.arrivalNs);
                long bound = queued * total + trace.largest(flow) * (total - weight) + trace.largest() * weight;
                long byteTimes = (packet.finishNs - packet.arrivalNs) / trace.transmissionNs(1);
                atMost(bound, byteTimes * weight, () -> label + ": " + packet);
            }
        });
    }

    @Test
    void wf2qPlusIsNeverAheadOfTheFluidServerByMoreThanAPartOfAPacketWhileAllAreBacklogged() {
        forTraces(70_001, random -> Trace.saturated(random, 8), (trace, label) -> {
            FluidModel fluid = new FluidModel(trace);
            Schedule schedule = new Schedule(trace, serve(trace, "wf2q+"));
            for (int f = 0; f < trace.weights.length; f++) {
                int flow = f;
                Rational bound = Rational.of(trace.largest(flow))
                        .times(Rational.of(trace.totalWeight() - trace.weights[flow], trace.totalWeight()));
                for (long timeNs : schedule.timesNs()) {
                    Rational done = Rational.of(schedule.work(flow, timeNs));
                    atMost(
                            bound,
                            done.minus(fluid.workAt(flow, seconds(timeNs))),
                            () -> String.format("%s: flow %s at %s ns", label, flow, timeNs));
                }
            }
        });
    }

    @Test
    void aShapedFlowIsDelayedByItsBurstAtItsRateAndOneLargestPacket() {
        for (String name : List.of("wfq", "wf2q+")) {
            forTraces(80_001, Trace::shaped, (trace, label) -> {
                // Flow 0 conforms to a bucket of this size at its guaranteed rate.
                Rational rate = Rational.of(trace.rate).times(Rational.of(trace.weights[0], trace.totalWeight()));
                Rational bound = Rational.of(Trace.SHAPED_BURST)
                        .dividedBy(rate)
                        .plus(seconds(trace.transmissionNs(trace.largest())));
                for (Trace.Packet packet : serve(trace, name)) {
                    if (packet.flow() == 0) {
                        atMost(
                                bound,
                                seconds(packet.finishNs - packet.arrivalNs),
                                () -> String.format("%s, %s: %s", name, label, packet));
                    }
                }
            });
        }
    }
}
