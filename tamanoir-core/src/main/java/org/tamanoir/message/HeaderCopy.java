package org.tamanoir.message;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;

/**
 * A packet's header kept: a packet without a payload, in memory of its own that is used again.
 *
 * <p>Thread contract: one thread.
 */
final class HeaderCopy {
    private ByteBuffer memory = ByteBuffer.allocate(256);
    private Packet view = new Packet();

    /** Copies the header, and returns the packet of it; the same object each time. */
    Packet of(Packet packet) {
        int length = packet.headerLength();
        if (memory.capacity() < length) {
            memory = ByteBuffer.allocate(2 * length);
        }
        packet.copyHeaderTo(memory, 0);
        memory.putShort(6, (short) length);
        if (packet.has(Option.CHECKSUM)) {
            int at = packet.optionOffset(Option.CHECKSUM) - packet.offset();
            memory.putShort(at, (short) 0).putShort(at, (short) ~Checksum.sum(memory, 0, length));
        }
        if (view.typeId() != packet.typeId()) {
            view = new Packet(packet.typeId(), PacketSpace.HEAP);
        }
        ParseFault fault = view.parse(memory, 0, length);
        if (fault != null) {
            throw new IllegalStateException("a header that was good is not any more: " + fault);
        }
        return view;
    }
}
