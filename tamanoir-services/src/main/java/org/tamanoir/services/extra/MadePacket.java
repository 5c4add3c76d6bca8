package org.tamanoir.services.extra;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;

/**
 * A packet of a service's own, made anew in the same memory each time:
 *
 * <pre>
 *   room(header, bytes) · (write into it) · finish(header, sequence, originNs, bytes)
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
public final class MadePacket {
    private ByteBuffer octets = ByteBuffer.allocate(2048);
    private Packet packet = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    private int typeId = Anep.DEFAULT_TYPE_ID;

    /** Returns the memory behind such a header, from position to limit. */
    public ByteBuffer room(Header header, int payloadBytes) {
        int bytes = header.length() + payloadBytes;
        if (octets.capacity() < bytes) {
            octets = ByteBuffer.allocate(Integer.highestOneBit(bytes - 1) << 1);
        }
        return octets.clear().limit(bytes).position(header.length());
    }

    /** Returns the packet, valid until the next one is begun. @param payloadBytes that were written */
    public Packet finish(Header header, long sequence, long originNs, int payloadBytes) {
        int bytes = header.length() + payloadBytes;
        octets.clear();
        header.write(octets, bytes, sequence, originNs);
        if (header.checksumAt() >= 0) {
            octets.putShort(header.checksumAt(), (short) ~Checksum.sum(octets, 0, bytes));
        }
        if (header.typeId() != typeId) {
            typeId = header.typeId();
            packet = new Packet(typeId, PacketSpace.HEAP);
        }
        ParseFault fault = packet.parse(octets, 0, bytes);
        if (fault != null) {
            throw new IllegalStateException("the header of a good packet is not good with another payload: " + fault);
        }
        return packet;
    }
}
