package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * A policy at work. Its counts are those of the slot that it has, of slots that it had and packets may still carry, and
 * of those that it gave back.
 *
 * <p>Thread contract: any thread; slots and policy change under the lock of {@link Policies} and this object's.
 */
final class KernelOffload implements Offload {
    private static final Logger LOG = LoggerFactory.getLogger(KernelOffload.class);

    /** Taken before the lock of {@link Policies}: its policy changes, moves and ends in turn, however long a move waits. */
    final Object turn = new Object();

    private final Policies policies;
    /** The {@code struct tmn_flow}s that all tables know it by, one for each service key. */
    private volatile List<ByteBuffer> keys;

    private volatile long serviceKey;
    private final Flow flow;
    private volatile Level level;
    private volatile UsedSlot slot;
    /** Slots whose counts are not in {@link #past} yet: this one, and those that it had. */
    private final List<UsedSlot> slots = new ArrayList<>(1);

    private volatile Policy policy;
    private volatile boolean isOrdered;
    private volatile boolean isClosed;
    private LevelCounters past = LevelCounters.ZERO;

    KernelOffload(
            Policies policies,
            List<ByteBuffer> keys,
            long serviceKey,
            Flow flow,
            Level level,
            Policy policy,
            boolean isOrdered,
            UsedSlot slot) {
        this.policies = policies;
        this.keys = keys;
        this.serviceKey = serviceKey;
        this.flow = flow;
        this.level = level;
        this.policy = policy;
        this.isOrdered = isOrdered;
        this.slot = slot;
        slots.add(slot);
    }

    @Override
    public long serviceKey() {
        return serviceKey;
    }

    List<ByteBuffer> keys() {
        return keys;
    }

    /** Is for these from now on. */
    void changed(List<ByteBuffer> newKeys, long newServiceKey) {
        keys = newKeys;
        serviceKey = newServiceKey;
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
    public Policy policy() {
        return policy;
    }

    /** Returns whether packets were on their way up when its policy came. */
    boolean isOrdered() {
        return isOrdered;
    }

    @Override
    public void change(Policy newPolicy) throws LevelException {
        policies.change(this, newPolicy);
    }

    @Override
    public synchronized LevelCounters counters() {
        LevelCounters sum = past;
        for (UsedSlot each : slots) {
            sum = sum.plus(countersOf(each));
        }
        return sum;
    }

    private static LevelCounters countersOf(UsedSlot slot) {
        try {
            return AbiDecoder.counters(slot.driver.counters(slot.number));
        } catch (LevelException unreadable) {
            LOG.warn("levels: counters of slot {}: {}", slot.number, unreadable.getMessage());
            return LevelCounters.ZERO;
        }
    }

    /** Returns the slot that its policy has. */
    UsedSlot slot() {
        return slot;
    }

    /** Has another policy from now on, with the same slot. */
    void changed(Policy newPolicy) {
        policy = newPolicy;
    }

    /** Has another policy from now on, with a new slot. */
    synchronized void changed(Policy newPolicy, boolean newIsOrdered, UsedSlot newSlot) {
        policy = newPolicy;
        isOrdered = newIsOrdered;
        slot = newSlot;
        slots.add(newSlot);
    }

    /** Counts what was done under a slot that a table refused its policy with. */
    synchronized void tried(UsedSlot refused) {
        slots.add(refused);
    }

    /** Is at this level from now on. */
    void movedTo(Level newLevel) {
        level = newLevel;
    }

    /** Keeps what was counted under a slot that it had. */
    synchronized void keepCounts(UsedSlot former) {
        if (slots.remove(former)) {
            past = past.plus(countersOf(former));
        }
    }

    /** Keeps all counts: the level is about to go. */
    synchronized void keepAllCounts() {
        past = counters();
        slots.clear();
    }

    void closed() {
        isClosed = true;
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public void close() {
        policies.remove(this);
    }

    @Override
    public String toString() {
        return flow + " of service " + Long.toHexString(serviceKey) + " on " + level.label();
    }
}
