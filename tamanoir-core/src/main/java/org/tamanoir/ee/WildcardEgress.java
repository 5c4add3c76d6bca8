package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Packets out of a socket on the wildcard address: what goes to a sender of datagrams leaves from the address that he sent
 * to last, since connected senders, firewalls and address translators take it from nowhere else.
 */
final class WildcardEgress extends UdpEgress {
    private final UdpSender sender;
    private final Consumer<RouteCacheEntry> own;

    /**
     * Makes one by a sender of its own.
     *
     * @param own tells a next hop where its packets leave from, if the packet in hand says that
     */
    WildcardEgress(
            UdpSocket socket,
            int scope,
            UdpSender sender,
            ScratchBuffers memory,
            Traffic traffic,
            Consumer<RouteCacheEntry> own) {
        super(socket, scope, sender, memory, traffic);
        this.sender = sender;
        this.own = own;
    }

    private void from(RouteCacheEntry hop) {
        own.accept(hop);
        sender.from(hop.ownHigh(), hop.ownLow(), hop.ownDevice());
    }

    @Override
    public @Nullable DropReason add(ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop) {
        from(hop);
        return super.add(memory, offset, bytes, hop);
    }

    @Override
    void addRun(ByteBuffer memory, int offset, int length, int packets, RouteCacheEntry hop) {
        from(hop);
        super.addRun(memory, offset, length, packets, hop);
    }

    @Override
    boolean addFolded(ByteBuffer header, ByteBuffer memory, int offset, int length, int packets, RouteCacheEntry hop) {
        from(hop);
        return super.addFolded(header, memory, offset, length, packets, hop);
    }

    @Override
    void answer(Packet packet, Arrival to) {
        sender.from(to.ownHigh(), to.ownLow(), to.ownDevice());
        super.answer(packet, to);
    }
}
