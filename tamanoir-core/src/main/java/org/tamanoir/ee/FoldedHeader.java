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
    /** Of another header than those before, fewer packets are made whole: that costs less than to begin. */
    private static final int FEW = 4;
    /** Messages that are made whole at once behind a packet that a service has changed. */
    private static final int CHANGING = 64;

    private final Packet onwardPacket;
    private ByteBuffer arrived = ByteBuffer.allocate(0);
    private ByteBuffer onward = arrived;
    private @Nullable Fold fold;
    /** Of the packets before. */
    private @Nullable Fold last;
    /** Messages that are to be whole packets yet. */
    private int changing;

    /** @param typeId of Tamanoir's packets */
    FoldedHeader(int typeId) {
        onwardPacket = new Packet(typeId, PacketSpace.HEAP);
    }

    /**
     * Takes the header of so many packets that come together.
     *
     * @return false when they are to be whole packets: few of another header than those before, or of one that a service
     *     has changed lately
     */
    boolean take(Fold fold, int packets) {
        boolean isAnother = fold != last;
        last = fold;
        if (isAnother) {
            changing = 0;
        } else if (changing > 0) {
            changing--;
            return false;
        }
        if (isAnother && packets < FEW) {
            return false;
        }
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
        return true;
    }

    /** Takes note that a service has changed a packet, or wanted it whole. */
    void changes() {
        changing = CHANGING;
    }

    /** Points the view at a packet of the header alone; false where it is none that goes the short way. */
    boolean open(Packet packet) {
        return packet.parse(arrived, 0, octets()) == null
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

    ByteBuffer onward() {
        return onward;
    }

    /** Writes the header that the next hop gets of a packet of that many bytes. */
    void writeOnward(ByteBuffer room, int at, int bytes) {
        room.put(at, onward, 0, octets()).putShort(at + Anep.LENGTH_AT, (short) bytes);
    }
}
