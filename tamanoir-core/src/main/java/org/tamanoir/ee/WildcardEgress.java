package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Packets out of a socket on the wildcard address, or of one of several sockets: what goes to a sender of datagrams leaves
 * from the address, and through the socket, that {@link Answers} tell.
 */
final class WildcardEgress extends UdpEgress {
    private final UdpSocket socket;
    private final UdpSender sender;
    private final @Nullable Answers answers;
    /** Where what is added now leaves from. */
    private final OwnAddress from = new OwnAddress();

    /**
     * Makes one by a sender of its own.
     *
     * @param answers what packets answer; null where each hop's address says where they leave from
     */
    WildcardEgress(
            UdpSocket socket,
            int scope,
            UdpSender sender,
            ScratchBuffers memory,
            Traffic traffic,
            @Nullable Answers answers) {
        super(socket, scope, sender, memory, traffic);
        this.socket = socket;
        this.sender = sender;
        this.answers = answers;
    }

    @Override
    public boolean serves(RouteCacheEntry hop) {
        Arrival answered = answers == null ? null : answers.to(hop);
        return answered == null || answered.socket() == socket;
    }

    @Override
    public void tellOwn(RouteCacheEntry hop, OwnAddress own) {
        Arrival answered = answers == null ? null : answers.to(hop);
        if (answered == null) {
            own.set(hop.own);
        } else {
            own.set(answered);
        }
    }

    private void from(RouteCacheEntry hop) {
        tellOwn(hop, from);
        from(from);
    }

    private void from(OwnAddress own) {
        sender.from(own.high(), own.low(), own.device());
    }

    @Override
    public @Nullable DropReason add(ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop) {
        from(hop);
        return super.add(memory, offset, bytes, hop);
    }

    @Override
    public @Nullable DropReason addLater(
            ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop, OwnAddress own) {
        from(own);
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
