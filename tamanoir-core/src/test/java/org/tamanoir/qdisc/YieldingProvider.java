package org.tamanoir.qdisc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/** {@code yielding}: a discipline as users write them. Each class lets those with a higher index go first. */
public final class YieldingProvider implements DisciplineProvider {
    /** The next item that would come out is lost, and an exception thrown; once. */
    public static final AtomicBoolean FAILS = new AtomicBoolean();
    /** Nothing comes out, and it does not say when something will. */
    public static final AtomicBoolean KEEPS = new AtomicBoolean();

    @Override
    public String name() {
        return "yielding";
    }

    @Override
    public boolean ordersTurns() {
        return true;
    }

    @Override
    public QueueingDiscipline create(DisciplineConfig config, Drops drops) {
        if (!config.options().isEmpty()) {
            throw new IllegalArgumentException("discipline yielding has no options");
        }
        return new Yielding(config.flows(), drops);
    }

    private static final class Yielding implements QueueingDiscipline {
        private final List<FlowConfig> flows;
        private final List<Queue<Item>> queues = new ArrayList<>();
        private final long[] bytes;
        private final Drops drops;
        private int packets;

        Yielding(List<FlowConfig> flows, Drops drops) {
            this.flows = flows;
            this.drops = drops;
            bytes = new long[flows.size()];
            flows.forEach(flow -> queues.add(new ArrayDeque<>()));
        }

        @Override
        public void enqueue(Item item, long nowNs) {
            item.enqueuedAt(nowNs);
            FlowConfig flow = flows.get(item.flow());
            Queue<Item> queue = queues.get(item.flow());
            boolean fits = queue.size() < flow.limitPackets() && bytes[item.flow()] + item.size() <= flow.limitBytes();
            if (item.mayDrop() && !fits) {
                drops.dropped(item, DropReason.QUEUE_FULL);
                return;
            }
            queue.add(item);
            bytes[item.flow()] += item.size();
            packets++;
        }

        @Override
        public @Nullable Item dequeue(long nowNs) {
            for (int i = KEEPS.get() ? -1 : queues.size() - 1; i >= 0 && packets > 0; i--) {
                Item item = queues.get(i).poll();
                if (item != null) {
                    bytes[i] -= item.size();
                    packets--;
                    if (FAILS.compareAndSet(true, false)) {
                        throw new UnsupportedOperationException("fails as it was told");
                    }
                    return item;
                }
            }
            return null;
        }

        @Override
        public int packets() {
            return packets;
        }

        @Override
        public long readyNs(long nowNs) {
            return packets == 0 || KEEPS.get() ? Long.MAX_VALUE : nowNs;
        }

        @Override
        public long bytes() {
            long sum = 0;
            for (long ofFlow : bytes) {
                sum += ofFlow;
            }
            return sum;
        }

        @Override
        public void remove(Item item, long nowNs) {
            if (queues.get(item.flow()).remove(item)) {
                bytes[item.flow()] -= item.size();
                packets--;
            }
        }
    }
}
