package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;

/**
 * {@code wf2q+}: worst-case fair weighted fair queueing (Bennett, Zhang: Hierarchical Packet Fair Queueing Algorithms, 1997). Served is the smallest finish tag of
 * those first items whose start tag is not ahead of virtual time: {@code V(t+τ) = max(V(t) + W(t, t+τ), min S)}, where
 * W is the work of the server over the sum of all weights, and S the start tags of the flows that wait.
 *
 * <p>With the server's rate known, an item that arrives while another is served sees the part of that work which is
 * done by then; without it, all of it. When the server finds nothing to do, no flow has a lead.
 *
 * <p>Cost: O(log flows), amortised: each first item moves at most once from the heap of those that are ahead, by start
 * tag, to the heap of those that may go, by finish tag. Thread contract: that of {@link QueueingDiscipline}.
 */
final class WorstCaseFairQueueing implements QueueingDiscipline {
    static final String NAME = "wf2q+";

    private static final long NS_PER_SECOND = 1_000_000_000;
    /** Work that is converted in one step: times a total weight below 2^34 it fits a long. */
    private static final long MAX_STEP = 1L << 29;

    private final FlowQueues queues;
    private final FlowTags tags;
    private final TagHeap eligible;
    private final TagHeap ahead;
    private final long rate;
    private final long totalWeight;
    private final long perByte;
    private final long fractionPerByte;
    private long virtual;
    /** Fraction of a unit that belongs to it: numerator over the sum of the weights. */
    private long fraction;
    /** Work that was given to the server and is not in the virtual time yet; negative where too much is in it. */
    private long work;

    private long servedFromNs;

    WorstCaseFairQueueing(DisciplineConfig config, Drops drops) {
        new Options(NAME, config.options());
        int count = config.flows().size();
        this.queues = new FlowQueues(NAME, config.flows(), drops);
        this.tags = new FlowTags(config.flows());
        this.eligible = new TagHeap(count);
        this.ahead = new TagHeap(count);
        this.rate = config.rate();
        this.totalWeight = tags.scale.totalWeight;
        this.perByte = tags.scale.unit / totalWeight;
        this.fractionPerByte = tags.scale.unit % totalWeight;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        int flow = item.flow;
        if (queues.enqueue(item, nowNs) && !eligible.contains(flow) && !ahead.contains(flow)) {
            tags.becomesBacklogged(flow, virtualAt(nowNs));
            place(flow, item);
        }
    }

    /** Virtual time with the part of the present work that a server of this rate has done. */
    private long virtualAt(long nowNs) {
        long done = Math.min(workDone(nowNs), MAX_STEP);
        return done <= 0 ? virtual : virtual + done * perByte + (done * fractionPerByte + fraction) / totalWeight;
    }

    private long workDone(long nowNs) {
        long elapsedNs = nowNs - servedFromNs;
        if (rate <= 0 || work <= 0) {
            return work;
        }
        if (elapsedNs <= 0) {
            return 0;
        }
        boolean fits = elapsedNs <= Long.MAX_VALUE / rate;
        return fits ? Math.min(work, elapsedNs * rate / NS_PER_SECOND) : work;
    }

    private void place(int flow, Item head) {
        long start = tags.start(flow);
        if (start <= virtual) {
            eligible.add(flow, tags.finish(flow, head.size));
        } else {
            ahead.add(flow, start);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        tags.dequeueCalled();
        advance();
        if (queues.packets() == 0) {
            virtual = Math.max(virtual, tags.largestFinish());
            work = 0;
            lowerIfLarge();
            return null;
        }
        if (eligible.isEmpty() && ahead.firstTag() > virtual) {
            virtual = ahead.firstTag();
            fraction = 0;
        }
        lowerIfLarge();
        while (!ahead.isEmpty() && ahead.firstTag() <= virtual) {
            int flow = ahead.removeFirst();
            Item head = queues.peek(flow);
            if (head != null) {
                eligible.add(flow, tags.finish(flow, head.size));
            }
        }
        return take(eligible.removeFirst(), nowNs);
    }

    private Item take(int flow, long nowNs) {
        Item item = queues.poll(flow);
        if (item == null) {
            throw new IllegalStateException("flow " + flow + " has a tag, and nothing waits");
        }
        item.start = tags.start(flow);
        item.finish = tags.take(flow, item.size, virtual);
        Item next = queues.peek(flow);
        if (next != null) {
            place(flow, next);
        }
        work += item.size;
        servedFromNs = nowNs;
        return item;
    }

    private void advance() {
        while (work > 0) {
            long step = Math.min(work, MAX_STEP);
            long numerator = step * fractionPerByte + fraction;
            long whole = numerator / totalWeight;
            fraction = numerator - whole * totalWeight;
            virtual += step * perByte + whole;
            work -= step;
        }
    }

    private void lowerIfLarge() {
        if (virtual >= FlowTags.MAX_VIRTUAL) {
            tags.lower(virtual);
            eligible.lower(virtual);
            ahead.lower(virtual);
            virtual = 0;
        }
    }

    @Override
    public void charge(int flow, long rest) {
        Item head = queues.peek(flow);
        work += FlowTags.bounded(rest);
        tags.charge(flow, rest, virtual, head != null);
        if (head != null) {
            (eligible.contains(flow) ? eligible : ahead).remove(flow);
            place(flow, head);
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
            (eligible.contains(flow) ? eligible : ahead).remove(flow);
            Item next = queues.peek(flow);
            if (next != null) {
                place(flow, next);
            }
        }
    }
}
