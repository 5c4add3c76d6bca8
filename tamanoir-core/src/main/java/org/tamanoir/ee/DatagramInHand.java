package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.gateway.udp.GatewaySocket;
import org.tamanoir.offload.Outflow;
import org.tamanoir.offload.UpcallCompletions;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpHeaders;
import org.tamanoir.transport.UdpSocket;

/**
 * The packet in a UDP service's hands: where it came from, a datagram or what a TCP next hop sent back, and what the
 * level that sent it up learns of it.
 *
 * <p>Thread contract: the service's thread.
 */
final class DatagramInHand implements PacketSource {
    /** Between looks at what has not left the host. */
    private static final Duration LOOK = Duration.ofMillis(1);

    final FarSide farSide;
    final Arrival arrival;
    final Answers answers;
    private final UdpService service;
    /** Null while no levels are attached. */
    private final @Nullable UpcallPath up;

    /** By which the packet in hand came; null = it came as one. */
    private @Nullable GatewaySocket gateway;

    private final UpcallCompletions completions = new UpcallCompletions();
    private final Outflow outflow;
    /** Whether the thread looks again soon at what has not left. */
    private boolean looksAgain;

    DatagramInHand(UdpService service, UdpSocket first) {
        this.service = service;
        this.farSide = new FarSide(service);
        this.arrival = new Arrival(first);
        this.answers = new Answers(service.context.egress(), arrival);
        this.up = service.context.levels().path();
        this.outflow = service.thread.outflow();
    }

    /** Takes note of the datagrams of a batch that a level has sent up. */
    void expect(UdpBatch batch, int messages) {
        if (up != null) {
            up.expect(batch, messages, completions);
        }
    }

    /** Returns whether it matters to answers which message they answer, of those that come through this socket. */
    boolean tellsAnswers(UdpSocket socket) {
        return service.context.egress().tellsAnswers(socket);
    }

    /** Hands on packets that go together, since a packet that another sender or address has to do with is in hand next. */
    void endRun() {
        service.path.endRun();
    }

    /** Has the packets of a message be in hand from now on. */
    void take(UdpSocket socket, UdpBatch batch, int message) {
        arrival.set(socket, batch, message, up);
        answers.heard();
        seen();
    }

    /** Has a packet be in hand that comes out of the inbox, and whose arrival has been set. */
    void takeNew() {
        answers.heard();
        take();
    }

    /** Has a packet be in hand that comes out of a queue, and whose arrival has been set. */
    void take() {
        completions.add(arrival.slot());
        seen();
    }

    private void seen() {
        gateway = arrival.gateway();
        service.path.dispatcher.inTransit(arrival.isInTransit() || gateway != null);
        service.path.policies.plain(arrival.isPlain(), arrival.passesOnFailure());
    }

    /** Tells whoever sees the way of the packet in hand that it has ended while it waited. */
    void ended(DropReason reason) {
        service.context.traces().ended(arrival.trace(), reason, "while it waited for " + service.thread.name());
    }

    /** Takes note that the packet goes into a queue, or to another thread. */
    void setAside() {
        completions.remove(arrival.slot());
    }

    /** Tells the levels that everything that was in hand has left or ended, once it is out of the host's queues. */
    void complete() {
        if (!completions.report(service.context.levels().os(), outflow) && !looksAgain) {
            service.thread.due(LOOK, () -> looksAgain = false);
            looksAgain = true; // Now that it will.
        }
    }

    /** Tells the levels the same at once: the thread ends. */
    void completeLast() {
        completions.report(service.context.levels().os());
    }

    /** Tells the levels what a port has lost. */
    void tellLost(UdpSocket socket) {
        if (up != null) {
            up.tellLost(socket);
        }
    }

    /** Sends a packet back to where the one in hand came from. */
    void reply(Packet packet) {
        if (up != null && arrival.isInTransit()) {
            service.nextHops.transit(up).answer(packet, arrival);
        } else {
            service.nextHops.through(arrival.socket()).answer(packet, arrival);
        }
    }

    /** Sends the packet on to where it was sent, as {@link Ingress#forwardInTransit}. */
    @Nullable
    DropReason forwardInTransit(Packet packet, long answerBytes) {
        GatewaySocket by = gateway;
        if (by != null) {
            return by.isFor(packet)
                    ? service.nextHops.depart(packet, by, arrival, answerBytes)
                    : service.nextHops.depart(packet);
        }
        return up == null
                ? service.nextHops.depart(packet)
                : service.nextHops.transit(up).forward(packet, arrival);
    }

    @Override
    public @Nullable InetSocketAddress peer() {
        InetSocketAddress far = farSide.address();
        return far != null ? far : arrival.peer();
    }

    @Override
    public InetSocketAddress local() {
        InetSocketAddress local = farSide.local();
        return local != null ? local : arrival.local();
    }

    @Override
    public int proof() {
        return arrival.proof();
    }

    @Override
    public void prove(int proof) {
        arrival.prove(proof);
    }

    @Override
    public boolean isFrom(long high, long low, int port) {
        return arrival.isFrom(high, low, port);
    }

    @Override
    public void tellSource(KeptAllowance kept) {
        kept.setSource(arrival.high(), arrival.low(), arrival.port(), headerBytes());
    }

    @Override
    public int bytesReceived(Packet packet) {
        return gateway != null || arrival.isPlain() ? packet.payloadLength() : packet.length();
    }

    @Override
    public int headerBytes() {
        return UdpHeaders.bytes(arrival.high(), arrival.low());
    }

    @Override
    public int bytesOnward(Packet packet) {
        GatewaySocket by = gateway;
        return arrival.isPlain() || by != null && by.isFor(packet) ? packet.payloadLength() : packet.length();
    }

    /** Returns whether the packet came from this next hop. */
    boolean cameFrom(RouteCacheEntry hop) {
        InetSocketAddress far = farSide.address();
        return far != null ? !hop.isUdp && far.equals(hop.address) : arrival.isFrom(hop);
    }
}
