package org.tamanoir.benchmarks.fuzz;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ParseFault;

/**
 * What a node has to do with bytes, written down a second time from the protocol's text, with none of the node's code:
 * plain, slow, and on arrays. It knows the services and routes of {@link FuzzNode}.
 *
 * <p>Thread contract: immutable.
 */
final class AnepReference {
    static final int TYPE_ID = 0x544D;
    private static final int PRIVATE = 0x8000;
    private static final int DISCARD = 0x4000;
    private static final int SOURCE = 1;
    private static final int DESTINATION = 2;
    private static final int CHECKSUM = 3;
    private static final int KEY = PRIVATE | 1;
    private static final int CLASS = PRIVATE | 2;
    private static final int PREVIOUS_NODE = PRIVATE | 3;
    private static final int HOPS = PRIVATE | 7;
    /** Whole length in words of the options that have one. */
    private static final Map<Integer, Integer> WORDS = new HashMap<>(Map.of(CHECKSUM, 2, KEY, 3, CLASS, 2, HOPS, 2));

    static {
        WORDS.putAll(Map.of(
                PRIVATE | 4, 4, PRIVATE | 5, 4, PRIVATE | 6, 4, PRIVATE | 8, 5, PRIVATE | 9, 11, PRIVATE | 10, 2));
    }

    private final long markKey;
    private final long touchKey;
    private final long growKey;
    private final int hopBudget;

    AnepReference(long markKey, long touchKey, long growKey, int hopBudget) {
        this.markKey = markKey;
        this.touchKey = touchKey;
        this.growKey = growKey;
        this.hopBudget = hopBudget;
    }

    /**
     * What becomes of a packet.
     *
     * @param reason why it ends; null when it leaves
     * @param bytes what leaves, with zeros in its checksum
     * @param toActiveNode whether to the next node, or else to the host
     */
    record Outcome(@Nullable DropReason reason, byte[] bytes, boolean toActiveNode) {
        static Outcome dropped(DropReason reason) {
            return new Outcome(reason, new byte[0], false);
        }
    }

    /** A packet that was read, or why it cannot be. */
    private static final class Reading {
        @Nullable
        ParseFault fault;

        int length;
        int header;
        int typeId;
        /** Where the first option of each known type begins. */
        final Map<Integer, Integer> options = new HashMap<>();

        boolean has(int option) {
            return options.containsKey(option);
        }

        int at(int option) {
            return options.getOrDefault(option, -1);
        }
    }

    private static int u16(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
    }

    private static int u32(byte[] bytes, int at) {
        return u16(bytes, at) << 16 | u16(bytes, at + 2);
    }

    /** Bytes that the packet at the start claims. */
    static int claimed(byte[] bytes, int at) {
        return u16(bytes, at + 6);
    }

    private static Reading read(byte[] bytes, boolean verifiesSum) {
        Reading reading = new Reading();
        reading.fault = fault(bytes, verifiesSum, reading);
        return reading;
    }

    /** Why a node does not take these bytes as a packet; null when it does. */
    static @Nullable ParseFault fault(byte[] bytes) {
        return read(bytes, true).fault;
    }

    private static @Nullable ParseFault fault(byte[] bytes, boolean verifiesSum, Reading reading) {
        if (bytes.length < 8) {
            return ParseFault.SHORT;
        }
        if (bytes[0] != 1) {
            return ParseFault.VERSION;
        }
        reading.header = u16(bytes, 4) * 4;
        reading.length = u16(bytes, 6);
        reading.typeId = u16(bytes, 2);
        if (reading.header < 8 || reading.header > reading.length) {
            return ParseFault.HEADER_LENGTH;
        }
        if (reading.length > bytes.length) {
            return ParseFault.TRUNCATED;
        }
        boolean sums = false;
        boolean twoSums = false;
        boolean unknown = false;
        boolean misfit = false;
        for (int at = 8; at < reading.header; ) {
            int words = u16(bytes, at + 2);
            if (words == 0 || at + words * 4 > reading.header) {
                return ParseFault.OPTION_LENGTH;
            }
            int flags = u16(bytes, at);
            int type = flags & (PRIVATE | 0x3FFF);
            boolean counts = (flags & PRIVATE) == 0 || reading.typeId == TYPE_ID;
            boolean known = (flags & PRIVATE) == 0 ? type >= 1 && type <= 4 : type > PRIVATE && type <= (PRIVATE | 10);
            if (counts && !known) {
                unknown |= (flags & DISCARD) != 0;
            } else if (counts) {
                twoSums |= type == CHECKSUM && sums;
                sums |= type == CHECKSUM;
                if (reading.options.putIfAbsent(type, at) == null) {
                    misfit |= misfits(bytes, at, type, words);
                }
            }
            at += words * 4;
        }
        if (sums) {
            int at = reading.at(CHECKSUM);
            if (twoSums || u16(bytes, at + 2) != 2 || (verifiesSum && sum(bytes, reading.length) != 0xFFFF)) {
                return ParseFault.CHECKSUM;
            }
        }
        return unknown ? ParseFault.OPTION : misfit ? ParseFault.OPTION_FORMAT : null;
    }

    private static boolean misfits(byte[] bytes, int at, int type, int words) {
        Integer fixed = WORDS.get(type);
        if (fixed != null) {
            return words != fixed;
        }
        if (type != SOURCE && type != DESTINATION && type != PREVIOUS_NODE) {
            return false;
        }
        if (words < 2) {
            return true;
        }
        int more = type == PREVIOUS_NODE ? 1 : 0;
        return switch (u32(bytes, at + 4)) {
            case 1 -> words != 3 + more;
            case 2 -> words != 6 + more;
            case 3 -> words != 4 + more;
            default -> false;
        };
    }

    private static int sum(byte[] bytes, int length) {
        long sum = 0;
        for (int i = 0; i < length; i++) {
            sum += i % 2 == 0 ? (bytes[i] & 0xFF) << 8 : bytes[i] & 0xFF;
        }
        while (sum >>> 16 != 0) {
            sum = (sum >>> 16) + (sum & 0xFFFF);
        }
        return (int) sum;
    }

    /**
     * Zeroes the checksum of bytes that left, so that they can be compared.
     *
     * @return null when it was wrong
     */
    static byte @Nullable [] comparable(byte[] left) {
        Reading reading = read(left, true);
        return reading.fault != null ? null : withoutSum(left, reading);
    }

    private static byte[] withoutSum(byte[] packet, Reading reading) {
        byte[] copy = Arrays.copyOf(packet, reading.length);
        if (reading.has(CHECKSUM)) {
            Arrays.fill(copy, reading.at(CHECKSUM) + 4, reading.at(CHECKSUM) + 6, (byte) 0);
        }
        return copy;
    }

    /** What becomes of bytes that lie at the start of a datagram, or of what is left of a stream. */
    Outcome decide(byte[] bytes, int maxBytes) {
        Reading reading = read(bytes, true);
        ParseFault fault = reading.fault;
        if (fault != null) {
            return Outcome.dropped(DropReason.of(fault));
        }
        byte[] packet = Arrays.copyOf(bytes, reading.length);
        if (reading.typeId != TYPE_ID) {
            return (packet[1] & 0x80) != 0 ? Outcome.dropped(DropReason.TYPE_ID) : depart(packet, reading, maxBytes);
        }
        long key = reading.has(KEY) ? ByteBuffer.wrap(packet).getLong(reading.at(KEY) + 4) : 0;
        if (key == 0) {
            return depart(packet, reading, maxBytes);
        }
        if (key == markKey) {
            if (reading.has(CLASS)) {
                packet[reading.at(CLASS) + 4]++;
            }
            return depart(packet, reading, maxBytes);
        }
        if (key != touchKey && key != growKey) {
            return Outcome.dropped(DropReason.UNKNOWN_SERVICE);
        }
        byte[] changed = key == touchKey ? touch(packet, reading.header) : grow(packet, reading.header);
        Reading again = read(changed, false);
        return again.fault != null
                ? Outcome.dropped(DropReason.SERVICE_MALFORMED)
                : depart(Arrays.copyOf(changed, again.length), again, maxBytes);
    }

    /** As {@link FuzzNode.Touch} does it. */
    private static byte[] touch(byte[] packet, int header) {
        byte[] changed = packet.clone();
        for (int i = header; i < packet.length; i++) {
            changed[i] ^= 0x55;
        }
        if (packet.length - header >= 3 && (packet[header] & 31) == 0) {
            changed[(packet[header + 1] & 0xFF) % header] = packet[header + 2];
        }
        return changed;
    }

    /** As {@link FuzzNode.Grow} does it. */
    private static byte[] grow(byte[] packet, int header) {
        int payload = packet.length - header;
        if (packet.length + payload > FuzzNode.MOST_GROWN) {
            return packet;
        }
        byte[] changed = Arrays.copyOf(packet, packet.length + payload);
        System.arraycopy(packet, header, changed, packet.length, payload);
        changed[6] = (byte) (changed.length >>> 8);
        changed[7] = (byte) changed.length;
        return changed;
    }

    private Outcome depart(byte[] packet, Reading reading, int maxBytes) {
        int at = reading.at(DESTINATION);
        int scheme = at < 0 ? 0 : u32(packet, at + 4);
        int address;
        if (scheme == 1) {
            address = at + 8;
        } else if (scheme == 2 && isMapped(packet, at + 8)) {
            address = at + 20;
        } else {
            return Outcome.dropped(DropReason.NO_ROUTE); // No address, or IPv6, which has no route.
        }
        boolean toActiveNode = packet[address] == 10 && packet[address + 1] == 2;
        byte[] leaving = packet;
        Reading left = reading;
        if (toActiveNode && reading.typeId == TYPE_ID) {
            int hops = reading.has(HOPS) ? u16(packet, reading.at(HOPS) + 4) : 0;
            if (hops == 1) {
                return Outcome.dropped(DropReason.HOP_BUDGET);
            }
            if (!reading.has(HOPS)) {
                if (packet.length + 8 > 65_535) {
                    return Outcome.dropped(DropReason.PACKET_TOO_LONG);
                }
                leaving = withHops(packet, reading.header);
                left = read(leaving, false);
            }
            int spent = hops == 0 ? hopBudget : hops - 1;
            leaving[left.at(HOPS) + 4] = (byte) (spent >>> 8);
            leaving[left.at(HOPS) + 5] = (byte) spent;
            if (left.has(PREVIOUS_NODE)) { // This node has no code server to name.
                int option = left.at(PREVIOUS_NODE);
                Arrays.fill(leaving, option + 4, option + u16(leaving, option + 2) * 4, (byte) 0);
            }
        }
        return leaving.length > maxBytes
                ? Outcome.dropped(DropReason.PACKET_TOO_LONG)
                : new Outcome(null, withoutSum(leaving, left), toActiveNode);
    }

    private static byte[] withHops(byte[] packet, int header) {
        byte[] longer = new byte[packet.length + 8];
        System.arraycopy(packet, 0, longer, 0, header);
        System.arraycopy(packet, header, longer, header + 8, packet.length - header);
        ByteBuffer.wrap(longer)
                .putShort(header, (short) HOPS)
                .putShort(header + 2, (short) 2)
                .putShort(4, (short) (header / 4 + 2))
                .putShort(6, (short) longer.length);
        return longer;
    }

    private static boolean isMapped(byte[] packet, int at) {
        ByteBuffer words = ByteBuffer.wrap(packet);
        return words.getLong(at) == 0 && words.getInt(at + 8) == 0xFFFF;
    }
}
