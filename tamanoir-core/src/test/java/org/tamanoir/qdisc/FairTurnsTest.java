package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Processor time shared by turns whose cost is known only when they end. */
class FairTurnsTest {
    private static final int QUANTUM_NS = 1_000_000;
    private static final List<String> NAMES = List.of("stfq", "scfq", "wf2q+");

    /** One that asks for turns; while it has one, when that ends. */
    private static final class Requester extends Item {
        long endsNs;
        long costNs;

        Requester(int flow) {
            describe(flow, QUANTUM_NS, flow, false);
        }
    }

    /** A node whose requesters ask again as soon as their turn ends. */
    private static final class Node {
        final Random random;
        final long[] weights;
        final int[] requesters;
        /** Least and largest cost of a turn of each flow. */
        final long[][] costsNs;

        final int processors;
        final long[] servedNs;

        Node(Random random, int processors, long[] weights, long[] costsNs) {
            this.random = random;
            this.processors = processors;
            this.weights = weights;
            this.requesters = new int[weights.length];
            this.costsNs = new long[weights.length][];
            this.servedNs = new long[weights.length];
            Arrays.fill(requesters, 1);
            Arrays.setAll(this.costsNs, flow -> new long[] {costsNs[flow], costsNs[flow]});
        }

        Node(Random random, boolean oneProcessor) {
            this.random = random;
            int flows = 2 + random.nextInt(4);
            processors = oneProcessor ? 1 : 2 + random.nextInt(3);
            weights = random.longs(flows, 1, 11).toArray();
            requesters = random.ints(flows, 1, 4).toArray();
            servedNs = new long[flows];
            costsNs = new long[flows][];
            for (int flow = 0; flow < flows; flow++) {
                long least = logUniform(1_000, 10_000_000);
                costsNs[flow] = new long[] {least, random.nextBoolean() ? least : logUniform(least, 10_000_000)};
            }
        }

        private long logUniform(long min, long max) {
            return Math.round(min * Math.pow((double) max / min, random.nextDouble()));
        }

        /** Whether the flow has more requesters than processors are due to it. */
        boolean asksEnough(int flow) {
            return (requesters[flow] - 1) * Arrays.stream(weights).sum() >= processors * weights[flow]
                    || processors == 1;
        }

        void run(QueueingDiscipline discipline, long lengthNs) {
            PriorityQueue<Requester> running =
                    new PriorityQueue<>(Comparator.comparingLong(requester -> requester.endsNs));
            for (int flow = 0; flow < weights.length; flow++) {
                for (int i = 0; i < requesters[flow]; i++) {
                    discipline.enqueue(new Requester(flow), 0);
                }
            }
            for (int i = 0; i < processors; i++) {
                start(discipline, running, 0);
            }
            long nowNs = 0;
            while (nowNs < lengthNs) {
                Requester ended = running.remove();
                nowNs = ended.endsNs;
                servedNs[ended.flow()] += ended.costNs;
                discipline.charge(ended.flow(), ended.costNs - QUANTUM_NS);
                discipline.enqueue(ended, nowNs);
                start(discipline, running, nowNs);
            }
        }

        private void start(QueueingDiscipline discipline, PriorityQueue<Requester> running, long nowNs) {
            Requester next = (Requester) discipline.dequeue(nowNs);
            if (next == null) {
                return;
            }
            long[] range = costsNs[next.flow()];
            next.costNs = logUniform(range[0], range[1]);
            next.endsNs = nowNs + next.costNs;
            running.add(next);
        }

        DisciplineConfig config() {
            List<FlowConfig> flows = new ArrayList<>();
            for (long weight : weights) {
                flows.add(new FlowConfig(weight, 1, 1));
            }
            return new DisciplineConfig(flows, processors * 1_000_000_000L, Map.of());
        }

        @Override
        public String toString() {
            return processors + " processors, weights " + Arrays.toString(weights) + ", requesters "
                    + Arrays.toString(requesters) + ", costs " + Arrays.deepToString(costsNs) + ", served "
                    + Arrays.toString(servedNs);
        }
    }

    private static void shareByWeight(String name, long firstSeed, boolean oneProcessor) {
        for (long seed = firstSeed; seed < firstSeed + 12; seed++) {
            Node node = new Node(new Random(seed), oneProcessor);
            node.run(Disciplines.createForTurns(name, node.config()), 2_000_000_000L);
            long total = Arrays.stream(node.servedNs).sum();
            long weights = Arrays.stream(node.weights).sum();
            for (int flow = 0; flow < node.weights.length; flow++) {
                if (node.asksEnough(flow)) {
                    // 1 %, and two of the longest turns for where the run ends.
                    double least = 0.99 * total * node.weights[flow] / weights - 2 * 10_000_000;
                    assertThat((double) node.servedNs[flow])
                            .as("%s, seed %s: flow %s, %s", name, seed, flow, node)
                            .isGreaterThanOrEqualTo(least);
                }
            }
        }
    }

    @Test
    void aProcessorIsSharedByWeightWhateverTurnsCost() {
        for (String name : NAMES) {
            shareByWeight(name, 1, true);
        }
    }

    @Test
    void processorsAreSharedByWeightWhateverTurnsCost() {
        for (String name : NAMES) {
            shareByWeight(name, 1001, false);
        }
    }

    /** Turns of 1 us against turns of 10 ms, both counted as 1 ms until they end. */
    @Test
    void aFlowOfShortTurnsGetsAsMuchTimeAsOneOfLongTurns() {
        for (String name : NAMES) {
            Node node = new Node(new Random(1), 1, new long[] {1, 1}, new long[] {1_000, 10_000_000});
            node.run(Disciplines.createForTurns(name, node.config()), 2_000_000_000L);
            assertThat(node.servedNs[0])
                    .as("%s: %s", name, node)
                    .isBetween(node.servedNs[1] - 20_000_000, node.servedNs[1] + 20_000_000);
        }
    }

    @Test
    void aTurnThatTookVeryLongIsPaidForAndOthersGoOn() {
        for (String name : NAMES) {
            QueueingDiscipline discipline = Disciplines.createForTurns(
                    name, new Node(new Random(1), 1, new long[] {1, 1_000_000}, new long[] {1, 1}).config());
            Requester greedy = new Requester(0);
            Requester other = new Requester(1);
            discipline.enqueue(greedy, 0);
            assertThat(discipline.dequeue(0)).as(name).isSameAs(greedy);
            for (int i = 0; i < 1000; i++) {
                discipline.charge(0, Long.MAX_VALUE);
            }
            discipline.enqueue(greedy, 1);
            for (int i = 0; i < 1000; i++) {
                discipline.enqueue(other, 1);
                assertThat(discipline.dequeue(1)).as(name).isSameAs(other);
                discipline.charge(1, 0);
            }
            assertThat(discipline.dequeue(1)).as(name).isSameAs(greedy);
            for (int i = 0; i < 1000; i++) {
                discipline.charge(0, Long.MIN_VALUE);
            }
            discipline.enqueue(other, 2);
            assertThat(discipline.dequeue(2)).as(name).isSameAs(other);
            assertThat(discipline.dequeue(2)).as(name).isNull();
        }
    }
}
