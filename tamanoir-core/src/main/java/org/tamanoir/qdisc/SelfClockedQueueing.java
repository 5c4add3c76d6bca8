package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;

/**
 * Fair queueing whose virtual time is a tag of the item in service:
 *
 * <ul>
 *   <li>{@code stfq} (Goyal, Vin, Cheng: Start-time Fair Queueing, 1996): the smallest start tag is served, and is the virtual
 *       time. Fair on a server of any, changing rate, as a processor is.
 *   <li>{@code scfq} (Golestani: A Self-Clocked Fair Queueing Scheme, 1994): the same with finish tags.
 * </ul>
 *
 * Both: {@code |W_i/w_i - W_j/w_j| <= Lmax_i/w_i + Lmax_j/w_j} over every interval in which both flows wait. When the
 * server finds nothing to do, virtual time becomes the largest finish tag of all, so that no flow has a lead; for SCFQ
 * this is the same as to start from 0 with all tags forgotten.
 *
 * <p>Where costs become known late, virtual time stays what it was, and never decreases.
 *
 * <p>Cost: O(log flows). Thread contract: that of {@link QueueingDiscipline}.
 */
final class SelfClockedQueueing implements QueueingDiscipline {
    static final String STFQ = "stfq";
    static final String SCFQ = "scfq";

    private final boolean byStart;
    private final FlowQueues queues;
    private final FlowTags tags;
    private final TagHeap waiting;
    private long virtual;

    private SelfClockedQueueing(String name, DisciplineConfig config, Drops drops, boolean byStart) {
        new Options(name, config.options());
        this.byStart = byStart;
        this.queues = new FlowQueues(name, config.flows(), drops);
        this.tags = new FlowTags(config.flows());
        this.waiting = new TagHeap(config.flows().size());
    }

    static SelfClockedQueueing stfq(DisciplineConfig config, Drops drops) {
        return new SelfClockedQueueing(STFQ, config, drops, true);
    }

    static SelfClockedQueueing scfq(DisciplineConfig config, Drops drops) {
        return new SelfClockedQueueing(SCFQ, config, drops, false);
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        int flow = item.flow;
        if (queues.enqueue(item, nowNs) && !waiting.contains(flow)) {
            tags.becomesBacklogged(flow, virtual);
            waiting.add(flow, tag(flow, item));
        }
    }

    private long tag(int flow, Item head) {
        return byStart ? tags.start(flow) : tags.finish(flow, head.size);
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        tags.dequeueCalled();
        if (waiting.isEmpty()) {
            advanceTo(tags.largestFinish());
            return null;
        }
        int flow = waiting.first();
        Item item = queues.poll(flow);
        if (item == null) {
            throw new IllegalStateException("flow " + flow + " has a tag, and nothing waits");
        }
        long start = tags.start(flow);
        long finish = tags.take(flow, item.size, byStart ? Math.max(virtual, start) : virtual);
        item.start = start;
        item.finish = finish;
        Item next = queues.peek(flow);
        if (next == null) {
            waiting.removeFirst();
        } else {
            waiting.replaceFirst(tag(flow, next));
        }
        advanceTo(byStart ? start : finish);
        return item;
    }

    private void advanceTo(long tag) {
        virtual = Math.max(virtual, tag);
        if (virtual >= FlowTags.MAX_VIRTUAL) {
            tags.lower(virtual);
            waiting.lower(virtual);
            virtual = 0;
        }
    }

    @Override
    public void charge(int flow, long rest) {
        Item head = queues.peek(flow);
        tags.charge(flow, rest, virtual, head != null);
        if (head != null) {
            waiting.change(flow, tag(flow, head));
        }
    }

    @Override
    public int packets() {
        return queues.packets();
    }

    @Override
    public long bytes() {
        return queues.bytes();
    }

    @Override
    public void remove(Item item, long nowNs) {
        int flow = item.flow;
        if (queues.remove(item)) {
            Item next = queues.peek(flow);
            if (next == null) {
                waiting.remove(flow);
            } else {
                waiting.change(flow, tag(flow, next));
            }
        }
    }
}
