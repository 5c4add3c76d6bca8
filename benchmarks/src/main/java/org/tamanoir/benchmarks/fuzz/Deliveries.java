package org.tamanoir.benchmarks.fuzz;

import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.tamanoir.accounting.DropReason;

/** What the reference expects of some packets, and what the far ends got. One thread. */
final class Deliveries {
    private static final int SHOWN_BYTES = 400;

    final Map<DropReason, Long> drops = new EnumMap<>(DropReason.class);
    /** How often bytes are still missing, or were too many if below 0; by far end. */
    private final List<Map<ByteBuffer, Integer>> missing = List.of(new HashMap<>(), new HashMap<>());

    private long packets;
    private long leaving;
    private long leavingBytes;

    void expect(AnepReference.Outcome outcome) {
        packets++;
        DropReason reason = outcome.reason();
        if (reason != null) {
            drops.merge(reason, 1L, Long::sum);
        } else {
            leaving++;
            leavingBytes += outcome.bytes().length;
            missing.get(outcome.toActiveNode() ? 1 : 0).merge(ByteBuffer.wrap(outcome.bytes()), 1, Integer::sum);
        }
    }

    /** Packets that have to come in. */
    long packets() {
        return packets;
    }

    /** Packets that have to leave. */
    long leaving() {
        return leaving;
    }

    long leavingBytes() {
        return leavingBytes;
    }

    /** @param farEnd 0 for the host, 1 for the next node */
    void arrived(int farEnd, byte[] bytes) throws FuzzFault {
        byte[] comparable = AnepReference.comparable(bytes);
        if (comparable == null) {
            throw new FuzzFault("far end " + farEnd + " got what is no packet: " + hex(bytes));
        }
        if (comparable.length != bytes.length) {
            throw new FuzzFault("far end " + farEnd + " got bytes behind the packet: " + hex(bytes));
        }
        Map<ByteBuffer, Integer> ofFarEnd = missing.get(farEnd);
        ByteBuffer packet = ByteBuffer.wrap(comparable);
        if (ofFarEnd.merge(packet, -1, Integer::sum) == 0) {
            ofFarEnd.remove(packet);
        }
    }

    /** Compares. */
    void check() throws FuzzFault {
        StringBuilder differences = new StringBuilder();
        for (int farEnd = 0; farEnd < missing.size(); farEnd++) {
            for (Map.Entry<ByteBuffer, Integer> packet : missing.get(farEnd).entrySet()) {
                differences
                        .append("; far end ")
                        .append(farEnd)
                        .append(packet.getValue() < 0 ? " got what nobody expects: " : " did not get: ")
                        .append(hex(packet.getKey().array()));
            }
        }
        if (differences.length() > 0) {
            throw new FuzzFault("bytes, checksums as 0" + differences);
        }
    }

    static String hex(byte[] bytes) {
        String digits = HexFormat.of().formatHex(bytes);
        return digits.length() <= SHOWN_BYTES
                ? digits
                : digits.substring(0, SHOWN_BYTES) + "… (" + bytes.length + " bytes)";
    }
}
