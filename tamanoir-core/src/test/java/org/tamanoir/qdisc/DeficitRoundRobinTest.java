package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TestItem.Dropped;
import org.tamanoir.support.Seeds;

class DeficitRoundRobinTest {
    private static final long HOUR_NS = 3_600L * TestItem.SECOND;

    private final Dropped dropped = new Dropped();

    private DeficitRoundRobin drr(int quantum, long... weights) {
        return DeficitRoundRobin.forPackets(TestItem.config(Map.of("quantum", "" + quantum), weights), dropped);
    }

    @Test
    void servesInTheOrderOfTheVector() {
        DeficitRoundRobin drr = drr(500, 1, 1, 1);
        int[][] sizes = {{200, 750, 700}, {500, 100}, {600, 600}};
        for (int flow = 0; flow < sizes.length; flow++) {
            for (int i = 0; i < sizes[flow].length; i++) {
                drr.enqueue(TestItem.of("" + (char) ('A' + flow) + (i + 1), flow, sizes[flow][i]), 0);
            }
        }
        assertThat(TestItem.drainByDequeue(drr, 0)).isEqualTo("A1 B1 A2 B2 C1 C2 A3");
    }

    @Test
    void servesAsTheRoundsSayWhateverTheQuantum() {
        for (long seed : Seeds.ofCommit(DeficitRoundRobinTest.class, 1_000)) {
            Random random = new Random(seed);
            int flows = 1 + random.nextInt(5);
            long[] weights = random.longs(flows, 1, 8).toArray();
            int quantum = random.nextInt(4) == 0 ? 1 : 1 + random.nextInt(3000);
            DeficitRoundRobin drr = drr(quantum, weights);
            Rounds rounds = new Rounds(quantum, weights);
            for (int step = 0; step < 100; step++) {
                int flow = random.nextInt(flows);
                int choice = random.nextInt(20);
                if (choice < 9) {
                    TestItem item = TestItem.of("" + step, flow, 1 + random.nextInt(2000));
                    drr.enqueue(item, 0);
                    rounds.enqueue(item);
                } else if (choice < 19) {
                    assertThat(drr.dequeue(0)).as("seed %d step %d", seed, step).isSameAs(rounds.dequeue());
                } else {
                    long rest = random.nextInt(4000) - 2000;
                    drr.charge(flow, rest);
                    rounds.charge(flow, rest);
                }
            }
        }
    }

    /** The definition, round by round. Deficits are multiplied by the smallest weight, so that none is rounded. */
    private static final class Rounds {
        private final List<Deque<TestItem>> queues = new ArrayList<>();
        private final Deque<Integer> active = new ArrayDeque<>();
        private final long[] quantum;
        private final long[] deficit;
        private long unit = Long.MAX_VALUE;
        private boolean given;

        Rounds(int smallestQuantum, long[] weights) {
            quantum = new long[weights.length];
            deficit = new long[weights.length];
            for (int i = 0; i < weights.length; i++) {
                queues.add(new ArrayDeque<>());
                quantum[i] = weights[i] * smallestQuantum;
                unit = Math.min(unit, weights[i]);
            }
        }

        void enqueue(TestItem item) {
            queues.get(item.flow()).add(item);
            if (!active.contains(item.flow())) {
                active.add(item.flow());
            }
        }

        @Nullable
        Item dequeue() {
            while (!active.isEmpty()) {
                int flow = active.element();
                if (!given) {
                    deficit[flow] += quantum[flow];
                    given = true;
                }
                TestItem head = queues.get(flow).element();
                if (head.size() * unit <= deficit[flow]) {
                    deficit[flow] -= head.size() * unit;
                    queues.get(flow).remove();
                    if (queues.get(flow).isEmpty()) {
                        active.remove();
                        deficit[flow] = Math.min(0, deficit[flow]);
                        given = false;
                    }
                    return head;
                }
                active.add(active.remove());
                given = false;
            }
            return null;
        }

        void charge(int flow, long rest) {
            deficit[flow] -= rest * unit;
            if (queues.get(flow).isEmpty()) {
                deficit[flow] = Math.min(0, deficit[flow]);
            }
        }
    }

    @Test
    void keepsEqualFlowsWithinTheBoundOfFairness() {
        for (long seed : Seeds.ofCommit(DeficitRoundRobinTest.class, 1_000)) {
            Random random = new Random(seed);
            int flows = 2 + random.nextInt(4);
            int largest = 1 + random.nextInt(3000);
            int quantum = largest + random.nextInt(3000);
            long[] weights = new long[flows];
            Arrays.fill(weights, 5);
            DeficitRoundRobin drr = drr(quantum, weights);
            for (int flow = 0; flow < flows; flow++) {
                for (int i = 0; i < 3; i++) {
                    drr.enqueue(TestItem.of("", flow, 1 + random.nextInt(largest)), 0);
                }
            }
            long[] served = new long[flows];
            long[][] least = new long[flows][flows];
            long[][] most = new long[flows][flows];
            for (int step = 0; step < 200; step++) {
                Item item = TestItem.next(drr, step);
                served[item.flow()] += item.size();
                drr.enqueue(
                        TestItem.of("", item.flow(), random.nextInt(3) == 0 ? largest : 1 + random.nextInt(largest)),
                        step);
                for (int i = 0; i < flows; i++) {
                    for (int j = 0; j < flows; j++) {
                        least[i][j] = Math.min(least[i][j], served[i] - served[j]);
                        most[i][j] = Math.max(most[i][j], served[i] - served[j]);
                    }
                }
            }
            for (int i = 0; i < flows; i++) {
                for (int j = 0; j < flows; j++) {
                    // The largest difference in any interval.
                    assertThat(most[i][j] - least[i][j]).as("seed %d", seed).isLessThan(2L * largest + quantum);
                }
            }
        }
    }

    @Test
    void dropsWhatFitsNoFlow() {
        DeficitRoundRobin drr = drr(500, 1, 1);
        drr.enqueue(TestItem.of("x", -1, 1), 0);
        assertThat(dropped).hasToString("x:UNCLASSIFIED");
        assertThat(drr.dequeue(0)).isNull();
    }

    @Test
    void sharesBytesByWeight() {
        DeficitRoundRobin drr = drr(1514, 30, 70);
        long[] served = new long[2];
        for (int flow = 0; flow < 2; flow++) {
            for (int i = 0; i < 3; i++) {
                drr.enqueue(TestItem.of("", flow, flow == 0 ? 1400 : 333), 0);
            }
        }
        while (served[0] + served[1] < 100_000_000) {
            Item item = TestItem.next(drr, 0);
            served[item.flow()] += item.size();
            drr.enqueue(item, 0);
        }
        double share = 100.0 * served[0] / (served[0] + served[1]);
        assertThat(share).isBetween(29.99, 30.01);
    }

    @Test
    void aFlowThatOwesVeryMuchCostsTheOthersNoTime() {
        DeficitRoundRobin drr = drr(1, 1, FlowConfig.MAX_WEIGHT, 1);
        for (int i = 0; i < 5; i++) {
            drr.charge(0, Long.MAX_VALUE);
            drr.charge(1, HOUR_NS);
        }
        // Rounds until each may go: a 10^12 and more, b 5 * 10^6, c a million for each item.
        for (int i = 1; i <= 3; i++) {
            drr.enqueue(TestItem.of("a" + i, 0, Integer.MAX_VALUE), 0);
            drr.enqueue(TestItem.of("b" + i, 1, 1), 0);
            drr.enqueue(TestItem.of("c" + i, 2, 1_000_000), 0);
        }
        assertThat(TestItem.drainByDequeue(drr, 0)).isEqualTo("c1 c2 c3 b1 b2 b3 a1 a2 a3");
    }

    @Test
    void whatIsGivenBackToAnIdleFlowIsNoCredit() {
        DeficitRoundRobin drr = drr(100, 1, 1);
        drr.charge(0, -1_000_000);
        for (int i = 1; i <= 3; i++) {
            drr.enqueue(TestItem.of("a" + i, 0, 100), 0);
            drr.enqueue(TestItem.of("b" + i, 1, 100), 0);
        }
        assertThat(TestItem.drainByDequeue(drr, 0)).isEqualTo("a1 b1 a2 b2 a3 b3");
    }

    @Test
    void sharesTurnsOfOneThreadEachByWeightOnOneProcessor() {
        double[] shares = shareOfTurns(1, 1, 30, 70);
        assertThat(shares[0]).isBetween(29.7, 30.3);
        assertThat(shares[1]).isBetween(69.3, 70.7);
    }

    @Test
    void sharesTurnsOfFourThreadsEachByWeightOnTwoProcessors() {
        double[] shares = shareOfTurns(2, 4, 3, 1, 1, 1, 1, 1);
        assertThat(shares[0]).isBetween(36.5, 38.5); // 3 of 8
        assertThat(shares[5]).isBetween(12.0, 13.0);
    }

    /** Each thread of a flow asks for its next turn when its latest ends, which costs more or less than was expected. */
    private static double[] shareOfTurns(int processors, int threads, long... weights) {
        long seed = 99;
        Random random = new Random(seed);
        DeficitRoundRobin drr = DeficitRoundRobin.forTurns(TestItem.config(Map.of(), weights), (item, reason) -> {});
        for (int flow = 0; flow < weights.length; flow++) {
            for (int thread = 0; thread < threads; thread++) {
                drr.enqueue(TestItem.keep("", flow, 1_000_000), 0);
            }
        }
        long[] endNs = new long[processors];
        @Nullable Item[] running = new Item[processors];
        long[] used = new long[weights.length];
        long nowNs = 0;
        while (nowNs < 20 * TestItem.SECOND) {
            int next = 0;
            for (int i = 1; i < processors; i++) {
                next = endNs[i] < endNs[next] ? i : next;
            }
            nowNs = endNs[next];
            Item ended = running[next];
            if (ended != null) {
                drr.enqueue(ended, nowNs);
            }
            Item item = TestItem.next(drr, nowNs);
            running[next] = item;
            long costNs = 200_000 + random.nextInt(1_200_000);
            endNs[next] = nowNs + costNs;
            used[item.flow()] += costNs;
            drr.charge(item.flow(), costNs - item.size());
        }
        double[] shares = new double[weights.length];
        for (int i = 0; i < weights.length; i++) {
            shares[i] = 100.0 * used[i] / Arrays.stream(used).sum();
        }
        return shares;
    }
}
