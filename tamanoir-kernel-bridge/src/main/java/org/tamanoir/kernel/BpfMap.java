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
 * @param valueOctets as one look-up gives them: for all possible processors where the map has values for each
 */
record BpfMap(String name, int fd, int keyOctets, int valueOctets) {
    /** Adds or replaces; programs see the old value or the new one. */
    void put(ByteBuffer key, ByteBuffer value) throws LevelException {
        try (Memory memory = new Memory(keyOctets + valueOctets)) {
            fill(memory, 0, key, keyOctets);
            fill(memory, keyOctets, value, valueOctets);
            long at = Pointer.nativeValue(memory);
            int result = LibBpf.bpf_map_update_elem(fd, at, at + keyOctets, LibBpf.ANY);
            if (result < 0) {
                throw new LevelException("BPF map " + name + ": "
                        + (result == -BpfLibC.E2BIG ? "is full; take policies away" : BpfLibC.error(result)));
            }
        }
    }

    /**
     * The value, in the host's byte order.
     *
     * @throws LevelException if there is none
     */
    ByteBuffer get(ByteBuffer key) throws LevelException {
        try (Memory memory = new Memory(keyOctets + valueOctets)) {
            fill(memory, 0, key, keyOctets);
            long at = Pointer.nativeValue(memory);
            int result = LibBpf.bpf_map_lookup_elem(fd, at, at + keyOctets);
            if (result < 0) {
                throw new LevelException("BPF map " + name + ": " + BpfLibC.error(result));
            }
            return ByteBuffer.wrap(memory.getByteArray(keyOctets, valueOctets)).order(ByteOrder.nativeOrder());
        }
    }

    /** Removes; nothing there is no error. */
    void remove(ByteBuffer key) throws LevelException {
        try (Memory memory = new Memory(keyOctets)) {
            fill(memory, 0, key, keyOctets);
            int result = LibBpf.bpf_map_delete_elem(fd, Pointer.nativeValue(memory));
            if (result < 0 && result != -LibC.ENOENT) {
                throw new LevelException("BPF map " + name + ": " + BpfLibC.error(result));
            }
        }
    }

    /** A key of an array map, or a small value. */
    static ByteBuffer number(int number) {
        return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(0, number);
    }

    private void fill(Memory memory, int offset, ByteBuffer from, int octets) {
        if (from.capacity() != octets) {
            throw new IllegalArgumentException(from.capacity() + " octets for BPF map " + name + ": must be " + octets);
        }
        byte[] copy = new byte[octets];
        from.get(0, copy);
        memory.write(offset, copy, 0, octets);
    }
}
