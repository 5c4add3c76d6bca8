package org.tamanoir.services.extra.aggregate;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;
import org.tamanoir.services.extra.Deadlines;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/** The packets of a flow that wait to leave as one. Thread contract: one thread. */
final class Collected extends Deadlines.Item<Collected> implements FlowTable.Flow {
    private final Header header;
    private final ByteBuffer content;
    private int packets;
    private long firstSequence;
    private long firstOriginNs;

    Collected(Header header, int maxBytes) {
        this.header = header;
        this.content = ByteBuffer.allocate(maxBytes);
    }

    @Override
    public Header header() {
        return header;
    }

    int packets() {
        return packets;
    }

    long firstSequence() {
        return firstSequence;
    }

    long firstOriginNs() {
        return firstOriginNs;
    }

    boolean hasRoom(int bytes) {
        return content.remaining() >= bytes && packets < AggregateHeader.MAX_PACKETS;
    }

    /** Takes a packet, for which there is room. @param own its header */
    void add(Packet packet, Header own) {
        if (packets++ == 0) {
            firstSequence = own.sequence();
            firstOriginNs = own.originNs();
        }
        packet.copyTo(content, content.position());
        content.position(content.position() + packet.length());
    }

    /** Moves what is here to {@code target}. */
    void drainTo(ByteBuffer target) {
        target.put(content.flip());
        content.clear();
        packets = 0;
    }

    /** Returns the bytes of all packets. */
    int bytes() {
        return content.position();
    }
}
