package org.tamanoir.kernel;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tamanoir.nodeos.LevelException;

/**
 * A map of BPF programs, by its descriptor, which is another's to close.
 *
 * <p>Thread contract: any thread.
 *
 * @param valueBytes as one look-up gives them: for all possible processors where the map has values for each
 */
record BpfMap(String name, int fd, int keyBytes, int valueBytes) {
    /** Adds or replaces; programs see the old value or the new one. */
    void put(ByteBuffer key, ByteBuffer value) throws LevelException {
        try (Memory memory = new Memory(keyBytes + valueBytes)) {
            fill(memory, 0, key, keyBytes);
            fill(memory, keyBytes, value, valueBytes);
            long at = Pointer.nativeValue(memory);
            int result = LibBpf.bpf_map_update_elem(fd, at, at + keyBytes, LibBpf.ANY);
            if (result < 0) {
                throw new LevelException("BPF map " + name + ": "
                        + (result == -BpfLibC.E2BIG ? "is full; take policies away" : BpfLibC.error(result)));
            }
        }
    }

    /**
     * Returns the value, in the host's byte order.
     *
     * @throws LevelException if there is none
     */
    ByteBuffer get(ByteBuffer key) throws LevelException {
        try (Memory memory = new Memory(keyBytes + valueBytes)) {
            fill(memory, 0, key, keyBytes);
            long at = Pointer.nativeValue(memory);
            int result = LibBpf.bpf_map_lookup_elem(fd, at, at + keyBytes);
            if (result < 0) {
                throw new LevelException("BPF map " + name + ": " + BpfLibC.error(result));
            }
            return ByteBuffer.wrap(memory.getByteArray(keyBytes, valueBytes)).order(ByteOrder.nativeOrder());
        }
    }

    /** Removes a key; nothing there is no error. */
    void remove(ByteBuffer key) throws LevelException {
        try (Memory memory = new Memory(keyBytes)) {
            fill(memory, 0, key, keyBytes);
            int result = LibBpf.bpf_map_delete_elem(fd, Pointer.nativeValue(memory));
            if (result < 0 && result != -LibC.ENOENT) {
                throw new LevelException("BPF map " + name + ": " + BpfLibC.error(result));
            }
        }
    }

    /** Returns a key of an array map, or a small value. */
    static ByteBuffer number(int number) {
        return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(0, number);
    }

    private void fill(Memory memory, int offset, ByteBuffer from, int bytes) {
        if (from.capacity() != bytes) {
            throw new IllegalArgumentException(from.capacity() + " bytes for BPF map " + name + ": must be " + bytes);
        }
        byte[] copy = new byte[bytes];
        from.get(0, copy);
        memory.write(offset, copy, 0, bytes);
    }
}
