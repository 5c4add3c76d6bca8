package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * Levels that remember what was asked of them and handle no packet: counts are the test's. One policy a key and flow, as
 * on real ones.
 */
final class TestLevels implements NodeOs {
    /** Those of {@link #there} can have policies. */
    final Set<Level> there = EnumSet.of(Level.TC, Level.XDP);

    final List<Placed> all = new CopyOnWriteArrayList<>();
    /** What was asked for in {@link #move}, granted or not. */
    final List<Policy> moves = new CopyOnWriteArrayList<>();
    /** How often somebody has waited for what passes. */
    final AtomicInteger passed = new AtomicInteger();
    /** How often somebody has waited for what leaves. */
    final AtomicInteger left = new AtomicInteger();
    /** Whether packets without a policy go on. */
    volatile boolean passesUnknown;
    /** Whether it has a fault of its own for who asks. */
    volatile boolean faulty;

    /** One policy. */
    static final class Placed implements Offload {
        volatile List<Long> keys;
        final Flow flow;
        volatile Level level;
        volatile boolean isOrdered;
        volatile boolean isCaughtUp;
        private Policy policy;
        private LevelCounters counters = LevelCounters.ZERO;
        private boolean closed;

        Placed(List<Long> keys, Flow flow, Level level, Policy policy, boolean isOrdered) {
            this.keys = List.copyOf(keys);
            this.flow = flow;
            this.level = level;
            this.policy = policy;
            this.isOrdered = isOrdered;
        }

        /** As if so many packets of 100 bytes had been passed on. */
        synchronized void passOn(long packets) {
            counters = counters.plus(new LevelCounters(
                    packets, 0, packets, 0, 100 * packets, 0, 0, 100, 100, new long[Policy.MAX_RULES + 1]));
        }

        @Override
        public long serviceKey() {
            return keys.isEmpty() ? 0 : keys.get(0);
        }

        @Override
        public Flow flow() {
            return flow;
        }

        @Override
        public Level level() {
            return level;
        }

        @Override
        public synchronized Policy policy() {
            return policy;
        }

        @Override
        public synchronized void change(Policy now) throws LevelException {
            if (now.share().number() == 13) {
                throw new LevelException("share 13: unlucky; take another number");
            }
            policy = now;
        }

        @Override
        public synchronized LevelCounters counters() {
            return counters;
        }

        @Override
        public synchronized boolean isClosed() {
            return closed;
        }

        @Override
        public synchronized void close() {
            closed = true;
        }
    }

    /** Those at work. */
    List<Placed> open() {
        return all.stream().filter(placed -> !placed.isClosed()).toList();
    }

    List<Long> openKeys() {
        return open().stream().flatMap(placed -> placed.keys.stream()).sorted().toList();
    }

    @Override
    public synchronized Offload offload(List<Long> keys, Flow flow, Policy policy, Set<Level> levels, boolean isOrdered)
            throws LevelException {
        if (faulty) {
            throw new IllegalStateException("a fault of the test's");
        }
        for (Placed placed : open()) {
            if (!Collections.disjoint(placed.keys, keys) && placed.flow.equals(flow)) {
                throw new LevelException("the flow has a policy");
            }
        }
        Placed placed = new Placed(keys, flow, first(levels), policy, isOrdered);
        all.add(placed);
        return placed;
    }

    @Override
    public List<LevelStatus> levels() {
        return List.of(new LevelStatus(Level.TC, true, "a test's", Map.of()));
    }

    @Override
    public void attach(List<InetSocketAddress> udp, List<InetSocketAddress> tcp, int typeId) {
        // It looks at no packet.
    }

    @Override
    public int upMark() {
        return 0;
    }

    @Override
    public void arrived(int slot, long packets) {
        // Nothing comes up.
    }

    @Override
    public boolean isAwaited(int slot) {
        return false;
    }

    @Override
    public void awaitLeft() {
        left.incrementAndGet();
    }

    @Override
    public void awaitPassed() {
        passed.incrementAndGet();
    }

    @Override
    public synchronized void move(Offload offload, Policy policy, Set<Level> levels, boolean isOrdered)
            throws LevelException {
        Placed placed = (Placed) offload;
        moves.add(policy);
        Level level = first(levels);
        placed.level = level;
        placed.isOrdered = isOrdered;
        placed.isCaughtUp = false;
        placed.change(policy);
    }

    private Level first(Set<Level> levels) throws LevelException {
        for (Level level : List.of(Level.XDP, Level.TC, Level.MODULE)) {
            if (levels.contains(level) && there.contains(level)) {
                return level;
            }
        }
        throw new LevelException("none of " + new ArrayList<>(levels) + " is there");
    }

    @Override
    public synchronized void follow(Offload offload, List<Long> keys) throws LevelException {
        Placed placed = (Placed) offload;
        List<Long> added = new ArrayList<>(keys);
        added.removeAll(placed.keys);
        placed.keys = placed.keys.stream().filter(keys::contains).toList();
        if (added.isEmpty()) {
            return;
        }
        if (placed.level == Level.XDP) {
            throw new LevelException("cannot wait for packets that are on their way up");
        }
        for (Placed other : open()) {
            if (other != placed && !Collections.disjoint(other.keys, added) && other.flow.equals(placed.flow)) {
                throw new LevelException("the flow has a policy");
            }
        }
        placed.isOrdered = true;
        placed.isCaughtUp = false;
        placed.keys = List.copyOf(keys);
    }

    @Override
    public BooleanSupplier awaitRead() {
        return () -> true;
    }

    @Override
    public void caughtUp(Offload offload) {
        ((Placed) offload).isCaughtUp = true;
    }

    @Override
    public boolean passesUnknown() {
        return passesUnknown;
    }

    @Override
    public void settled(int slot, long packets) {
        // Nothing comes up.
    }

    @Override
    public void lost(long packets) {
        // Nothing comes up.
    }

    @Override
    public List<Offload> offloads() {
        return List.copyOf(open());
    }

    @Override
    public void release() {
        // What it has taken up comes on.
    }

    @Override
    public void close() {
        all.forEach(Placed::close);
    }
}
