package org.tamanoir.qdisc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;

/** {@code yielding}: a discipline as users write them. Each class lets those with a higher index go first. */
public final class YieldingProvider implements DisciplineProvider {
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
        private final long[] octets;
        private final Drops drops;
        private int packets;

        Yielding(List<FlowConfig> flows, Drops drops) {
            this.flows = flows;
            this.drops = drops;
            octets = new long[flows.size()];
            flows.forEach(flow -> queues.add(new ArrayDeque<>()));
        }

        @Override
        public void enqueue(Item item, long nowNs) {
            item.enqueuedAt(nowNs);
            FlowConfig flow = flows.get(item.flow());
            Queue<Item> queue = queues.get(item.flow());
            boolean fits =
                    queue.size() < flow.limitPackets() && octets[item.flow()] + item.size() <= flow.limitOctets();
            if (item.mayDrop() && !fits) {
                drops.dropped(item, DropReason.QUEUE_FULL);
                return;
            }
            queue.add(item);
            octets[item.flow()] += item.size();
            packets++;
        }

        @Override
        public @Nullable Item dequeue(long nowNs) {
            for (int i = queues.size() - 1; i >= 0 && packets > 0; i--) {
                Item item = queues.get(i).poll();
                if (item != null) {
                    octets[i] -= item.size();
                    packets--;
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
        public long octets() {
            long sum = 0;
            for (long ofFlow : octets) {
                sum += ofFlow;
            }
            return sum;
        }

        @Override
        public void drain(Consumer<Item> taker) {
            for (Item item = dequeue(0); item != null; item = dequeue(0)) {
                taker.accept(item);
            }
        }
    }
}
