package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.qdisc.DisciplineTrial.Numbered;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Tiers;

/** What every discipline must hold to, whatever its order is. */
@Tag("once")
class EveryDisciplineTest {
    private static final int TRACES = Seeds.scaled(200);
    private static final long SEED = Seeds.ofCommit(EveryDisciplineTest.class);
    private static final long RATE = 1_000_000_000 / 8;
    private static final long HOUR_NS = 3_600L * TestItem.SECOND;

    private TestItem taken = TestItem.of("none", 0, 1);

    static SortedSet<String> names() {
        return Disciplines.names();
    }

    static SortedSet<String> namesForTurns() {
        return Disciplines.namesForTurns();
    }

    /**
     * Overload, mixed sizes, items that must not be dropped, a clock that jumps: {@link DisciplineTrial} checks counts,
     * limits, order and work conservation after each step.
     */
    @ParameterizedTest
    @MethodSource("names")
    void losesNothingAndKeepsTheOrderOfEachFlow(String name) {
        for (int trace = 0; trace < TRACES; trace++) {
            long seed = SEED + trace;
            try {
                trace(name, new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(name + ", seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static void trace(String name, Random random) {
        List<FlowConfig> flows = new ArrayList<>();
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            long weight = random.nextInt(4) == 0 ? FlowConfig.MAX_WEIGHT : 1 + random.nextInt(100);
            flows.add(new FlowConfig(weight, 1 + random.nextInt(10), 1 + random.nextInt(200_000)));
        }
        DisciplineTrial trial = new DisciplineTrial(name, flows, RATE);
        long nowNs = random.nextBoolean() ? random.nextLong() / 4 : 0;
        int arrivalsInTen = 3 + random.nextInt(6);
        boolean keepSome = random.nextBoolean();
        boolean removes = random.nextBoolean();
        for (int step = 0; step < 200; step++) {
            nowNs += switch (random.nextInt(50)) {
                case 0 -> -HOUR_NS;
                case 1 -> 5 * HOUR_NS;
                case 2 -> -random.nextInt(1_000_000);
                default -> random.nextInt(200_000);
            };
            if (random.nextInt(10) < arrivalsInTen) {
                int size = random.nextInt(3) == 0 ? 65_535 : 1 + random.nextInt(1500);
                boolean mayDrop = !keepSome || random.nextInt(5) > 0;
                trial.enqueue(random.nextInt(flows.size()), random.nextInt(20) == 0 ? 1 : size, mayDrop, nowNs);
            } else {
                trial.dequeue(nowNs);
            }
            if (removes && random.nextInt(4) == 0) {
                trial.remove(random, nowNs);
            }
            if (random.nextInt(150) == 0) {
                trial.removeAll(random, nowNs);
            }
        }
        if (random.nextBoolean()) {
            trial.removeAll(random, nowNs);
        } else {
            trial.dequeueAll(nowNs);
        }
        trial.checkAllCameOut();
    }

    @ParameterizedTest
    @MethodSource("names")
    void servesTenThousandFlows(String name) {
        int count = 10_000;
        List<FlowConfig> flows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            flows.add(new FlowConfig(1 + i % 10, 2, 1 << 20));
        }
        DisciplineTrial trial = new DisciplineTrial(name, flows, RATE);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            order.add(i);
        }
        for (long seed = 10; seed < 12; seed++) {
            Collections.shuffle(order, new Random(seed));
            for (int flow : order) {
                trial.enqueue(flow, 1 + flow % 1500, true, 0);
            }
            assertThat(trial.inside()).as("seed %d", seed).isEqualTo(count);
            trial.dequeueAll(TestItem.MS);
        }
        trial.checkAllCameOut();
        assertThat(trial.served()).isEqualTo(2 * count);
    }

    @ParameterizedTest
    @MethodSource("names")
    void servesFlowsThatComeAndGo(String name) {
        int count = 1000;
        List<FlowConfig> flows = Collections.nCopies(count, new FlowConfig(3, 10, 1 << 20));
        DisciplineTrial trial = new DisciplineTrial(name, flows, RATE);
        trial.enqueue(0, 1000, true, 0);
        for (int step = 1; step <= 20_000; step++) {
            trial.enqueue(step % count, 1000, true, step * 8000L);
            trial.dequeue(step * 8000L);
        }
        trial.dequeueAll(20_001 * 8000L);
        trial.checkAllCameOut();
        assertThat(trial.served()).isEqualTo(20_001);
    }

    @ParameterizedTest
    @MethodSource("names")
    void takesTheSameItemsAgain(String name) {
        DisciplineTrial trial =
                new DisciplineTrial(name, Collections.nCopies(4, new FlowConfig(1, 100, 1 << 20)), RATE);
        long seed = 77;
        Random random = new Random(seed);
        List<Numbered> idle = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            idle.add(new Numbered());
        }
        for (int step = 0; step < 100_000; step++) {
            long nowNs = step * 1000L;
            if (!idle.isEmpty() && random.nextBoolean()) {
                trial.enqueue(idle.remove(idle.size() - 1), random.nextInt(4), 1 + random.nextInt(1500), true, nowNs);
            } else {
                Numbered served = trial.dequeue(nowNs);
                if (served != null) {
                    idle.add(served);
                }
            }
            idle.addAll(trial.takeDropped());
        }
        trial.removeAll(random, 100_000_000);
        trial.checkAllCameOut();
    }

    @ParameterizedTest
    @MethodSource("names")
    void allocatesNothingPerItem(String name) {
        Tiers.require(
                "thread-allocation",
                ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
                        && bean.isThreadAllocatedMemorySupported()
                        && bean.isThreadAllocatedMemoryEnabled(),
                "this JVM does not count what threads allocate");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int flows = 100;
        DisciplineConfig config =
                new DisciplineConfig(Collections.nCopies(flows, new FlowConfig(1, 5, 5000)), RATE, Map.of());
        QueueingDiscipline discipline = Disciplines.create(name, config, (item, reason) -> {});
        Item[] items = new Item[2000];
        for (int i = 0; i < items.length; i++) {
            items[i] = new Item();
        }
        churn(discipline, items, flows, 100_000);
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        churn(discipline, items, flows, 1_000_000);
        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertThat(allocated).isLessThan(100_000); // a tenth of a byte a step, whatever the JVM itself takes
    }

    /** Two arrive for each that leaves, so that it overflows; then all leave. */
    private static void churn(QueueingDiscipline discipline, Item[] items, int flows, int steps) {
        long nowNs = 0;
        int next = 0;
        for (int step = 0; step < steps; step++) {
            nowNs += 1000;
            if (step % 3 < 2 && next < items.length) {
                Item item = items[next++];
                item.describe(next * 7 % flows, 1 + next * 31 % 1500, next * 7 % flows, true);
                discipline.enqueue(item, nowNs);
            } else {
                discipline.dequeue(nowNs);
            }
            if (next == items.length && discipline.packets() == 0) {
                next = 0;
            }
        }
        while (discipline.packets() > 0) {
            discipline.dequeue(nowNs);
        }
    }

    @ParameterizedTest
    @MethodSource("namesForTurns")
    void ordersTurnsWhoseCostIsKnownAfterwards(String name) {
        for (int trace = 0; trace < TRACES; trace++) {
            long seed = SEED + trace;
            try {
                turns(name, new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(name + ", seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static void turns(String name, Random random) {
        int flows = 1 + random.nextInt(5);
        DisciplineTrial trial = DisciplineTrial.ofTurns(name, Collections.nCopies(flows, new FlowConfig(2, 1, 1)));
        for (int step = 0; step < 200; step++) {
            long nowNs = step * 100_000L;
            if (random.nextBoolean()) {
                trial.enqueue(random.nextInt(flows), 1_000_000, false, nowNs);
            } else if (random.nextInt(4) == 0) {
                trial.remove(random, nowNs);
            } else {
                Numbered turn = trial.dequeue(nowNs);
                if (turn != null) {
                    trial.charge(
                            turn.flow(), random.nextInt(20) == 0 ? HOUR_NS : random.nextInt(2_000_000) - 1_000_000);
                }
            }
        }
        trial.dequeueAll(TestItem.SECOND);
        trial.checkAllCameOut();
    }

    @ParameterizedTest
    @MethodSource("names")
    void refusesAPacketThatStandsInIt(String name) {
        refuses(Disciplines.create(name, TestItem.config(Map.of(), 1, 1), (item, reason) -> {}));
    }

    @ParameterizedTest
    @MethodSource("namesForTurns")
    void refusesATurnThatStandsInIt(String name) {
        refuses(Disciplines.createForTurns(name, TestItem.config(Map.of(), 1, 1)));
    }

    private static void refuses(QueueingDiscipline discipline) {
        TestItem first = TestItem.keep("a", 0, 1000);
        TestItem second = TestItem.keep("b", 0, 1000);
        QueueingDiscipline another = Disciplines.createForTurns("fifo", TestItem.config(Map.of(), 1));
        discipline.enqueue(first, 0);
        discipline.enqueue(second, 0);
        String line = "an item of flow 0 and size 1000 stands in a discipline already: it may once;"
                + " take it out before it is used again";
        assertThatThrownBy(() -> discipline.enqueue(first, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(line);
        assertThatThrownBy(() -> another.enqueue(second, 0)).hasMessage(line);
        assertThatThrownBy(() -> second.describe(1, 1, 1, true)).hasMessage(line);
        assertThatThrownBy(() -> another.remove(first, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("does not stand in discipline fifo");
        assertThat(discipline.packets()).isEqualTo(2);
        assertThat(TestItem.drainByDequeue(discipline, 0)).isEqualTo("a b");

        discipline.enqueue(first, 1); // What came out may come again, however it came out.
        discipline.dequeue(1);
        discipline.enqueue(first, 1);
        discipline.remove(first, 1);
        another.enqueue(first, 1);
        assertThat(discipline.packets()).isZero();
        assertThat(TestItem.drainByDequeue(another, 1)).isEqualTo("a");
    }

    /** Two flows of equal weight with two items each, of which one is taken out: the head of a flow, or the last. */
    @ParameterizedTest
    @CsvSource({
        "fifo, c, a b d", "fifo, b, a c d",
        "pq, a, b c d", "pq, d, a b c",
        "drr, c, a d b", "drr, b, a c d",
        "codel, c, a b d", "codel, b, a c d",
        "fq-codel, c, a b d", "fq-codel, b, a c d",
        "wfq, c, a b d", "wfq, b, a c d",
        "fq, c, a b d", "fq, a, c b d",
        "stfq, c, a d b", "stfq, b, a c d",
        "scfq, c, a d b", "scfq, b, a c d",
        "wf2q+, c, a d b", "wf2q+, a, b c d",
        "yielding, c, d a b", "yielding, b, c d a"
    })
    void whatIsRemovedLeavesTheOthersInTheirOrder(String name, String removed, String order) {
        QueueingDiscipline discipline = Disciplines.create(name, TestItem.config(Map.of(), 1, 1), (item, reason) -> {});
        for (String each : new String[] {"a", "c", "b", "d"}) {
            TestItem item = TestItem.of(each, each.compareTo("c") < 0 ? 0 : 1, 1000);
            discipline.enqueue(item, 0);
            if (each.equals(removed)) {
                taken = item;
            }
        }
        discipline.remove(taken, 0);
        assertThat(TestItem.drainByDequeue(discipline, 0)).isEqualTo(order);
    }

    @ParameterizedTest
    @MethodSource("names")
    void neverDropsWhatMustNotBeDropped(String name) {
        DisciplineTrial trial = new DisciplineTrial(name, Collections.nCopies(3, new FlowConfig(1, 1, 1)), RATE);
        for (int i = 0; i < 3000; i++) {
            trial.enqueue(i % 3, 65_535, false, i * TestItem.MS);
        }
        assertThat(trial.inside()).isEqualTo(3000);
        for (int i = 0; i < 3000; i++) {
            assertThat(trial.dequeue(HOUR_NS + i * TestItem.MS)).isNotNull();
        }
        trial.checkAllCameOut();
    }
}
