package org.tamanoir.kernel;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.LevelException;

/**
 * Which slots are free, and whose the others are. The slot that was given back first is taken first, so that a slot is
 * quiet for long before it is used again.
 *
 * <p>Thread contract: {@link #owner} any thread; all others under the lock of {@link Policies}.
 */
final class Slots {
    private static final int FIRST = 1; // 0 stands for no policy

    private final int[] free = new int[Abi.MAX_POLICIES];
    private final AtomicReferenceArray<@Nullable LevelDriver> owners = new AtomicReferenceArray<>(Abi.MAX_POLICIES);
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
        owners.set(slot, owner);
        return slot;
    }

    /** Gives a slot back that no packet carries any more. */
    void give(int slot) {
        owners.set(slot, null);
        free[(head + count++) % free.length] = slot;
    }

    /** Returns whose a slot is; null for one that is free, or never was one. */
    @Nullable
    LevelDriver owner(int slot) {
        return slot < FIRST || slot >= Abi.MAX_POLICIES ? null : owners.get(slot);
    }
}
