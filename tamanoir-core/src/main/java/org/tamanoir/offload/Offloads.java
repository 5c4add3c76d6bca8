package org.tamanoir.offload;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.tamanoir.catalog.LevelTotals;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Policy;

/**
 * The policies that one instance has at work on levels below the JVM.
 *
 * <p>Thread contract: the service's thread, but for {@link #close}, {@link #counters} and {@link #endCounts}, which any
 * thread may call.
 */
final class Offloads implements LevelTotals.Source {
    /** As {@code Service.offload} says. */
    static final int MAX_OFFLOADS = 64;

    /** The service's. */
    private final LevelTotals below;

    private final ServiceCatalog services;
    private final NodeOs levels;
    private final ServiceDefinition definition;
    /** Guarded by this. */
    private final List<KeyedOffload> all = new ArrayList<>();
    /** What those have done that are no more. Guarded by this. */
    private LevelCounters ended = LevelCounters.ZERO;

    private LevelCounters told = LevelCounters.ZERO;
    private boolean hasBegun;
    private boolean closed;
    private int catalogGeneration;

    Offloads(ServiceCatalog services, NodeOs levels, ServiceDefinition definition) {
        this.below = definition.health().below();
        this.services = services;
        this.levels = levels;
        this.definition = definition;
    }

    /** Returns whether a policy is at work. Costs a read while there never was one. */
    boolean isActive() {
        return hasBegun && isAnyAtWork();
    }

    private boolean isAnyAtWork() {
        for (int i = 0; i < all.size(); i++) { // Only this thread changes the list.
            if (all.get(i).isAtWork()) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether there was ever one. */
    boolean hasBegun() {
        return hasBegun;
    }

    /** Returns whether there is nothing left to look after. */
    synchronized boolean isEmpty() {
        return all.isEmpty();
    }

    /** Puts a policy to work on one of these levels, for every key that packets name the service by. */
    KeyedOffload begin(Flow flow, Policy policy, Set<Level> levels, boolean isOrdered) throws LevelException {
        sweep();
        synchronized (this) {
            if (all.size() == MAX_OFFLOADS) {
                throw new LevelException("offload " + (MAX_OFFLOADS + 1) + " of one instance: at most " + MAX_OFFLOADS
                        + " at once; close one that is no longer needed");
            }
        }
        if (all.isEmpty()) {
            catalogGeneration = services.generation();
        }
        KeyedOffload offload = new KeyedOffload(this.levels, flow, policy);
        offload.begin(keys(flow), levels, isOrdered);
        boolean takesOver = offload.isOrdered() && !overlapping(offload).isEmpty();
        offload.beforeClosing(() -> overlapping(offload).forEach(KeyedOffload::beginAnew));
        if (!add(offload)) {
            offload.close();
            throw new LevelException(definition.label() + ": its instance has ended");
        }
        if (takesOver) {
            Outflow.rest(this.levels); // What the others have handled goes before what comes up now.
        }
        return offload;
    }

    private synchronized boolean add(KeyedOffload offload) {
        if (closed) {
            return false;
        }
        all.add(offload);
        if (!hasBegun) {
            hasBegun = true;
            below.begin(this);
        }
        return true;
    }

    /** Returns the others at work that packets of this one's flow go by where it is not. */
    private List<KeyedOffload> overlapping(KeyedOffload offload) {
        return copy().stream()
                .filter(other ->
                        other != offload && other.isAtWork() && other.flow().overlaps(offload.flow()))
                .toList();
    }

    /** Returns whether packets in transit that have no policy go on, past the service. */
    boolean passesUnknown() {
        return levels.passesUnknown();
    }

    private List<Long> keys(Flow flow) throws LevelException {
        if (flow.protocol() == Flow.Protocol.TCP) {
            return List.of(definition.key()); // Connections are steered by their ends.
        }
        List<Long> keys = services.keys(definition);
        if (keys.isEmpty()) {
            throw new LevelException(definition.label() + ": it is being taken away");
        }
        return keys;
    }

    /** Returns whether policies wait until the node has caught up with packets from before them. */
    boolean isBehind() {
        for (int i = 0; i < all.size(); i++) { // Only this thread changes the list.
            if (all.get(i).isBehind()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Has levels begin, if nothing of before their policies is left.
     *
     * @param holdsBack whether packets wait in the service's queues
     * @param outflow makes one of what the service's thread sends
     */
    void catchUp(boolean holdsBack, Supplier<Outflow> outflow) {
        List<KeyedOffload> behind = copy();
        boolean isAnyPassing = false;
        for (KeyedOffload offload : behind) {
            isAnyPassing |= offload.beginPassing();
        }
        if (isAnyPassing) {
            levels.awaitPassed();
        }
        behind.forEach(offload -> offload.catchUp(holdsBack, outflow));
    }

    /** Follows keys that have come to mean this service, or another; tries again, at the next call, where a level refuses. */
    void follow() {
        int generation = services.generation();
        if (generation == catalogGeneration) {
            return;
        }
        List<Long> keys = services.keys(definition);
        boolean followsAll = true;
        boolean isAnyAnew = false;
        for (KeyedOffload offload : copy()) {
            if (offload.isOrdered()) {
                boolean wasBehind = offload.isBehind();
                followsAll &= offload.follow(keys, definition.label());
                isAnyAnew |= offload.isBehind() && !wasBehind;
            }
        }
        if (isAnyAnew) {
            Outflow.rest(levels); // What they have handled goes before what comes up now.
        }
        if (followsAll) {
            catalogGeneration = generation;
        }
    }

    private synchronized List<KeyedOffload> copy() {
        return List.copyOf(all);
    }

    /** Returns what was done with UDP packets since the last call. */
    LevelCounters since() {
        LevelCounters now = counters();
        LevelCounters since = now.since(told);
        told = now;
        sweep();
        return since;
    }

    /** Returns all that was done with UDP packets. Any thread. */
    @Override
    public LevelCounters counters() {
        List<KeyedOffload> there;
        LevelCounters sum;
        synchronized (this) {
            sum = ended;
            there = List.copyOf(all);
        }
        for (KeyedOffload offload : there) {
            if (offload.flow().protocol() == Flow.Protocol.UDP) {
                sum = sum.plus(offload.counters());
            }
        }
        return sum;
    }

    /** Has the service's totals keep what was done, when all are closed. Any thread. */
    void endCounts() {
        below.end(this);
    }

    /** Forgets those that are closed, but not what they did. */
    private synchronized void sweep() {
        all.removeIf(offload -> {
            boolean over = offload.isClosed();
            if (over && offload.flow().protocol() == Flow.Protocol.UDP) {
                ended = ended.plus(offload.counters());
            }
            return over;
        });
    }

    /** Ends all; later ones are refused. Any thread; idempotent. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        boolean wasAnyOrdered = false;
        for (KeyedOffload offload : copy()) {
            wasAnyOrdered |= offload.end() && offload.isOrdered();
        }
        if (wasAnyOrdered) {
            Outflow.rest(levels);
        }
    }
}
