package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.tamanoir.accounting.DropReason;

/** An item with a name, and helpers to write short tests with. */
final class TestItem extends Item {
    static final long MS = 1_000_000;
    static final long SECOND = 1_000_000_000;

    final String name;

    private TestItem(String name) {
        this.name = name;
    }

    /** May be dropped; its hash is its flow. */
    static TestItem of(String name, int flow, int size) {
        TestItem item = new TestItem(name);
        item.describe(flow, size, flow, true);
        return item;
    }

    /** Must not be dropped. */
    static TestItem keep(String name, int flow, int size) {
        TestItem item = new TestItem(name);
        item.describe(flow, size, flow, false);
        return item;
    }

    @Override
    public String toString() {
        return name;
    }

    /** Flows with these weights and room for everything. */
    static DisciplineConfig config(Map<String, String> options, long... weights) {
        List<FlowConfig> flows = Arrays.stream(weights)
                .mapToObj(weight -> new FlowConfig(weight, Integer.MAX_VALUE, Long.MAX_VALUE))
                .toList();
        return new DisciplineConfig(flows, 125_000_000, options);
    }

    /** Takes out the next, which there must be. */
    static Item next(QueueingDiscipline discipline, long nowNs) {
        return Objects.requireNonNull(discipline.dequeue(nowNs), "nothing comes out");
    }

    /** Takes out what there is now; names in their order. */
    static String drainByDequeue(QueueingDiscipline discipline, long nowNs) {
        List<String> names = new ArrayList<>();
        for (Item item = discipline.dequeue(nowNs); item != null; item = discipline.dequeue(nowNs)) {
            names.add(item.toString());
        }
        return String.join(" ", names);
    }

    /** Notes what is dropped, as {@code name:REASON}. */
    static final class Dropped implements Drops {
        final List<String> list = new ArrayList<>();

        @Override
        public void dropped(Item item, DropReason reason) {
            list.add(item + ":" + reason);
        }

        @Override
        public String toString() {
            return String.join(" ", list);
        }
    }
}
