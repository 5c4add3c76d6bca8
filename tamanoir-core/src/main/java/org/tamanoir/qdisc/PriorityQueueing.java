package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;

/**
 * {@code pq}: strict priority. The head of the lowest-numbered class that has something is served; the others starve
 * meanwhile. Options: {@code top-rate} and {@code top-burst}, a token bucket that limits the priority of class 0: while
 * it has too few tokens for the head of class 0, that is served only when no other class has anything, and takes no
 * tokens then. An item larger than the bucket never finds enough: for turns it must hold a quantum in nanoseconds.
 */
final class PriorityQueueing implements QueueingDiscipline {
    static final String NAME = "pq";
    private static final String TOP_RATE = "top-rate";
    private static final String TOP_BURST = "top-burst";
    private static final int TOP = 0;

    private final FlowQueues queues;
    /** Classes that have something, without class 0. */
    private final FlowSet lower;

    /** 0 = class 0 is not limited. */
    private final long topRate;

    private final long topBurst;
    /** Made when the first item says what time it is. */
    private @Nullable TokenBucket topBucket;
    /** Whether the latest item of class 0 that was served took tokens. */
    private boolean topTookTokens;

    PriorityQueueing(DisciplineConfig config, Drops drops) {
        Options options = new Options(NAME, config.options(), TOP_BURST, TOP_RATE);
        topRate = options.number(TOP_RATE, 0, 1, TokenBucket.MAX_RATE);
        topBurst = options.number(TOP_BURST, 0, 1, TokenBucket.MAX_BURST);
        if (topRate == 0 != (topBurst == 0)) {
            throw new IllegalArgumentException(
                    "discipline " + NAME + ": give both options " + TOP_RATE + " and " + TOP_BURST + ", or none");
        }
        queues = new FlowQueues(NAME, config.flows(), drops);
        lower = new FlowSet(config.flows().size());
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        if (topRate != 0 && topBucket == null) {
            topBucket = new TokenBucket(topRate, topBurst, nowNs);
        }
        if (queues.enqueue(item, nowNs) && item.flow != TOP) {
            lower.add(item.flow);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        Item top = queues.peek(TOP);
        int flow = lower.first();
        if (top != null) {
            topTookTokens = topBucket == null || topBucket.take(top.size, nowNs);
            flow = topTookTokens || flow < 0 ? TOP : flow;
        } else if (flow < 0) {
            return null;
        }
        Item item = queues.poll(flow);
        if (flow != TOP && queues.isEmpty(flow)) {
            lower.remove(flow);
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

    /**
     * Corrects what class 0 took from its bucket. With turns on several processors at once, it may be off by one turn
     * for each of them where class 0 goes from served with tokens to served without.
     */
    @Override
    public void charge(int flow, long rest) {
        if (flow != TOP || topBucket == null || !topTookTokens) {
            return;
        }
        if (rest > 0) {
            topBucket.takeAhead(rest);
        } else {
            topBucket.giveBack(-rest);
        }
    }

    @Override
    public void remove(Item item, long nowNs) {
        queues.remove(item);
        if (item.flow != TOP && queues.isEmpty(item.flow)) {
            lower.remove(item.flow);
        }
    }
}
