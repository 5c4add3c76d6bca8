package org.tamanoir.qdisc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code drr}: deficit round robin (Shreedhar, Varghese 1995). Flows that have something stand in a list. The first is
 * visited: its deficit grows by its quantum, and its items are served while they fit into the deficit. Then it goes to
 * the end of the list; when it has nothing left it leaves the list and its deficit is forgotten. A flow that gets
 * something again stands at the end. Option: {@code quantum}, of the flow with the smallest weight; the others' are in
 * proportion.
 *
 * <p>Deficits are in units of bytes divided by the smallest weight, so that no share is rounded.
 *
 * <p>Deviations: an item larger than the quantum costs no more than one pass over the list, since rounds in which
 * nothing could be served are added up at once. With turns, of which a thread asks for one at a time, a flow is empty
 * after each; what is left of its visit is therefore kept, and it stands at the head of the list when it comes back
 * while something is left. On several processors the others' visits begin meanwhile, so that a flow of one thread gets
 * less than a large weight says; {@code stfq} does better there.
 */
final class DeficitRoundRobin implements QueueingDiscipline {
    static final String NAME = "drr";
    private static final String QUANTUM = "quantum";
    private static final long PACKET_QUANTUM = 1514;
    private static final long TURN_QUANTUM_NS = 1_000_000;
    private static final long MAX_QUANTUM = Integer.MAX_VALUE;
    /** What one charge can change, 18 minutes in nanoseconds: 2^60 units with the largest weight. */
    private static final long MAX_REST = 1L << 40;

    private static final long MAX_DEFICIT = 1L << 61;

    private final FlowQueues queues;
    /** The smallest weight: what a byte costs. */
    private final long byteCost;
    /** A flow's own, in the units of deficits: at most 2^51. */
    private final long[] quantum;

    private final long[] deficit;
    /** Whether the flow was given its quantum, and not yet left for the end of the list. */
    private final boolean[] visited;
    /** Whether what is left of a visit outlasts the flow's being empty. */
    private final boolean keepsCredit;

    /** The flows that have something. */
    private final FlowList active;

    static DeficitRoundRobin forPackets(DisciplineConfig config, Drops drops) {
        return new DeficitRoundRobin(config, drops, PACKET_QUANTUM, false);
    }

    static DeficitRoundRobin forTurns(DisciplineConfig config, Drops drops) {
        return new DeficitRoundRobin(config, drops, TURN_QUANTUM_NS, true);
    }

    private DeficitRoundRobin(DisciplineConfig config, Drops drops, long defaultQuantum, boolean keepsCredit) {
        Options options = new Options(NAME, config.options(), QUANTUM);
        long smallestQuantum = options.number(QUANTUM, defaultQuantum, 1, MAX_QUANTUM);
        List<FlowConfig> flows = config.flows();
        queues = new FlowQueues(NAME, flows, drops);
        quantum = new long[flows.size()];
        deficit = new long[flows.size()];
        visited = new boolean[flows.size()];
        active = new FlowList(new int[flows.size()]);
        long smallestWeight = FlowConfig.MAX_WEIGHT;
        for (int i = 0; i < quantum.length; i++) {
            quantum[i] = flows.get(i).weight() * smallestQuantum;
            smallestWeight = Math.min(smallestWeight, flows.get(i).weight());
        }
        byteCost = smallestWeight;
        this.keepsCredit = keepsCredit;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        int flow = item.flow;
        if (queues.enqueue(item, nowNs) && queues.peek(flow) == item) {
            if (deficit[flow] > 0) {
                visited[flow] = true;
                active.addFirst(flow);
            } else {
                active.addLast(flow);
            }
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        int fruitless = 0;
        while (!active.isEmpty()) {
            int flow = active.first();
            if (!visited[flow]) {
                visited[flow] = true;
                deficit[flow] += quantum[flow];
            }
            Item head = queues.peek(flow);
            if (head != null && head.size * byteCost <= deficit[flow]) {
                deficit[flow] -= head.size * byteCost;
                queues.poll(flow);
                if (queues.isEmpty(flow)) {
                    leave(flow);
                }
                return head;
            }
            visited[flow] = false;
            active.removeFirst();
            active.addLast(flow);
            if (++fruitless == active.size()) {
                skipRounds();
            }
        }
        return null;
    }

    private void leave(int flow) {
        visited[flow] = false;
        active.remove(flow);
        if (!keepsCredit) {
            deficit[flow] = Math.min(deficit[flow], 0);
        }
    }

    /** After a round that served nothing: gives the quanta of all further rounds that would not either. */
    private void skipRounds() {
        long rounds = Long.MAX_VALUE;
        for (int flow = active.first(); flow != FlowList.NONE; flow = active.after(flow)) {
            Item head = queues.peek(flow);
            long missing = head == null ? 1 : head.size * byteCost - deficit[flow];
            rounds = Math.min(rounds, (missing - 1) / quantum[flow]);
        }
        for (int flow = active.first(); flow != FlowList.NONE; flow = active.after(flow)) {
            deficit[flow] += rounds * quantum[flow];
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

    /**
     * A flow that has nothing keeps what it owes. What it is given back it keeps for turns alone; the sum is below its
     * quantum and its largest item, as long as no item gives back more than it took.
     */
    @Override
    public void charge(int flow, long rest) {
        long bounded = Math.max(-MAX_REST, Math.min(MAX_REST, rest));
        long most = keepsCredit || !queues.isEmpty(flow) ? MAX_DEFICIT : 0;
        deficit[flow] = Math.max(-MAX_DEFICIT, Math.min(most, deficit[flow] - bounded * byteCost));
    }

    @Override
    public void remove(Item item, long nowNs) {
        int flow = item.flow;
        queues.remove(item);
        if (queues.isEmpty(flow)) {
            leave(flow);
        }
    }
}
