package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Fold;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;

/**
 * The header of folded packets, as it came and as it goes to their next hop, each with its own length for the packet's.
 *
 * <p>Thread contract: the service's thread.
 */
final class FoldedHeader {
    private final Packet onwardPacket;
    private ByteBuffer arrived = ByteBuffer.allocate(0);
    private ByteBuffer onward = arrived;
    private @Nullable Fold fold;
    /** Of the packets before. */
    private @Nullable Fold last;

    /** @param typeId of Tamanoir's packets */
    FoldedHeader(int typeId) {
        onwardPacket = new Packet(typeId, PacketSpace.HEAP);
    }

    /** Returns whether the packets before had another header, and takes note of this one. */
    boolean isFirst(Fold fold) {
        boolean isFirst = fold != last;
        last = fold;
        return isFirst;
    }

    /** Writes the header out, and points the view at a packet of it alone; false where it is none that goes the short way. */
    boolean open(Fold fold, Packet packet) {
        if (fold != this.fold) {
            this.fold = null;
            int room = fold.octets() + Long.BYTES;
            if (arrived.capacity() < room) {
                arrived = ByteBuffer.allocate(room);
                onward = ByteBuffer.allocate(room);
            }
            fold.write(arrived, 0, fold.octets());
            this.fold = fold;
        }
        return packet.parse(arrived, 0, fold.octets()) == null
                && packet.isTamanoir()
                && !packet.hasRepeatedOption()
                && packet.hasInternetDestination();
    }

    /** Has the header be what the next hop gets; false when the packet cannot go there, or outgrows its place. */
    boolean prepare(NextHops nextHops, RouteCacheEntry to) {
        int octets = octets();
        onward.put(0, arrived, 0, octets);
        return onwardPacket.parse(onward, 0, octets) == null
                && (!to.isActiveNode || onwardPacket.has(Option.HOP_BUDGET))
                && nextHops.prepare(onwardPacket, to) == null
                && onwardPacket.buffer() == onward
                && onwardPacket.length() == octets;
    }

    int octets() {
        return fold == null ? 0 : fold.octets();
    }

    ByteBuffer arrived() {
        return arrived;
    }

    ByteBuffer onward() {
        return onward;
    }

    /** Writes the header that the next hop gets of a packet of that many bytes. */
    void writeOnward(ByteBuffer room, int at, int bytes) {
        room.put(at, onward, 0, octets()).putShort(at + Anep.LENGTH_AT, (short) bytes);
    }
}
