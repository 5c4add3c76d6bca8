package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.routing.Addresses;

/**
 * Sends the packets of one instance on: along their routes, to where the service said, or back, within what one
 * datagram may cause. Drops and counts what cannot go.
 *
 * <p>Thread contract: the service's thread.
 */
final class Dispatcher {
    private final PacketSource source;
    private final Ingress ingress;
    private final PacketPath.Owner owner;
    private final NextHops nextHops;
    private final Drops drops;
    /** Null over TCP, whose peers have shown that they get what is sent to them. */
    private final @Nullable UdpReaction reaction;
    /** The packet in hand is addressed to another host, where it goes on to without a route. */
    private boolean inTransit;
    /** Where the service said that the packet in hand shall go. */
    private @Nullable InetSocketAddress elsewhere;

    Dispatcher(
            PacketSource source,
            Ingress ingress,
            PacketPath.Owner owner,
            NextHops nextHops,
            Drops drops,
            @Nullable UdpReaction reaction) {
        this.source = source;
        this.ingress = ingress;
        this.owner = owner;
        this.nextHops = nextHops;
        this.drops = drops;
        this.reaction = reaction;
    }

    /** Says whether the packets that come into hand from now on are in transit. */
    void inTransit(boolean on) {
        inTransit = on;
    }

    boolean isInTransit() {
        return inTransit;
    }

    /** Says where the packet in hand shall go in place of its destination; null for its destination. */
    void elsewhere(@Nullable InetSocketAddress destination) {
        elsewhere = destination;
    }

    /**
     * Drops the packet in hand, which is as it came, where the rules of authentication that are in force now demand what it
     * lacks; else returns false. Asked when it comes and, since rules may change while it waits, before a service gets it
     * and before it goes on without one.
     */
    boolean refuses(Packet packet) {
        PacketGuard guard = nextHops.guard();
        if (guard == null) {
            return false;
        }
        DropReason reason = guard.check(packet, source.proof());
        source.prove(guard.proof());
        if (reason != null) {
            drops.drop(reason, packet);
            if (nextHops.isOfGateway()) {
                owner.abort(reason, "its packets must be authenticated, and those of a gateway are not");
            }
        }
        return reason != null;
    }

    /** Sends a packet on that no service has processed. */
    void depart(Packet packet) {
        if (!refuses(packet)) {
            depart(
                    packet,
                    reaction == null || !inTransit
                            ? 0
                            : reaction.answersTo(source.bytesReceived(packet), source.headerBytes()));
        }
    }

    private void depart(Packet packet, long answerBytes) {
        settle(inTransit ? ingress.forwardInTransit(packet, answerBytes) : nextHops.depart(packet), packet);
    }

    /** Sends a packet on that the service has processed. */
    void departProcessed(Packet packet) {
        if (reaction == null) {
            depart(packet, 0);
        } else if (admits(reaction, packet, inTransit ? source.bytesOnward(packet) : packet.length())) {
            depart(packet, reaction.takeAnswers());
        } else {
            dropAmplified(reaction, packet);
        }
    }

    /** Sends the packet in hand where {@link #elsewhere} said. */
    void departElsewhere(Packet packet) {
        InetSocketAddress destination = elsewhere;
        elsewhere = null;
        if (destination == null) {
            drops.drop(DropReason.NO_ROUTE, packet);
            return;
        }
        if (reaction == null || admits(reaction, packet, destination)) {
            settle(depart(packet, destination), packet);
        } else {
            dropAmplified(reaction, packet);
        }
    }

    private @Nullable DropReason depart(Packet packet, InetSocketAddress destination) {
        InetAddress address = destination.getAddress();
        return nextHops.depart(packet, Addresses.high(address), Addresses.low(address), destination.getPort());
    }

    /** Sends the packet in hand back to where it came from. */
    void answer(Packet packet) {
        if (reaction != null && !reaction.admitsAnswer(source.bytesReceived(packet))) {
            dropAmplified(reaction, packet);
            return;
        }
        packet.swapEnds();
        PacketGuard guard = nextHops.guard();
        DropReason unsigned = guard == null ? null : guard.sign(packet, null);
        if (unsigned != null) {
            drops.drop(unsigned, packet);
            return;
        }
        packet.seal();
        ingress.reply(packet);
    }

    /**
     * Drops a packet that the service made where it exceeds what the datagram in hand may cause; else returns true.
     *
     * @param destination where it is to go in place of its own
     */
    boolean admitMade(Packet made, @Nullable InetSocketAddress destination) {
        if (reaction == null || !reaction.isOpen() || admits(reaction, made, destination)) {
            return true;
        }
        dropAmplified(reaction, made);
        return false;
    }

    /** Sends a packet on that the service made; drops it where there is already a reason. */
    void departMade(@Nullable DropReason before, Packet made, @Nullable InetSocketAddress destination) {
        DropReason reason = before == null ? owner.ended() : before;
        if (reason == null) {
            reason = destination == null ? nextHops.depart(made) : depart(made, destination);
        }
        settle(reason, made);
    }

    /** Takes note that a packet has gone, or waits; or, with a reason, that it cannot go. */
    void settle(@Nullable DropReason reason, Packet packet) {
        if (reason != null) {
            refuse(reason, packet);
        }
    }

    private void refuse(DropReason reason, Packet packet) {
        DropReason ended = reason == DropReason.NEXT_HOP_UNREACHABLE ? owner.ended() : null;
        drops.drop(ended == null ? reason : ended, packet); // A stream that is over connects to nobody.
        if (ended == null && reason == DropReason.NEXT_HOP_UNREACHABLE) {
            owner.unreachable();
        } else if (ended == null && nextHops.isOfGateway()) {
            owner.abort(reason, "a packet of its gateway cannot go on");
        }
    }

    /** Returns whether the packet may leave on account of the datagram in hand, and counts it; once it may not, it never may. */
    boolean admits(UdpReaction reaction, Packet made) {
        return admits(reaction, made, made.length());
    }

    private boolean admits(UdpReaction reaction, Packet made, int bytes) {
        return made.hasInternetDestination()
                ? reaction.admits(source, made.destinationHigh(), made.destinationLow(), made.destinationPort(), bytes)
                : reaction.admitsOnward(bytes);
    }

    private boolean admits(UdpReaction reaction, Packet made, @Nullable InetSocketAddress destination) {
        if (destination == null) {
            return admits(reaction, made);
        }
        InetAddress address = destination.getAddress();
        return reaction.admits(
                source, Addresses.high(address), Addresses.low(address), destination.getPort(), made.length());
    }

    private void dropAmplified(UdpReaction reaction, Packet made) {
        drops.drop(DropReason.AMPLIFICATION, made);
        reaction.tellOnce();
    }
}
