package org.tamanoir.offload;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * One policy as a service sees it. Packets name a service by several keys, with its version and without one, and a
 * level knows a policy by one: so this is a policy of the level for each key, all of them the same and on one level.
 * Each counts for itself which packets go up.
 *
 * <p>Thread contract: any thread.
 */
public final class KeyedOffload implements Offload {
    private static final Logger LOG = LoggerFactory.getLogger(KeyedOffload.class);

    private final NodeOs levels;
    private final Flow flow;
    private final Map<Long, Offload> byKey = new LinkedHashMap<>();
    private long firstKey;
    private Level level = Level.JVM;
    private Policy policy;
    private volatile boolean closed;
    /** What was done for keys that mean another service now. */
    private LevelCounters former = LevelCounters.ZERO;

    public KeyedOffload(NodeOs levels, Flow flow, Policy policy) {
        this.levels = levels;
        this.flow = flow;
        this.policy = policy;
    }

    /** Puts it to work for all keys, or for none. Once. */
    public synchronized void begin(List<Long> keys, Set<Level> allowed, boolean isOrdered) throws LevelException {
        firstKey = keys.get(0);
        try {
            for (long key : keys) {
                Set<Level> where = byKey.isEmpty() ? allowed : Set.of(level);
                Offload part = levels.offload(key, flow, policy, where, isOrdered);
                level = part.level();
                byKey.put(key, part);
            }
        } catch (LevelException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Works for these keys from now on. */
    synchronized void follow(List<Long> keys, String label) {
        if (closed) {
            return;
        }
        for (long key : List.copyOf(byKey.keySet())) {
            Offload part = byKey.get(key);
            if (part != null && !keys.contains(key)) {
                part.close();
                former = former.plus(part.counters());
                byKey.remove(key);
            }
        }
        for (long key : keys) {
            if (!byKey.containsKey(key)) {
                try {
                    byKey.put(key, levels.offload(key, flow, policy, Set.of(level), true));
                } catch (LevelException e) {
                    LOG.info(
                            "service {}: UDP packets of key {} stay in the JVM: {}",
                            label,
                            ServiceKey.toString(key),
                            e.getMessage());
                }
            }
        }
    }

    @Override
    public synchronized long serviceKey() {
        return firstKey;
    }

    @Override
    public Flow flow() {
        return flow;
    }

    @Override
    public synchronized Level level() {
        return level;
    }

    @Override
    public synchronized Policy policy() {
        return policy;
    }

    @Override
    public synchronized void change(Policy now) throws LevelException {
        if (closed) {
            throw new LevelException("the offload is closed: ask for another one");
        }
        List<Offload> changed = new ArrayList<>();
        try {
            for (Offload part : byKey.values()) {
                part.change(now);
                changed.add(part);
            }
        } catch (LevelException e) {
            for (Offload part : changed) {
                part.change(policy); // It could do that until now.
            }
            throw e;
        }
        policy = now;
    }

    @Override
    public synchronized LevelCounters counters() {
        LevelCounters sum = former;
        for (Offload part : byKey.values()) {
            sum = sum.plus(part.counters());
        }
        return sum;
    }

    /** Returns the opposite of {@link #isClosed}, but does not look whether the level is still there. */
    boolean isAtWork() {
        return !closed;
    }

    /** Returns true also when the level has gone. */
    @Override
    public synchronized boolean isClosed() {
        if (!closed && !byKey.isEmpty()) {
            closed = byKey.values().stream().allMatch(Offload::isClosed);
        }
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        byKey.values().forEach(Offload::close);
    }
}
