package org.tamanoir.benchmarks.soak;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Knows all flows by their ids. Any thread. */
final class Flows {
    /** Flows that have ended are known for a while: what still comes of them is no stranger's. */
    private static final int MAX_ENDED = 20_000;

    final Content content;
    private final Map<Integer, Flow> known = new ConcurrentHashMap<>();
    private final Deque<Integer> ended = new ArrayDeque<>();
    private final AtomicInteger lastId = new AtomicInteger();
    private final LongAdder endedBytes = new LongAdder();

    Flows(Content content) {
        this.content = content;
    }

    /** Makes a flow with an id of its own. */
    Flow add(String label, int end, int classOfService, boolean isWhole, boolean isCompressed) {
        int id = lastId.incrementAndGet();
        Flow flow = new Flow(new Flow.Shape(id, label, end, classOfService, isWhole, isCompressed), content);
        known.put(id, flow);
        return flow;
    }

    @Nullable
    Flow find(int id) {
        return known.get(id);
    }

    /** Lets these go after a while. */
    synchronized void ended(Collection<Flow> flows) {
        for (Flow flow : flows) {
            ended.add(flow.shape.id());
        }
        while (ended.size() > MAX_ENDED) {
            Flow gone = known.remove(ended.remove());
            if (gone != null) {
                endedBytes.add(gone.bytes());
            }
        }
    }

    /** Returns the bytes that were verified. */
    long verifiedBytes() {
        return endedBytes.sum() + known.values().stream().mapToLong(Flow::bytes).sum();
    }
}
