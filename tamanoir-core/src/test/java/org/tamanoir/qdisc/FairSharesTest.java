package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.support.Seeds;

/** Shares of bytes over long runs, limits, order, and numbers that are large. */
class FairSharesTest {
    private static final List<String> WEIGHTED = List.of("wfq", "scfq", "stfq", "wf2q+");
    private static final List<String> ALL = List.of("wfq", "fq", "scfq", "stfq", "wf2q+");
    private static final long GIGABIT = 125_000_000;
    private static final long HUNDRED_GIGABIT = 12_500_000_000L;
    private static final Drops NONE = (item, reason) -> {
        throw new AssertionError("dropped: " + reason);
    };

    private static DisciplineConfig config(long rate, long... weights) {
        List<FlowConfig> flows = new ArrayList<>();
        for (long weight : weights) {
            flows.add(new FlowConfig(weight, 1000, Long.MAX_VALUE));
        }
        return new DisciplineConfig(flows, rate, Map.of());
    }

    private static Item item(int flow, int size) {
        Item item = new Item();
        item.describe(flow, size, flow, true);
        return item;
    }

    /** Serves saturating flows: what leaves comes again with a new size. Bytes of each flow. */
    private static long[] saturate(
            QueueingDiscipline discipline, long rate, int flows, int packets, int maxSize, long seed) {
        Random random = new Random(seed);
        long[] bytes = new long[flows];
        for (int flow = 0; flow < flows; flow++) {
            for (int i = 0; i < 3; i++) {
                discipline.enqueue(item(flow, maxSize - random.nextInt(maxSize / 2)), 0);
            }
        }
        long nowNs = 0;
        for (int i = 0; i < packets; i++) {
            Item item = discipline.dequeue(nowNs);
            if (item == null) {
                throw new AssertionError("nothing to serve while " + discipline.packets() + " items wait");
            }
            bytes[item.flow()] += item.size();
            nowNs += Math.round(item.size() * 1e9 / rate);
            item.describe(item.flow(), maxSize - random.nextInt(maxSize / 2), item.flow(), true);
            discipline.enqueue(item, nowNs);
        }
        return bytes;
    }

    @Test
    void jainsIndexHasItsKnownValues() {
        assertThat(Fairness.jain(10, 10, 10)).isEqualTo(1);
        assertThat(Fairness.jain(21 / 30.0, 49 / 70.0)).isCloseTo(1, within(1e-12));
        assertThat(Fairness.jain(21, 49)).isCloseTo(0.862069, within(1e-6));
        assertThat(Fairness.jain(15, 0)).isEqualTo(0.5);
        assertThat(Fairness.jain(8, 2)).isCloseTo(0.735294, within(1e-6));
        assertThat(Fairness.jain(1, 2, 3, 4)).isCloseTo(0.833333, within(1e-6));
    }

    @Test
    void weightsOfThirtyAndSeventyShareTheBytesLikeThat() {
        for (String name : List.of("wfq", "scfq", "stfq", "wf2q+", "drr")) {
            long[] bytes =
                    saturate(Disciplines.create(name, config(GIGABIT, 30, 70), NONE), GIGABIT, 2, 50_000, 1500, 30_70);
            double percent = 100.0 * bytes[0] / (bytes[0] + bytes[1]);
            assertThat(percent).as(name).isCloseTo(30.0, within(0.3));
        }
    }

    @Test
    void equalFlowsGetTheSame() {
        for (String name : List.of("wfq", "fq", "scfq", "stfq", "wf2q+", "drr")) {
            long[] bytes =
                    saturate(Disciplines.create(name, config(GIGABIT, 7, 7, 7, 7), NONE), GIGABIT, 4, 50_000, 1500, 4);
            assertThat(Fairness.jain(Arrays.stream(bytes).asDoubleStream().toArray()))
                    .as(name)
                    .isGreaterThan(0.9999);
        }
    }

    /** The unit of virtual time cannot be a multiple of all these weights. */
    @Test
    void weightsWithoutASmallCommonMultipleAreSharedAsExactly() {
        long[] weights = {999_983, 999_979, 499_979, 249_989, 65_537, 1_000_000};
        for (String name : WEIGHTED) {
            long[] bytes =
                    saturate(Disciplines.create(name, config(GIGABIT, weights), NONE), GIGABIT, 6, 100_000, 1500, 6);
            double[] shares = new double[weights.length];
            Arrays.setAll(shares, flow -> (double) bytes[flow] / weights[flow]);
            for (double share : shares) {
                assertThat(share / shares[0]).as(name).isCloseTo(1, within(0.003));
            }
        }
    }

    @Test
    void tenThousandFlowsOfAllWeightsAreSharedInProportion() {
        long[] weights = new Random(10_000).longs(10_000, 1, 101).toArray();
        for (String name : ALL) {
            QueueingDiscipline discipline = Disciplines.create(name, config(HUNDRED_GIGABIT, weights), NONE);
            long[] bytes = saturate(discipline, HUNDRED_GIGABIT, weights.length, 300_000, 65_535, 10_000);
            long total = Arrays.stream(bytes).sum();
            long totalWeight =
                    name.equals("fq") ? weights.length : Arrays.stream(weights).sum();
            for (int flow = 0; flow < weights.length; flow++) {
                double due = (double) total * (name.equals("fq") ? 1 : weights[flow]) / totalWeight;
                // Two largest packets: these runs are short for the flows of small weight.
                double most = (name.equals("wfq") || name.equals("fq") ? 3 : 2) * 65_535.0;
                assertThat(bytes[flow]).as("%s: flow %s", name, flow).isBetween((long) (due - most), (long)
                        (due + most));
            }
        }
    }

    /** Items of up to 2 GB stand for many packets: ten hours of a busy link of 100 Gb/s, and a flow that sleeps most of it. */
    @Test
    void hoursOfABusyLinkLeaveSharesAsTheyWere() {
        int huge = Integer.MAX_VALUE / 2;
        for (long[] weights : new long[][] {{1, 1_000_000, 1}, {30, 70, 1}, {999_983, 1_000_000, 65_537}}) {
            for (String name : WEIGHTED) {
                QueueingDiscipline discipline = Disciplines.create(name, config(HUNDRED_GIGABIT, weights), NONE);
                Random random = new Random(1);
                double[] bytes = new double[2];
                for (int flow = 0; flow < 2; flow++) {
                    discipline.enqueue(item(flow, huge), 0);
                    discipline.enqueue(item(flow, huge), 0);
                }
                long nowNs = 0;
                int sleeperLeft = 0;
                int sleeperServed = 0;
                while (nowNs < 36_000_000_000_000L) {
                    if (random.nextInt(5000) == 0) {
                        discipline.enqueue(item(2, 1), nowNs);
                        sleeperLeft++;
                    }
                    Item item = discipline.dequeue(nowNs);
                    if (item == null) {
                        throw new AssertionError(name + ": idle");
                    }
                    nowNs += item.size() / 12 - item.size() / 300;
                    if (item.flow() == 2) {
                        sleeperServed++;
                        continue;
                    }
                    bytes[item.flow()] += item.size();
                    item.describe(item.flow(), huge - random.nextInt(huge / 2), 0, true);
                    discipline.enqueue(item, nowNs);
                }
                String label = name + " " + Arrays.toString(weights);
                double due = (bytes[0] + bytes[1]) * weights[0] / (weights[0] + weights[1]);
                assertThat(bytes[0]).as(label).isCloseTo(due, within(due * 0.001 + 2.0 * huge));
                assertThat(sleeperLeft - sleeperServed).as(label).isBetween(0, 1);
            }
        }
    }

    /** A lone flow lets virtual time run fastest; the others find no lead and no debt afterwards. */
    @Test
    void aFlowThatWasAloneForHoursOwesNothing() {
        int huge = Integer.MAX_VALUE / 2;
        for (String name : WEIGHTED) {
            QueueingDiscipline discipline =
                    Disciplines.create(name, config(HUNDRED_GIGABIT, 1, 1_000_000, 999_983), NONE);
            long nowNs = 0;
            discipline.enqueue(item(1, 1500), nowNs);
            discipline.dequeue(nowNs);
            discipline.enqueue(item(0, huge), nowNs);
            for (int i = 0; i < 400_000; i++) {
                discipline.enqueue(item(0, huge), nowNs);
                assertThat(discipline.dequeue(nowNs)).isNotNull();
                nowNs += huge * 2L / 25;
            }
            discipline.dequeue(nowNs);
            nowNs += huge;
            assertThat(discipline.dequeue(nowNs)).isNull();
            List<Integer> order = new ArrayList<>();
            for (int flow = 0; flow < 3; flow++) {
                discipline.enqueue(item(flow, 1500), nowNs);
                discipline.enqueue(item(flow, 1500), nowNs);
            }
            @Nullable Item item;
            while ((item = discipline.dequeue(nowNs)) != null) {
                order.add(item.flow());
                nowNs += 120;
            }
            assertThat(order.subList(4, 6)).as(name).contains(0).hasSize(2);
            assertThat(order).as(name).containsExactlyInAnyOrder(0, 0, 1, 1, 2, 2);
        }
    }

    @Test
    void itemsOfAFlowStayInOrderAndComeOutOnce() {
        long[] seeds = Seeds.ofCommit(FairSharesTest.class, 200);
        for (String name : ALL) {
            for (long seed : seeds) {
                Trace trace = Trace.random(new Random(seed), 60);
                int[] last = new int[trace.weights.length];
                List<Trace.Packet> served = trace.serve(Disciplines.create(name, trace.config(), NONE));
                for (Trace.Packet packet : served) {
                    assertThat(packet.number).as("%s, seed %s", name, seed).isEqualTo(++last[packet.flow()]);
                }
                assertThat(served).hasSameSizeAs(trace.packets);
            }
        }
    }

    @Test
    void whatExceedsAFlowsLimitIsDroppedAndTheRestIsThere() {
        List<FlowConfig> flows = List.of(new FlowConfig(1, 2, 1000), new FlowConfig(1, 10, 250));
        for (String name : ALL) {
            List<Item> dropped = new ArrayList<>();
            GuardedDiscipline discipline =
                    Disciplines.create(name, new DisciplineConfig(flows, 1000, Map.of()), (item, reason) -> {
                        assertThat(reason).isEqualTo(item.flow() < 0 ? DropReason.UNCLASSIFIED : DropReason.QUEUE_FULL);
                        dropped.add(item);
                    });
            for (int i = 0; i < 3; i++) {
                discipline.enqueue(item(0, 100), 0);
                discipline.enqueue(item(1, 100), 0);
            }
            discipline.enqueue(item(-1, 100), 0);
            assertThat(dropped).as(name).extracting(Item::flow).containsExactly(0, 1, -1);
            assertThat(discipline.packets()).as(name).isEqualTo(4);
            assertThat(discipline.bytes()).as(name).isEqualTo(400);
            Item forced = new Item();
            forced.describe(0, 100, 0, false);
            discipline.enqueue(forced, 0);
            List<Item> inside = discipline.items();
            assertThat(inside).as(name).hasSize(5).contains(forced);
            inside.forEach(item -> discipline.remove(item, 0));
            assertThat(discipline.packets()).as(name).isZero();
            assertThat(discipline.dequeue(1)).as(name).isNull();
            discipline.enqueue(forced, 2);
            assertThat(discipline.dequeue(2)).as(name).isSameAs(forced);
        }
    }

    @Test
    void aClockThatStepsServesAllTheSame() {
        for (String name : ALL) {
            QueueingDiscipline discipline = Disciplines.create(name, config(GIGABIT, 3, 1), NONE);
            Random random = new Random(5);
            for (int i = 0; i < 10_000; i++) {
                discipline.enqueue(item(random.nextInt(2), 1500), random.nextLong());
                assertThat(discipline.dequeue(random.nextLong())).as(name).isNotNull();
            }
        }
    }

    @Test
    void wfqNeedsARateAndSaysWhatToDo() {
        for (String name : List.of("wfq", "fq")) {
            assertThatThrownBy(() -> Disciplines.create(name, config(0, 1, 2), NONE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("rate 0 bytes a second: discipline " + name
                            + " needs 1 to 1000000000000; set the link's rate, or use stfq");
        }
    }
}
