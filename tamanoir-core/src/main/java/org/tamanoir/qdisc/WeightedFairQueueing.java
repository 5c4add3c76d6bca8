package org.tamanoir.qdisc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code wfq}, and with equal weights {@code fq}: weighted fair queueing (Demers, Keshav, Shenker 1989; as packet-by-packet GPS: Parekh, Gallager 1993): the item is
 * served that would be first to finish on a GPS server of this rate, among those that wait. It finishes at most one
 * largest item later than there: {@code finish <= GPS finish + Lmax/rate}.
 *
 * <p>The virtual time is the exact one of {@link GpsClock}, which needs the rate of the server; where that changes,
 * STFQ is the better choice. For the same reason late costs are not charged here.
 *
 * <p>Cost: O(log flows) amortised; a call may have to let every flow fall empty in the fluid system, O(flows log
 * flows). Thread contract: that of {@link QueueingDiscipline}.
 */
final class WeightedFairQueueing implements QueueingDiscipline {
    static final String NAME = "wfq";
    static final String NAME_EQUAL = "fq";

    private static final long MAX_RATE = 1_000_000_000_000L;

    private final FlowQueues queues;
    private final GpsClock clock;
    private final TagHeap waiting;

    /** With the weights of the configuration. */
    static WeightedFairQueueing wfq(DisciplineConfig config, Drops drops) {
        return new WeightedFairQueueing(NAME, config, config.flows(), drops);
    }

    /** With equal weights, whatever the configuration says. */
    static WeightedFairQueueing fq(DisciplineConfig config, Drops drops) {
        List<FlowConfig> equal = config.flows().stream()
                .map(flow -> new FlowConfig(1, flow.limitPackets(), flow.limitBytes()))
                .toList();
        return new WeightedFairQueueing(NAME_EQUAL, config, equal, drops);
    }

    private WeightedFairQueueing(String name, DisciplineConfig config, List<FlowConfig> flows, Drops drops) {
        new Options(name, config.options());
        if (config.rate() < 1 || config.rate() > MAX_RATE) {
            throw new IllegalArgumentException("rate " + config.rate() + " bytes a second: discipline " + name
                    + " needs 1 to " + MAX_RATE + "; set the link's rate, or use stfq");
        }
        queues = new FlowQueues(name, flows, drops);
        clock = new GpsClock(flows, config.rate());
        waiting = new TagHeap(flows.size());
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        if (!queues.enqueue(item, nowNs)) {
            return;
        }
        clock.advance(nowNs);
        item.finish = clock.arrive(item.flow, item.size);
        if (!waiting.contains(item.flow)) {
            waiting.add(item.flow, item.finish);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        clock.advance(nowNs);
        if (waiting.isEmpty()) {
            return null;
        }
        int flow = waiting.first();
        Item item = queues.poll(flow);
        Item next = queues.peek(flow);
        if (next == null) {
            waiting.removeFirst();
        } else {
            waiting.replaceFirst(next.finish);
        }
        return item;
    }

    @Override
    public int packets() {
        return queues.packets();
    }

    @Override
    public long bytes() {
        return queues.bytes();
    }

    /** The fluid system serves it all the same: tags that were given stay. */
    @Override
    public void remove(Item item, long nowNs) {
        int flow = item.flow;
        if (queues.remove(item)) {
            Item next = queues.peek(flow);
            if (next == null) {
                waiting.remove(flow);
            } else {
                waiting.change(flow, next.finish);
            }
        }
    }
}
