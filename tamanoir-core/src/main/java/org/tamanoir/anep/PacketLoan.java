package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A packet view that a node lends to services, which get the {@link Packet} and never this object. From {@link #lend}
 * to {@link #takeBack} no buffer that the view gives away reaches the memory in which the packet lies: the service gets
 * {@link ServiceMemory}.
 *
 * <p>Thread contract: one thread.
 */
public final class PacketLoan {
    private final Packet packet;
    private final PacketSpace space;
    private final ServiceMemory memory = new ServiceMemory();
    /** The packet lies in {@link #memory}, since the service asked for its bytes; only while it is lent. */
    private boolean moved;

    /** Makes a view; as {@link Packet#Packet(int, PacketSpace)}. */
    public PacketLoan(int tamanoirTypeId, PacketSpace space) {
        this.packet = new Packet(tamanoirTypeId, space, this);
        this.space = space;
    }

    /** Returns the view, the same object each time. */
    public Packet packet() {
        return packet;
    }

    /**
     * Points the view at a packet in the same memory that is {@linkplain Likeness like} the one it was pointed at.
     *
     * @param available from {@code offset} on, as {@link Packet#parse}
     */
    public void next(int offset, int length, int available) {
        packet.offset = offset;
        packet.length = length;
        packet.trailer = length < available;
        packet.checksumStale = false;
        packet.displaced = false;
        if (packet.reserved != null) {
            packet.reserved = null;
        }
    }

    /**
     * Has the view, which is at a header alone, be at a folded packet: one with this header, and a payload that lies
     * elsewhere. Neither is changed: before the packet is, it lies elsewhere in one piece.
     *
     * @throws IndexOutOfBoundsException if the payload is not in that memory
     */
    public void fold(ByteBuffer memory, int payloadOffset, int payloadOctets) {
        Objects.checkFromIndexSize(payloadOffset, payloadOctets, memory.limit());
        if (packet.body != memory) {
            packet.body = memory;
        }
        packet.folded = true;
        nextFolded(payloadOffset, payloadOctets);
    }

    /** Returns whether the packet is folded still: nobody has changed it, or seen it whole. */
    public boolean isFolded() {
        return packet.folded;
    }

    /** Points the view, which is at a folded packet, at another one with the same header and memory. */
    public void nextFolded(int payloadOffset, int payloadOctets) {
        packet.bodyOffset = payloadOffset;
        packet.length = packet.headerLength + payloadOctets;
        packet.checksumStale = false;
        if (packet.reserved != null) {
            packet.reserved = null;
        }
    }

    /** Gives the packet into a service's hands. Costs a store. */
    public void lend() {
        packet.lent = true;
    }

    /** Gives a copy of the packet into a service's hands, so that {@link #restore} gives it back as it came. */
    public void lendCopy() {
        packet.lent = true;
        moved();
    }

    /**
     * Takes a packet back that was lent as a copy, without anything that the service has done to it.
     *
     * @return null when it can be read as before
     */
    public @Nullable ParseFault restore() {
        boolean wasStale = memory.wasStale();
        reclaim();
        ParseFault fault = packet.format.parse(packet, packet.buffer, packet.offset, packet.length);
        packet.checksumStale = wasStale;
        return fault;
    }

    /**
     * Takes the packet back from a service. What the service has changed of bytes that it asked for is copied to the
     * packet's place, or to the packet space if it has outgrown it, and only then parsed again: buffers that the
     * service keeps reach no packet that has been checked.
     *
     * @return null when the packet is good, else the receive rule that it breaks now; the view is then valid only for
     *     {@link Packet#length}
     */
    public @Nullable ParseFault takeBack() {
        packet.lent = false;
        return moved ? moveBack() : null;
    }

    /** Takes the packet back if it lies where it lay, as long as it was, and the service has not seen its bytes. */
    public boolean takeBackUnmoved() {
        if (packet.displaced) {
            return false;
        }
        packet.lent = false;
        return true;
    }

    private @Nullable ParseFault moveBack() {
        int bytes = packet.length;
        ByteBuffer target = memory.origin();
        int start = memory.originOffset();
        packet.reserved = null;
        if (memory.isUnchanged(bytes)) {
            moved = false;
            packet.moveTo(target, start);
            packet.checksumStale = memory.wasStale();
            return null;
        }
        boolean outgrown = bytes > memory.originLength();
        if (outgrown) {
            // May send what waits; the packet still counts as lying in its old place, see liesIn().
            target = space.reserve(bytes);
            start = target.position();
        }
        memory.putBack(target, start, bytes);
        moved = false;
        packet.checksumStale = true;
        ParseFault fault = packet.format.parse(packet, target, start, bytes);
        if (outgrown) {
            space.commit(bytes);
        }
        return fault;
    }

    /** Takes the packet back without what the service has changed of its bytes, when that cannot be known or kept. */
    public void reclaim() {
        packet.lent = false;
        packet.reserved = null;
        if (moved) {
            moved = false;
            packet.moveTo(memory.origin(), memory.originOffset());
            packet.length = memory.originLength();
        }
    }

    /** Returns whether this is the node's memory that the packet lies in, or lay in before a service asked for it. */
    public boolean liesIn(ByteBuffer room) {
        return room == (moved ? memory.origin() : packet.buffer);
    }

    /** Forgets the packet: who kept the view, against its contract, sees and changes nothing through it. */
    public void forget() {
        leave();
        if (!packet.lent) {
            packet.format.forget(packet);
        }
    }

    /**
     * Leaves the memory that the packet lies in, which others will have; the next {@link Packet#parse} begins as
     * quickly as ever.
     */
    public void leave() {
        if (!packet.lent && packet.buffer != BufferView.NOTHING) {
            packet.moveTo(BufferView.NOTHING, 0);
            packet.body = BufferView.NOTHING;
            packet.length = 0;
            packet.payloadView.forget();
            packet.lookView.forget();
            packet.reserved = null;
        }
    }

    /** Returns the service's memory, with the packet in it. */
    ServiceMemory moved() {
        if (!moved) {
            packet.join();
            memory.leave(packet.buffer, packet.offset, packet.length, packet.checksumStale);
            packet.moveTo(memory.take(), 0);
            moved = true;
        }
        return memory;
    }

    /** Returns the service's memory, whose spare room can take the packet. */
    ServiceMemory memory() {
        return memory;
    }

    boolean hasMoved() {
        return moved;
    }

    /** The packet has outgrown its place, and is moved to the spare room. */
    void turn() {
        if (!moved) {
            memory.leave(packet.buffer, packet.offset, packet.length, packet.checksumStale);
            moved = true;
        }
        memory.turn();
    }
}
