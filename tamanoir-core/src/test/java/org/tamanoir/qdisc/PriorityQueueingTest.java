package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TestItem.Dropped;
import org.tamanoir.support.Seeds;

class PriorityQueueingTest {
    private static final Map<String, String> LIMITED = Map.of("top-rate", "1000", "top-burst", "1000");

    private final Dropped dropped = new Dropped();

    private PriorityQueueing pq(Map<String, String> options) {
        return new PriorityQueueing(TestItem.config(options, 1, 1, 1), dropped);
    }

    @Test
    void servesTheLowestNumberedClassFirst() {
        PriorityQueueing pq = pq(Map.of());
        pq.enqueue(TestItem.of("c1", 2, 10), 0);
        pq.enqueue(TestItem.of("b1", 1, 10), 0);
        pq.enqueue(TestItem.of("a1", 0, 10), 0);
        pq.enqueue(TestItem.of("b2", 1, 10), 0);
        pq.enqueue(TestItem.of("a2", 0, 10), 0);
        assertThat(TestItem.drainByDequeue(pq, 0)).isEqualTo("a1 a2 b1 b2 c1");
    }

    @Test
    void starvesTheOthersAsLongAsTheFirstClassHasSomething() {
        PriorityQueueing pq = pq(Map.of());
        pq.enqueue(TestItem.of("b", 1, 10), 0);
        for (int i = 0; i < 1000; i++) {
            pq.enqueue(TestItem.of("a", 0, 1500), i);
            assertThat(pq.dequeue(i)).hasToString("a");
        }
        assertThat(pq.dequeue(1000)).hasToString("b");
    }

    @Test
    void limitsEachClassByItself() {
        List<FlowConfig> flows = List.of(new FlowConfig(1, 1, 100), new FlowConfig(1, 2, 100));
        PriorityQueueing pq = new PriorityQueueing(new DisciplineConfig(flows, 0, Map.of()), dropped);
        pq.enqueue(TestItem.of("a1", 0, 100), 0);
        pq.enqueue(TestItem.of("a2", 0, 1), 0);
        pq.enqueue(TestItem.of("b1", 1, 60), 0);
        pq.enqueue(TestItem.of("b2", 1, 41), 0);
        pq.enqueue(TestItem.of("b3", 1, 40), 0);
        assertThat(dropped).hasToString("a2:QUEUE_FULL b2:QUEUE_FULL");
        assertThat(TestItem.drainByDequeue(pq, 0)).isEqualTo("a1 b1 b3");
    }

    @Test
    void letsOthersGoFirstWhileTheTopClassHasTooFewTokens() {
        PriorityQueueing pq = pq(LIMITED);
        for (int i = 1; i <= 4; i++) {
            pq.enqueue(TestItem.of("a" + i, 0, 500), 0);
            pq.enqueue(TestItem.of("b" + i, 1, 500), 0);
        }
        assertThat(pq.dequeue(0)).hasToString("a1");
        assertThat(pq.dequeue(0)).hasToString("a2");
        assertThat(pq.dequeue(0)).hasToString("b1");
        assertThat(pq.dequeue(499 * TestItem.MS)).hasToString("b2");
        assertThat(pq.dequeue(500 * TestItem.MS)).hasToString("a3");
        assertThat(pq.dequeue(501 * TestItem.MS)).hasToString("b3");
    }

    @Test
    void servesTheTopClassWithoutTokensWhenNobodyElseHasAnything() {
        PriorityQueueing pq = pq(LIMITED);
        for (int i = 1; i <= 5; i++) {
            pq.enqueue(TestItem.of("a" + i, 0, 500), 0);
        }
        assertThat(TestItem.drainByDequeue(pq, 0)).isEqualTo("a1 a2 a3 a4 a5");
        // It took no tokens for a3 to a5: there are 500 again after half a second.
        pq.enqueue(TestItem.of("b", 1, 500), 500 * TestItem.MS);
        pq.enqueue(TestItem.of("a6", 0, 500), 500 * TestItem.MS);
        assertThat(TestItem.drainByDequeue(pq, 500 * TestItem.MS)).isEqualTo("a6 b");
    }

    @Test
    void servesWhatIsLargerThanTheTopBurstOnlyWhenNobodyElseHasAnything() {
        PriorityQueueing pq = pq(LIMITED);
        pq.enqueue(TestItem.of("a", 0, 1001), 0);
        pq.enqueue(TestItem.of("b", 1, 500), 0);
        assertThat(TestItem.drainByDequeue(pq, TestItem.SECOND)).isEqualTo("b a");
    }

    @Test
    void chargesTheTopClassWhatItsTurnsReallyCost() {
        PriorityQueueing pq = pq(LIMITED);
        for (int i = 1; i <= 3; i++) {
            pq.enqueue(TestItem.keep("a" + i, 0, 500), 0);
            pq.enqueue(TestItem.keep("b" + i, 1, 500), 0);
        }
        assertThat(pq.dequeue(0)).hasToString("a1");
        pq.charge(0, -500); // cost nothing
        assertThat(pq.dequeue(0)).hasToString("a2");
        pq.charge(0, 1000); // cost three times as much: 500 too much
        assertThat(pq.dequeue(999 * TestItem.MS)).hasToString("b1");
        pq.charge(1, 1_000_000);
        assertThat(pq.dequeue(1000 * TestItem.MS)).hasToString("a3");
    }

    @Test
    void aTurnWithoutTokensGivesNoneBack() {
        PriorityQueueing pq = pq(LIMITED);
        for (int i = 1; i <= 4; i++) {
            pq.enqueue(TestItem.keep("a" + i, 0, 500), 0);
        }
        for (int i = 1; i <= 3; i++) {
            pq.dequeue(0);
        }
        pq.charge(0, -500);
        pq.enqueue(TestItem.keep("b", 1, 500), 0);
        assertThat(pq.dequeue(0)).hasToString("b");
    }

    @Test
    void findsTheFirstOfTenThousandClasses() {
        long seed = Seeds.ofCommit(PriorityQueueingTest.class);
        Random random = new Random(seed);
        FlowSet set = new FlowSet(10_000);
        TreeSet<Integer> expected = new TreeSet<>();
        for (int step = 0; step < Seeds.scaled(100_000); step++) {
            int flow = random.nextInt(10_000);
            if (random.nextInt(10) < 4) {
                set.add(flow);
                expected.add(flow);
            } else {
                Integer least = expected.isEmpty() || random.nextBoolean() ? Integer.valueOf(flow) : expected.first();
                set.remove(least);
                expected.remove(least);
            }
            assertThat(set.first())
                    .as("seed %d step %d", seed, step)
                    .isEqualTo(expected.isEmpty() ? -1 : expected.first());
        }
    }

    @Test
    void refusesHalfALimit() {
        assertThatThrownBy(() -> pq(Map.of("top-rate", "1000")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("discipline pq: give both options top-rate and top-burst, or none");
        assertThatThrownBy(() -> pq(Map.of("top-rate", "0", "top-burst", "1")))
                .hasMessage("option top-rate of discipline pq is '0': must be a whole number from 1 to 1000000000000");
        assertThatThrownBy(() -> new PriorityQueueing(TestItem.config(Map.of()), dropped))
                .hasMessage("discipline pq: there is no flow; give at least one");
    }

    @Test
    void aClassThatThereIsNotIsAnError() {
        PriorityQueueing pq = pq(Map.of());
        assertThatThrownBy(() -> pq.enqueue(TestItem.of("x", 3, 1), 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pq.enqueue(TestItem.keep("x", -1, 1), 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(pq.packets()).isZero();
    }

    @Test
    void dropsWhatFitsNoClass() {
        PriorityQueueing pq = pq(Map.of());
        pq.enqueue(TestItem.of("x", -1, 1), 0);
        assertThat(dropped).hasToString("x:UNCLASSIFIED");
        assertThat(pq.packets()).isZero();
    }
}
