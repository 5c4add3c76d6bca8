package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.util.Map;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;
import org.tamanoir.platform.ThreadRanks;

/**
 * A unit's place in a ring over UDP on the control network. Datagrams are authenticated, not encrypted; they carry
 * nothing of packets. Its thread sleeps while nothing is due: an idle ring takes five turns a second.
 *
 * <p>Thread contract: any thread; the sender is called on the ring's thread.
 */
public final class TokenRing implements RingPort, AutoCloseable {
    private final ControlSocket socket;
    private final Seat seat;
    private final Membership membership;

    /**
     * Takes the unit's control address, for a ring that decides by itself who is there.
     *
     * @throws IOException if it cannot be used
     */
    public TokenRing(RingSettings settings, int unit) throws IOException {
        this(settings, unit, Membership.listed());
    }

    /**
     * Takes the unit's control address and begins with the membership, which is closed with the ring.
     *
     * @throws IOException if the address cannot be used, or the membership cannot begin
     */
    public TokenRing(RingSettings settings, int unit, Membership membership) throws IOException {
        this.membership = membership;
        socket = new ControlSocket(settings, unit);
        seat = new Seat(settings.plan(), unit, RunStart.now(), socket::nowNs, socket, socket::wake);
        try {
            membership.start(seat::group);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Begins to look for the ring; the sender gets its first view when it is found. Once. */
    public void start(RingMember sender) {
        start(sender, ThreadRanks.NONE);
    }

    /** Does the same, on a thread that takes its rank here. */
    public void start(RingMember sender, ThreadRanks ranks) {
        seat.start(sender);
        socket.start(seat, ranks);
    }

    @Override
    public void pass(Token token) {
        seat.pass(token);
    }

    @Override
    public void timer(long delayNs) {
        seat.timer(delayNs);
    }

    @Override
    public void wake(long headRound) {
        seat.wake(headRound);
    }

    @Override
    public void drained() {
        seat.drained();
    }

    /** Asks the distributor for this unit's last packet: the unit leaves when all has been sent. */
    public void announceLeaving() {
        seat.announceLeaving();
    }

    public RingStatus status() {
        return seat.status();
    }

    /** Returns how many datagrams were dropped at the control socket, by reason. */
    public Map<Refusal, Long> refused() {
        return socket.refused();
    }

    /** Closes the socket at once: to the others the unit is dead, unless it has left. */
    @Override
    public void close() throws IOException {
        membership.close();
        socket.close();
    }
}
