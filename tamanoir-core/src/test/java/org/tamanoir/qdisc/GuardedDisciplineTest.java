package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.qdisc.TestItem.Dropped;

/** Disciplines, such as users may write, that do not what they promise. */
class GuardedDisciplineTest {
    private enum Fault {
        THROWS_IN_ENQUEUE,
        OVERFLOWS_THE_STACK_IN_DEQUEUE,
        LOSES_WHAT_IT_WOULD_GIVE,
        GIVES_ONE_TWICE,
        GIVES_WHAT_IT_NEVER_GOT,
        DROPS_ONE_TWICE,
        THROWS_IN_READY,
        THROWS_IN_CHARGE,
        THROWS_IN_REMOVE
    }

    /** The newest comes first, until it fails. */
    private static final class Faulty implements QueueingDiscipline {
        private final Fault fault;
        private final Drops drops;
        private final Deque<Item> items = new ArrayDeque<>();

        Faulty(Fault fault, Drops drops) {
            this.fault = fault;
            this.drops = drops;
        }

        private void fails(Fault here) {
            if (fault == here) {
                throw new UnsupportedOperationException("fails as it was told");
            }
        }

        @Override
        public void enqueue(Item item, long nowNs) {
            items.push(item);
            if (items.size() == 3) {
                fails(Fault.THROWS_IN_ENQUEUE);
            }
        }

        @Override
        public @Nullable Item dequeue(long nowNs) {
            switch (fault) {
                case OVERFLOWS_THE_STACK_IN_DEQUEUE -> throw new StackOverflowError();
                case GIVES_WHAT_IT_NEVER_GOT -> {
                    return new Item();
                }
                case DROPS_ONE_TWICE -> {
                    Item item = items.getLast();
                    drops.dropped(item, DropReason.QUEUE_DELAY);
                    drops.dropped(item, DropReason.QUEUE_DELAY);
                }
                case LOSES_WHAT_IT_WOULD_GIVE -> {
                    items.clear();
                    fails(fault);
                }
                case GIVES_ONE_TWICE -> {
                    return items.getLast();
                }
                default -> {}
            }
            return items.poll();
        }

        @Override
        public int packets() {
            return items.size();
        }

        @Override
        public long bytes() {
            return 0; // Nobody relies on it.
        }

        @Override
        public long readyNs(long nowNs) {
            fails(Fault.THROWS_IN_READY);
            return nowNs;
        }

        @Override
        public void charge(int flow, long rest) {
            fails(Fault.THROWS_IN_CHARGE);
        }

        @Override
        public void remove(Item item, long nowNs) {
            fails(Fault.THROWS_IN_REMOVE);
            items.remove(item);
        }
    }

    private final Dropped dropped = new Dropped();
    private final List<String> failures = new ArrayList<>();

    private QueueingDiscipline guarded(Fault fault) {
        GuardedDiscipline guard = new GuardedDiscipline(
                "faulty", TestItem.config(Map.of(), 1, 1), dropped, (line, failure) -> failures.add(line));
        guard.guard(new Faulty(fault, guard::dropped));
        return guard;
    }

    @ParameterizedTest
    @EnumSource
    void aDisciplineThatFailsIsReplacedAndEveryItemComesOutOnce(Fault fault) {
        QueueingDiscipline discipline = guarded(fault);
        TestItem removed = TestItem.of("removed", 1, 10);
        for (TestItem item : List.of(TestItem.of("a", 1, 10), removed, TestItem.keep("b", 0, 10))) {
            discipline.enqueue(item, 0);
        }
        discipline.charge(0, 5);
        discipline.remove(removed, 0);
        assertThat(discipline.readyNs(7)).isEqualTo(7);
        assertThat(discipline.packets()).isEqualTo(2);
        assertThat(discipline.bytes()).isEqualTo(20);
        List<String> out = new ArrayList<>();
        for (Item item = discipline.dequeue(0); item != null; item = discipline.dequeue(0)) {
            out.add(item.toString());
            assertThat(item.isEnqueued()).isFalse();
        }
        assertThat(out).isEqualTo(fault == Fault.DROPS_ONE_TWICE ? List.of("b") : List.of("a", "b"));
        assertThat(dropped).hasToString(fault == Fault.DROPS_ONE_TWICE ? "a:QUEUE_DELAY" : "");
        assertThat(discipline.packets()).isZero();
        assertThat(failures)
                .singleElement()
                .asString()
                .startsWith("discipline faulty failed, with ")
                .endsWith(" waiting: they are served in the order of arrival until the scheduling is configured anew");
    }

    @Test
    void saysWhatStandsInADisciplineInTheOrderOfArrival() {
        GuardedDiscipline guard = Disciplines.create("yielding", TestItem.config(Map.of(), 1, 1), dropped);
        List<TestItem> items = List.of(TestItem.of("a", 0, 1), TestItem.of("b", 1, 1), TestItem.of("c", 0, 1));
        items.forEach(item -> guard.enqueue(item, 0));
        assertThat(guard.items()).containsExactlyElementsOf(items);
        guard.remove(items.get(1), 0);
        assertThat(guard.items()).containsExactly(items.get(0), items.get(2));
        guard.dequeue(0);
        guard.dequeue(0);
        assertThat(guard.items()).isEmpty();
    }

    @Test
    void aGatedDisciplineThatFailedIsTold() {
        List<String> asked = new ArrayList<>();
        GatedDiscipline failing = (GatedDiscipline) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {GatedDiscipline.class}, (proxy, method, arguments) -> {
                    asked.add(method.getName());
                    if (method.getName().equals("enqueue")) {
                        throw new UnsupportedOperationException("fails as it was told");
                    }
                    return null;
                });
        GuardedDiscipline guard = new GuardedDiscipline(
                "faulty", TestItem.config(Map.of(), 1), dropped, (line, failure) -> failures.add(line));
        guard.guard(failing);

        guard.enqueue(TestItem.of("a", 0, 1), 0);

        assertThat(asked).containsExactly("enqueue", "abandoned");
        assertThat(guard.gated()).isNull();
        assertThat(guard.dequeue(0)).hasToString("a");
    }

    @Test
    void withoutAnyoneToTellTheCallerGetsTheException() {
        GuardedDiscipline guard = new GuardedDiscipline("faulty", TestItem.config(Map.of(), 1), dropped, null);
        guard.guard(new Faulty(Fault.LOSES_WHAT_IT_WOULD_GIVE, guard::dropped));
        guard.enqueue(TestItem.of("a", 0, 1), 0);
        assertThatThrownBy(() -> guard.dequeue(0)).isInstanceOf(UnsupportedOperationException.class);
    }
}
