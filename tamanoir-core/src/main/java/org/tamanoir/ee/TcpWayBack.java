package org.tamanoir.ee;

import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * The way of replies and answers to the sender of a TCP stream.
 *
 * <p>Thread contract: the stream's thread.
 */
final class TcpWayBack implements StreamWays.WayBack {
    private final TcpConnection inbound;
    private final TcpEgress egress;
    private final Drops drops;
    /** Answers of the service may wait, which lie in the memory that input is read into. */
    private boolean answering;
    /** Branches get the next turn. */
    private boolean branchesFirst;

    TcpWayBack(TcpConnection inbound, TcpEgress egress, Drops drops) {
        this.inbound = inbound;
        this.egress = egress;
        this.drops = drops;
    }

    /** Adds an answer of the service. */
    void answer(Packet packet) {
        if (inbound.isOutputEnded()) {
            drops.drop(DropReason.PEER_GONE, packet);
            return;
        }
        answering = true;
        egress.add(packet);
    }

    /** Takes what next hops and branches give; those of them first that did not get the last turn. */
    void relay(StreamWays ways, TcpBranches branches) {
        if (branchesFirst) {
            branchesFirst = !branches.takeAnswers(this);
            ways.relayReplies(this);
        } else {
            branchesFirst = ways.relayReplies(this);
            branches.takeAnswers(this);
        }
        flush();
    }

    @Override
    public boolean add(Buffer buffer, int offset, int bytes) {
        if (inbound.failure() != null) {
            drops.drop(DropReason.PEER_GONE, buffer.nio(), offset, bytes);
        } else {
            egress.add(buffer, offset, bytes, 1);
        }
        return true;
    }

    @Override
    public boolean clear() {
        egress.countOut();
        return isClear();
    }

    /** Returns whether nothing waits that the sender could take. */
    boolean isClear() {
        return egress.held() == 0 || inbound.failure() != null;
    }

    @Override
    public void flush() {
        egress.flush();
        answering &= !isClear(); // Of a sender that is lost nothing is waited for.
    }

    /** Sends answers of the service; returns whether all have left. */
    boolean flushAnswers() {
        if (answering) {
            flush();
        }
        return !answering;
    }

    /** Returns how many packets the sender has taken so far. */
    long takenPackets() {
        return egress.leftPackets();
    }

    /** Watches from now on, while something waits, whether the sender takes it. */
    void watch() {
        egress.watch();
    }

    /** Returns how many packets wait to go back. */
    long held() {
        return egress.held();
    }

    /** Ends the way, in order where that can be. */
    void close(DropReason reason) {
        egress.close(reason);
    }

    /** Breaks the way, so that the sender knows. */
    void reset(DropReason reason) {
        egress.reset(reason);
    }
}
