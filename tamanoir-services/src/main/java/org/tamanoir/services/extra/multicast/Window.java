package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * The last packets of a flow, by their sequence numbers; {@code lowest ≤ sequence ≤ highest}, of which some may be
 * missing. Memory of packets that have gone is used for those that come.
 *
 * <p>Thread contract: one thread.
 */
final class Window {
    /** Of a place, in bytes, besides the packet's. */
    private static final int PLACE_BYTES = 72;

    private static final int LEAST_PACKET_BYTES = 256;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** The place of one packet. */
    static final class Place {
        private ByteBuffer packet = NOTHING;
        /** 0 if it is missing. */
        private int bytes;

        /** Branches that have asked for it. */
        long wanted;
        /** Whether any has been sent it again. */
        boolean isRepaired;
        /** How often it was asked for while it is missing; negative when it is not waited for any more. */
        int asked;
        /** When it was found missing, or asked for last. */
        long sinceNs;

        boolean isHere() {
            return bytes > 0;
        }

        ByteBuffer packet() {
            return packet;
        }

        int bytes() {
            return bytes;
        }

        private void clear() {
            bytes = 0;
            wanted = 0;
            isRepaired = false;
            asked = 0;
            sinceNs = 0;
        }
    }

    /** Made when they are first asked for. */
    private final @Nullable Place[] places;

    private final int packets;
    private long lowest;
    private long highest;
    private long keptBytes;

    /** Makes an empty one for so many packets, of which the first has the sequence number {@code first}. */
    Window(int packets, long first) {
        this.packets = packets;
        places = new Place[Integer.highestOneBit(packets - 1) << 1];
        lowest = first;
        highest = first - 1;
        keptBytes = (long) places.length * PLACE_BYTES;
    }

    int packets() {
        return packets;
    }

    long lowest() {
        return lowest;
    }

    long highest() {
        return highest;
    }

    long keptBytes() {
        return keptBytes;
    }

    /** Returns what would be the lowest one if this were the highest. */
    long lowestBelow(long sequence) {
        return Math.max(lowest, sequence - packets + 1);
    }

    /** Makes this the highest one; all that are new are missing. */
    void reach(long sequence) {
        for (long each = Math.max(highest + 1, sequence - packets + 1); each <= sequence; each++) {
            Place before = places[index(each)];
            if (before != null) {
                before.clear();
            }
        }
        lowest = lowestBelow(sequence);
        highest = sequence;
    }

    /** Returns the place of one between the lowest and the highest. */
    Place place(long sequence) {
        Place place = places[index(sequence)];
        if (place == null) {
            place = new Place();
            places[index(sequence)] = place;
        }
        return place;
    }

    private int index(long sequence) {
        return (int) sequence & places.length - 1;
    }

    boolean isInside(long sequence) {
        return sequence >= lowest && sequence <= highest;
    }

    /** Copies a packet to its place. */
    void put(long sequence, Packet packet) {
        Place place = place(sequence);
        packet.seal();
        int bytes = packet.length();
        if (place.packet.capacity() < bytes) {
            keptBytes -= place.packet.capacity();
            place.packet = ByteBuffer.allocate(Math.max(LEAST_PACKET_BYTES, bytes));
            keptBytes += place.packet.capacity();
        }
        packet.copyTo(place.packet, 0);
        place.bytes = bytes;
    }

    /** Lets the lowest one go, and its memory. */
    void dropLowest() {
        Place place = place(lowest++);
        keptBytes -= place.packet.capacity();
        place.clear();
        place.packet = NOTHING;
    }
}
