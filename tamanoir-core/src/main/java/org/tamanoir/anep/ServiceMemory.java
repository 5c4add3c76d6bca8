package org.tamanoir.anep;

import java.nio.ByteBuffer;

/**
 * Memory of a service's own, in which a packet lies while the service has its octets as a {@link ByteBuffer}: what a
 * service does with the buffer, then or later, cannot reach the memory that packets of others lie in. Two rooms take
 * turns, so that a new payload can be written while the present one is read. Each grows with use up to 64 KiB.
 *
 * <p>Thread contract: one thread.
 */
final class ServiceMemory {
    private static final int LEAST_OCTETS = 2048;

    /** Memory in three objects: bounds, mark and order that a service sets are those of its own views alone. */
    private static final class Room {
        final ByteBuffer octets;
        final BufferView whole = new BufferView();
        final BufferView payload = new BufferView();

        Room(int capacity) {
            octets = ByteBuffer.allocate(capacity);
        }

        ByteBuffer whole(int length) {
            return whole.over(octets, 0, length);
        }

        ByteBuffer payload(int from, int to) {
            return payload.over(octets, from, to);
        }
    }

    private Room inUse = new Room(0);
    private Room spare = inUse;

    /** Where the packet came from; its octets stay there as they were. */
    private ByteBuffer origin = inUse.octets;

    private final BufferView originView = new BufferView();
    private int originOffset;
    private int originLength;
    private boolean wasStale;

    /** Remembers the place that a packet leaves. */
    void leave(ByteBuffer memory, int offset, int length, boolean checksumStale) {
        origin = memory;
        originOffset = offset;
        originLength = length;
        wasStale = checksumStale;
    }

    /** Copies the packet from the place that it left; it lies from index 0 on. */
    ByteBuffer take() {
        if (inUse.octets.capacity() < originLength) {
            inUse = room(originLength);
        }
        return inUse.octets.put(0, origin, originOffset, originLength);
    }

    /** The room that the packet does not lie in, with space for so many octets. */
    ByteBuffer spare(int octets) {
        if (spare == inUse || spare.octets.capacity() < octets) {
            spare = room(octets);
        }
        return spare.octets;
    }

    /** The packet lies in the spare room from now on. */
    void turn() {
        Room before = inUse;
        inUse = spare;
        spare = before;
    }

    private static Room room(int octets) {
        return new Room(Math.max(LEAST_OCTETS, Integer.highestOneBit(octets - 1) << 1));
    }

    /** The packet as the service sees it. */
    ByteBuffer whole(int length) {
        return inUse.whole(length);
    }

    /** Its payload. */
    ByteBuffer payload(int headerLength, int length) {
        return inUse.payload(headerLength, length);
    }

    /** The spare room behind a header. */
    ByteBuffer newPayload(int headerLength, int octets) {
        return spare.payload(headerLength, headerLength + octets);
    }

    /** Whether the octets are those that were taken. */
    boolean isUnchanged(int length) {
        if (length != originLength) {
            return false;
        }
        return originView.over(origin, originOffset, originOffset + length).mismatch(inUse.whole(length)) < 0;
    }

    /** Copies the packet to a place of the node's. */
    void putBack(ByteBuffer target, int at, int length) {
        target.put(at, inUse.octets, 0, length);
    }

    ByteBuffer origin() {
        return origin;
    }

    int originOffset() {
        return originOffset;
    }

    int originLength() {
        return originLength;
    }

    /** Whether the packet's checksum was out of date when it left its place. */
    boolean wasStale() {
        return wasStale;
    }
}
