package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.tamanoir.nodeos.LevelException;

/**
 * {@code struct tmn_hints} of {@code native/bpf/tamanoir_bpf.h}: what spares the programs look-ups. A hint is there before
 * what it hints at, and goes after it; programs forget what they know of packets when the epoch changes.
 *
 * <pre>
 *   wilds 4, only 4, epoch 4, front 4, bits of local addresses 16 * 8
 * </pre>
 *
 * <p>Thread contract: one thread at a time.
 */
final class BpfHints {
    static final int SIZE = 16 + 16 * Long.BYTES;

    private static final int ONLY = 4;
    private static final int EPOCH = 8;
    private static final int FRONT = 12;
    private static final int FRONT_TRIES = 1;
    private static final int FRONT_DECIDES = 2;
    private static final int LOCALS = 16;
    private static final int LOCAL_BITS = 16 * Long.SIZE;

    private final BpfMap map;
    private final ByteBuffer hints = ByteBuffer.allocate(SIZE).order(ByteOrder.nativeOrder());
    private final int[] flowsByWild = new int[Abi.WILDS];
    /** The one that is, or was before the change. */
    private int epoch;

    BpfHints(BpfMap map) {
        this.map = map;
    }

    /** Says that hook or policies begin to change: from now on programs look at each packet anew. */
    void beginChange() throws LevelException {
        hints.putInt(EPOCH, 0);
        map.put(BpfMap.number(0), hints);
    }

    /** Says that they have changed. */
    void endChange() throws LevelException {
        epoch = epoch == -1 ? 1 : epoch + 1;
        hints.putInt(EPOCH, epoch);
        map.put(BpfMap.number(0), hints);
    }

    /** Says that XDP's program is attached to all interfaces, and whether it decides, or shows first that it can tell. */
    void front(boolean decides) throws LevelException {
        hints.putInt(FRONT, decides ? FRONT_DECIDES : FRONT_TRIES);
        map.put(BpfMap.number(0), hints);
    }

    /** Says that XDP's program is not attached to all interfaces. */
    void noFront() throws LevelException {
        hints.putInt(FRONT, 0);
        map.put(BpfMap.number(0), hints);
    }

    /** Says that there are so many flows more with these wildcards, or fewer. */
    void countFlow(int wild, int change) throws LevelException {
        flowsByWild[wild] += change;
        int wilds = 0;
        for (int i = 0; i < Abi.WILDS; i++) {
            wilds |= flowsByWild[i] > 0 ? 1 << i : 0;
        }
        if (hints.getInt(0) != wilds) {
            hints.putInt(0, wilds);
            hints.putInt(ONLY, Integer.bitCount(wilds) == 1 ? 1 + Integer.numberOfTrailingZeros(wilds) : 0);
            map.put(BpfMap.number(0), hints);
        }
    }

    /** Says which addresses may be local. */
    void locals(Set<ByteBuffer> addresses) throws LevelException {
        for (int at = LOCALS; at < SIZE; at += Long.BYTES) {
            hints.putLong(at, 0);
        }
        for (ByteBuffer address : addresses) {
            int bit = bit(address);
            int at = LOCALS + bit / Long.SIZE * Long.BYTES;
            hints.putLong(at, hints.getLong(at) | 1L << bit);
        }
        map.put(BpfMap.number(0), hints);
    }

    /** Returns what tmn_local_bit does. */
    private static int bit(ByteBuffer address) {
        ByteBuffer words = address.duplicate().order(ByteOrder.nativeOrder());
        int mixed = words.getInt(0) ^ words.getInt(4) ^ words.getInt(8) ^ words.getInt(12);
        mixed ^= mixed >>> 16;
        mixed ^= mixed >>> 8;
        return mixed & LOCAL_BITS - 1;
    }
}
