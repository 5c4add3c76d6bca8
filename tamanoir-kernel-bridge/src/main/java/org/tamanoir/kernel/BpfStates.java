package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tamanoir.nodeos.LevelException;

/**
 * {@code tmn_states}: programs count what they see and send up, the node what has settled, in the same memory.
 *
 * <p>Thread contract: any thread.
 */
final class BpfStates {
    private final BpfMemory memory;

    BpfStates(int fd) throws LevelException {
        memory = new BpfMemory("tmn_states", fd, Abi.MAX_POLICIES * Abi.StateStruct.SIZE);
    }

    /** Adds to what has settled. */
    void settled(int slot, long packets) {
        memory.add(at(slot) + Abi.StateStruct.SETTLED, packets);
    }

    /** Returns a copy. What has settled is read first, so that it is never more than what went up. */
    ByteBuffer get(int slot) {
        int at = at(slot);
        ByteBuffer state = ByteBuffer.allocate(Abi.StateStruct.SIZE).order(ByteOrder.nativeOrder());
        for (int member : new int[] {Abi.StateStruct.SETTLED, Abi.StateStruct.UP, Abi.StateStruct.SEEN}) {
            state.putLong(member, memory.get(at + member));
        }
        return state;
    }

    /** Sets all of a slot to zero. */
    void clear(int slot) {
        int at = at(slot);
        for (int member = 0; member < Abi.StateStruct.SIZE; member += Long.BYTES) {
            memory.set(at + member, 0);
        }
    }

    private static int at(int slot) {
        if (slot < 0 || slot >= Abi.MAX_POLICIES) {
            throw new IllegalArgumentException("slot " + slot + ": must be 0 to " + (Abi.MAX_POLICIES - 1));
        }
        return slot * Abi.StateStruct.SIZE;
    }
}
