package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;

/**
 * Counts the packets of one instance that end in the node, and shows them to the {@link Tap}.
 *
 * <p>Thread contract: the service's thread.
 */
final class Drops {
    private final Traffic traffic;
    private final Tap tap;
    private final PacketSource source;
    private final int typeId;

    Drops(Traffic traffic, NodeContext context, PacketSource source) {
        this.traffic = traffic;
        this.tap = context.tap();
        this.source = source;
        this.typeId = context.config().typeId();
    }

    /** Counts a packet that was found good. */
    void drop(DropReason reason, Packet packet) {
        if (tap.watchesDrops()) {
            traffic.drop(reason, source.peer(), packet.serviceKey(), packet.length());
        } else {
            traffic.drop(reason);
        }
    }

    /** Counts a packet of which only the length is sure. */
    void dropMalformed(DropReason reason, Packet packet) {
        if (tap.watchesDrops()) {
            traffic.drop(reason, source.peer(), ServiceKey.NONE, packet.length());
        } else {
            traffic.drop(reason);
        }
    }

    /** Counts the whole packet that lies here. */
    void drop(DropReason reason, ByteBuffer memory, int offset, int length) {
        if (tap.watchesDrops()) {
            traffic.drop(reason, source.peer(), Framing.serviceKey(memory, offset, typeId), length);
        } else {
            traffic.drop(reason);
        }
    }
}
