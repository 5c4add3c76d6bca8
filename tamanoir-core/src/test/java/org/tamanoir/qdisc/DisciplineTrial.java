package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/** Runs a discipline and checks after each step what all of them promise. */
final class DisciplineTrial {
    private static final Set<String> SHARED_LIMITS = Set.of("fifo", "codel");
    private static final String HASHED = "fq-codel";
    /** Of fq-codel; the others' come from the flows. */
    private static final int HASHED_PACKETS = 30;

    private static final long HASHED_BYTES = 400_000;

    /** An item that knows the order of arrival in its flow. */
    static final class Numbered extends Item {
        private long number;
        private boolean inside;
    }

    private final String name;
    private final List<FlowConfig> flows;
    private final QueueingDiscipline discipline;
    /** What is inside, in the order of arrival of each flow. */
    private final List<Deque<Numbered>> expected = new ArrayList<>();

    private final List<Numbered> dropped = new ArrayList<>();
    private final int[] packets;
    private final long[] bytes;
    private final long sumPackets;
    private final long sumBytes;
    private int allPackets;
    private long allBytes;
    private long arrived;
    private long served;
    private long lost;
    private @Nullable Numbered arriving;

    DisciplineTrial(String name, List<FlowConfig> flows, long rate) {
        this(name, flows, rate, false);
    }

    static DisciplineTrial ofTurns(String name, List<FlowConfig> flows) {
        return new DisciplineTrial(name, flows, TestItem.SECOND, true);
    }

    private DisciplineTrial(String name, List<FlowConfig> flows, long rate, boolean turns) {
        this.name = name;
        this.flows = flows;
        packets = new int[flows.size()];
        bytes = new long[flows.size()];
        for (int i = 0; i < flows.size(); i++) {
            expected.add(new ArrayDeque<>());
        }
        sumPackets = flows.stream().mapToLong(FlowConfig::limitPackets).sum();
        sumBytes = flows.stream().mapToLong(FlowConfig::limitBytes).sum();
        boolean few = flows.size() < 10;
        DisciplineConfig config = new DisciplineConfig(
                flows,
                rate,
                name.equals(HASHED) && few
                        ? Map.of("limit", "" + HASHED_PACKETS, "memory", "" + HASHED_BYTES)
                        : Map.of());
        discipline = turns
                ? Disciplines.createForTurns(name, config)
                : Disciplines.create(name, config, (item, reason) -> dropped((Numbered) item, reason));
        checkCounts();
    }

    void enqueue(int flow, int size, boolean mayDrop, long nowNs) {
        enqueue(new Numbered(), flow, size, mayDrop, nowNs);
    }

    void enqueue(Numbered item, int flow, int size, boolean mayDrop, long nowNs) {
        item.describe(flow, size, flow * 0x1234_5678_9ABCL, mayDrop);
        item.number = arrived++;
        assertThat(item.inside).isFalse();
        item.inside = true;
        expected.get(flow).add(item);
        packets[flow]++;
        bytes[flow] += size;
        allPackets++;
        allBytes += size;
        arriving = item;
        discipline.enqueue(item, nowNs);
        arriving = null;
        checkCounts();
        if (mayDrop && item.inside) {
            assertThat(overLimit(flow)).as("room for what was taken").isFalse();
        }
    }

    /** Whether the flow, or all together where they share, has more than it may with what just arrived. */
    private boolean overLimit(int flow) {
        if (name.equals(HASHED)) {
            return allPackets > HASHED_PACKETS && flows.size() < 10 || allBytes > HASHED_BYTES && flows.size() < 10;
        }
        if (SHARED_LIMITS.contains(name)) {
            return allPackets > sumPackets || allBytes > sumBytes;
        }
        return packets[flow] > flows.get(flow).limitPackets()
                || bytes[flow] > flows.get(flow).limitBytes();
    }

    private void dropped(Numbered item, DropReason reason) {
        assertThat(item.mayDrop()).as("drops what it may").isTrue();
        switch (reason) {
            case QUEUE_FULL -> {
                Numbered culprit = arriving;
                assertThat(culprit).as("arrives while the queue is full").isNotNull();
                if (name.equals(HASHED)) {
                    assertThat(item.inside).isTrue();
                } else {
                    assertThat(item).isSameAs(culprit);
                    assertThat(overLimit(item.flow()))
                            .as("drops only what does not fit")
                            .isTrue();
                }
            }
            case QUEUE_DELAY -> assertThat(name).contains("codel");
            default -> throw new AssertionError("reason " + reason);
        }
        leave(item);
        lost++;
        dropped.add(item);
    }

    @Nullable
    Numbered dequeue(long nowNs) {
        long readyNs = discipline.readyNs(nowNs);
        assertThat(readyNs).isEqualTo(allPackets == 0 ? Long.MAX_VALUE : nowNs);
        Numbered item = (Numbered) discipline.dequeue(nowNs);
        if (item == null) {
            assertThat(allPackets).as("left inside when nothing comes out").isZero();
        } else {
            take(item);
        }
        checkCounts();
        return item;
    }

    /** Takes any out, the oldest of a flow or not; false when nothing is inside. */
    boolean remove(Random random, long nowNs) {
        List<Numbered> all = expected.stream().flatMap(Deque::stream).toList();
        if (all.isEmpty()) {
            return false;
        }
        Numbered item = all.get(random.nextInt(all.size()));
        discipline.remove(item, nowNs);
        assertThat(item.isEnqueued()).isFalse();
        leave(item);
        served++;
        checkCounts();
        return true;
    }

    void dequeueAll(long nowNs) {
        while (dequeue(nowNs) != null) {
            assertThat(served).isLessThanOrEqualTo(arrived);
        }
    }

    void removeAll(Random random, long nowNs) {
        long lostBefore = lost;
        while (remove(random, nowNs)) {
            assertThat(lost).isEqualTo(lostBefore);
        }
        assertThat(allPackets).isZero();
        assertThat(discipline.dequeue(nowNs)).isNull();
    }

    void charge(int flow, long rest) {
        discipline.charge(flow, rest);
    }

    /** What was dropped since it was last asked for. */
    List<Numbered> takeDropped() {
        List<Numbered> taken = List.copyOf(dropped);
        dropped.clear();
        return taken;
    }

    int inside() {
        return allPackets;
    }

    long served() {
        return served;
    }

    void checkAllCameOut() {
        assertThat(allPackets).isZero();
        assertThat(arrived).isEqualTo(served + lost);
    }

    private void take(Numbered item) {
        assertThat(item)
                .as("next of flow " + item.flow())
                .isSameAs(expected.get(item.flow()).peek());
        leave(item);
        served++;
    }

    private void leave(Numbered item) {
        assertThat(item.inside).as("comes out once").isTrue();
        item.inside = false;
        Deque<Numbered> queue = expected.get(item.flow());
        if (queue.peekFirst() == item) {
            queue.removeFirst();
        } else if (queue.peekLast() == item) {
            queue.removeLast();
        } else {
            assertThat(queue.remove(item)).isTrue();
        }
        packets[item.flow()]--;
        bytes[item.flow()] -= item.size();
        allPackets--;
        allBytes -= item.size();
    }

    private void checkCounts() {
        assertThat(discipline.packets()).isEqualTo(allPackets);
        assertThat(discipline.bytes()).isEqualTo(allBytes);
    }
}
