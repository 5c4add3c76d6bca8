package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tamanoir.nodeos.LevelCounters;

/**
 * Reads structs of {@code tamanoir_abi.h} that begin at index 0 of a buffer, in the host's byte order whatever the
 * buffer's is.
 *
 * <p>Thread contract: any thread.
 */
final class AbiDecoder {
    /**
     * A {@code struct tmn_state}.
     *
     * @param seen packets that the share counted
     * @param up packets that went up
     * @param settled of those, packets that have left the node or ended in it
     */
    record State(long seen, long up, long settled) {
        static final State NONE = new State(0, 0, 0);

        /** Packets that went up and have not settled. */
        long pending() {
            return up - settled;
        }
    }

    private AbiDecoder() {}

    static State state(ByteBuffer struct) {
        return new State(
                number(struct, Abi.StateStruct.SEEN),
                number(struct, Abi.StateStruct.UP),
                number(struct, Abi.StateStruct.SETTLED));
    }

    /** Returns a {@code struct tmn_counters}. */
    static LevelCounters counters(ByteBuffer struct) {
        long[] rules = new long[Abi.MAX_RULES + 1];
        for (int i = 0; i < rules.length; i++) {
            rules[i] = number(struct, Abi.CountersStruct.RULES + i * Long.BYTES);
        }
        return new LevelCounters(
                number(struct, Abi.CountersStruct.PACKETS),
                number(struct, Abi.CountersStruct.UP),
                number(struct, Abi.CountersStruct.ON),
                number(struct, Abi.CountersStruct.DROPPED),
                number(struct, Abi.CountersStruct.OCTETS),
                number(struct, Abi.CountersStruct.MARKED),
                number(struct, Abi.CountersStruct.UNMARKED),
                number(struct, Abi.CountersStruct.SMALLEST),
                number(struct, Abi.CountersStruct.LARGEST),
                rules);
    }

    /** Returns whether packets may be of both these flows, each a {@code struct tmn_flow}. */
    static boolean overlap(ByteBuffer flow, ByteBuffer other) {
        int wilds = flow.get(Abi.FlowStruct.WILD) | other.get(Abi.FlowStruct.WILD);
        return flow.get(Abi.FlowStruct.PROTOCOL) == other.get(Abi.FlowStruct.PROTOCOL)
                && flow.getLong(Abi.FlowStruct.SERVICE) == other.getLong(Abi.FlowStruct.SERVICE)
                && areAlike(wilds & Abi.WILD_SOURCE, flow, other, Abi.FlowStruct.SOURCE, 2 * Long.BYTES)
                && areAlike(wilds & Abi.WILD_DESTINATION, flow, other, Abi.FlowStruct.DESTINATION, 2 * Long.BYTES)
                && areAlike(wilds & Abi.WILD_STREAM, flow, other, Abi.FlowStruct.STREAM, Integer.BYTES);
    }

    private static boolean areAlike(int isWild, ByteBuffer flow, ByteBuffer other, int at, int bytes) {
        return isWild != 0 || flow.slice(at, bytes).equals(other.slice(at, bytes));
    }

    private static long number(ByteBuffer struct, int at) {
        long value = struct.getLong(at);
        return struct.order() == ByteOrder.nativeOrder() ? value : Long.reverseBytes(value);
    }
}
