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
 * An array map of BPF programs that is mapped into this process, as 64-bit numbers in the host's order. It stays mapped as
 * long as this object is there, so that a thread that comes late harms nothing.
 *
 * <p>Thread contract: any thread.
 */
final class BpfMemory {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer memory;

    /**
     * Maps it.
     *
     * @param fd of the map, which has BPF_F_MMAPABLE
     */
    BpfMemory(String name, int fd, int bytes) throws LevelException {
        long address = BpfLibC.mmap(0, bytes, BpfLibC.PROT_READ_WRITE, BpfLibC.MAP_SHARED, fd, 0);
        if (address == BpfLibC.MAP_FAILED) {
            throw new LevelException("BPF map " + name + " cannot be mapped: " + LibC.strerror(Native.getLastError()));
        }
        memory = new Pointer(address).getByteBuffer(0, bytes);
        CLEANER.register(this, () -> BpfLibC.munmap(address, bytes));
    }

    /** Returns the number at an offset in bytes, a multiple of 8. */
    long get(int at) {
        long value = (long) LONG.getVolatile(memory, at);
        Reference.reachabilityFence(this);
        return value;
    }

    void set(int at, long value) {
        LONG.setVolatile(memory, at, value);
        Reference.reachabilityFence(this);
    }

    /** Adds atomically, also with programs. */
    void add(int at, long value) {
        LONG.getAndAdd(memory, at, value);
        Reference.reachabilityFence(this);
    }
}
