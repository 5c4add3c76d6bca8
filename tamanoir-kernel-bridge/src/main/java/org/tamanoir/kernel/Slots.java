package org.tamanoir.kernel;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.LevelException;

/**
 * Which slots are free, and whose the others are. The slot that was given back first is taken first, so that a slot is
 * quiet for long before it is used again.
 *
 * <p>Thread contract: as said of some, any thread; all others under the lock of {@link Policies}.
 */
final class Slots {
    private static final int FIRST = 1; // 0 stands for no policy

    private final int[] free = new int[Abi.MAX_POLICIES];
    private final AtomicReferenceArray<@Nullable LevelDriver> owners = new AtomicReferenceArray<>(Abi.MAX_POLICIES);
    /** Packets that the node has read from its sockets, since the slot was taken. */
    private final AtomicLongArray arrived = new AtomicLongArray(Abi.MAX_POLICIES);
    /** 1 where a policy waits for what settles. */
    private final AtomicIntegerArray awaited = new AtomicIntegerArray(Abi.MAX_POLICIES);

    private int head;
    private int count;

    Slots() {
        for (int slot = FIRST; slot < Abi.MAX_POLICIES; slot++) {
            free[count++] = slot;
        }
    }

    /** Takes a slot for a policy of this driver's level. */
    int take(LevelDriver owner) throws LevelException {
        if (count == 0) {
            throw new LevelException("all " + (Abi.MAX_POLICIES - FIRST)
                    + " slots are in use, those of policies that ended a second ago too: close some");
        }
        int slot = free[head];
        head = (head + 1) % free.length;
        count--;
        arrived.set(slot, 0);
        owners.set(slot, owner);
        return slot;
    }

    /** Says whether a policy waits for what settles of a slot. */
    void await(int slot, boolean isAwaited) {
        awaited.set(slot, isAwaited ? 1 : 0);
    }

    /** Returns whether one does. Any thread. */
    boolean isAwaited(int slot) {
        return slot >= FIRST && slot < Abi.MAX_POLICIES && awaited.get(slot) != 0;
    }

    /** Adds packets that the node has read. Any thread. */
    void arrived(int slot, long packets) {
        if (owner(slot) != null) {
            arrived.addAndGet(slot, packets);
        }
    }

    /** Returns how many those are. Any thread. */
    long arrived(int slot) {
        return arrived.get(slot);
    }

    /** Gives a slot back that no packet carries any more. */
    void give(int slot) {
        owners.set(slot, null);
        awaited.set(slot, 0);
        free[(head + count++) % free.length] = slot;
    }

    /** Returns whose a slot is; null for one that is free, or never was one. Any thread. */
    @Nullable
    LevelDriver owner(int slot) {
        return slot < FIRST || slot >= Abi.MAX_POLICIES ? null : owners.get(slot);
    }
}
