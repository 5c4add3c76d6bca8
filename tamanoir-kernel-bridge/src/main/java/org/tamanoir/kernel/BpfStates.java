package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tamanoir.nodeos.LevelException;

/**
 * {@code tmn_states}, mapped into this process: programs count what they see and send up, the node what has settled, in
 * the same memory. It stays mapped as long as this object is there, so that a thread that settles late harms nothing.
 *
 * <p>Thread contract: any thread.
 */
final class BpfStates {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** struct tmn_state: seen, up, settled, zero. */
    static final int OCTETS = 32;

    private static final int UP = 8;
    private static final int SETTLED = 16;

    private final int slots;
    private final ByteBuffer memory;

    BpfStates(int fd, int slots) throws LevelException {
        this.slots = slots;
        long octets = (long) slots * OCTETS;
        long address = BpfLibC.mmap(0, octets, BpfLibC.PROT_READ_WRITE, BpfLibC.MAP_SHARED, fd, 0);
        if (address == BpfLibC.MAP_FAILED) {
            throw new LevelException("BPF map tmn_states cannot be mapped: " + LibC.strerror(Native.getLastError()));
        }
        memory = new Pointer(address).getByteBuffer(0, octets);
        CLEANER.register(this, () -> BpfLibC.munmap(address, octets));
    }

    /** Adds to what has settled. */
    void settled(int slot, long packets) {
        LONG.getAndAdd(memory, at(slot) + SETTLED, packets);
        Reference.reachabilityFence(this);
    }

    /** A copy. What has settled is read first, so that it is never more than what went up. */
    ByteBuffer get(int slot) {
        int at = at(slot);
        ByteBuffer state = ByteBuffer.allocate(OCTETS).order(ByteOrder.nativeOrder());
        state.putLong(SETTLED, (long) LONG.getVolatile(memory, at + SETTLED));
        state.putLong(UP, (long) LONG.getVolatile(memory, at + UP));
        state.putLong(0, (long) LONG.getVolatile(memory, at));
        Reference.reachabilityFence(this);
        return state;
    }

    /** Sets all of a slot to zero. */
    void clear(int slot) {
        int at = at(slot);
        for (int member = 0; member < OCTETS; member += Long.BYTES) {
            LONG.setVolatile(memory, at + member, 0L);
        }
        Reference.reachabilityFence(this);
    }

    private int at(int slot) {
        if (slot < 0 || slot >= slots) {
            throw new IllegalArgumentException("slot " + slot + ": must be 0 to " + (slots - 1));
        }
        return slot * OCTETS;
    }
}
