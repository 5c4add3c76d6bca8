package org.tamanoir.services;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;

/**
 * The header of the last packet of a stream, kept for packets that must follow it when it is gone. Keeping one
 * copies the header; memory is taken only when a header is longer than all before.
 *
 * <p>Thread contract: one thread.
 */
final class HeaderTemplate {
    private static final int NO_CHECKSUM = -1;

    private ByteBuffer header = ByteBuffer.allocate(128);
    private int length;
    private int typeId;
    private int checksumAt = NO_CHECKSUM;

    /** Keeps the packet's header in place of the one before. */
    void keep(Packet packet) {
        length = packet.headerLength();
        if (header.capacity() < length) {
            header = ByteBuffer.allocate(length);
        }
        packet.copyHeaderTo(header, 0);
        typeId = packet.typeId();
        checksumAt = packet.has(Option.CHECKSUM) ? packet.optionOffset(Option.CHECKSUM) - packet.offset() : NO_CHECKSUM;
    }

    /** Returns whether there is one. */
    boolean isKept() {
        return length > 0;
    }

    /** Returns a packet with the header that was kept and no payload. */
    Packet packet() {
        ByteBuffer bytes = ByteBuffer.allocate(length).put(0, header, 0, length);
        bytes.putShort(6, (short) length);
        if (checksumAt != NO_CHECKSUM) {
            bytes.putShort(checksumAt, (short) 0);
            bytes.putShort(checksumAt, (short) ~Checksum.sum(bytes, 0, length));
        }
        Packet packet = new Packet(typeId, PacketSpace.HEAP);
        ParseFault fault = packet.parse(bytes, 0, length);
        if (fault != null) {
            throw new IllegalStateException("the header of a good packet is not good without a payload: " + fault);
        }
        return packet;
    }
}
