package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Allowance;

/**
 * What may still leave on account of datagrams that a service has taken in and keeps. Copies of a message share one, and
 * several become one where a message is made of many: each then points at the one that has what is left.
 *
 * <p>Thread contract: any thread, under one lock for all, which is held for some tens of instructions, once or twice a
 * message that a service keeps. Only the service's thread pays.
 */
final class KeptAllowance implements Allowance {
    private static final Object LOCK = new Object();

    /** Bytes that one datagram may cause. */
    private final long limit;

    private long onward;
    private long answers;
    /** Of the datagram that came last: where it says that it came from, and the bytes of its headers of IP and UDP. */
    private long sourceHigh;

    private long sourceLow;
    private int sourcePort;
    private int headerBytes;
    /** Has what this had; null = this has it itself. */
    private @Nullable KeptAllowance joined;

    KeptAllowance(long limit) {
        this.limit = limit;
    }

    @Override
    public Allowance keep() {
        return this;
    }

    @Override
    public Allowance join(Allowance other, long holding) {
        if (other instanceof UdpReaction inHand) {
            return inHand.keepIn(this, holding);
        }
        return other instanceof KeptAllowance kept ? join(kept, holding) : this;
    }

    @Override
    public boolean prepay(
            Allowance onAccountOf, Packet like, @Nullable InetSocketAddress destination, int packets, long bytes) {
        throw new UnsupportedOperationException(
                "prepay() of an allowance that is kept: ask that of the packet in hand");
    }

    KeptAllowance join(KeptAllowance other, long holding) {
        synchronized (LOCK) {
            KeptAllowance mine = root();
            KeptAllowance theirs = other.root();
            if (mine != theirs) {
                theirs.joined = mine;
                mine.add(theirs.onward, theirs.answers, holding);
                mine.setSource(theirs.sourceHigh, theirs.sourceLow, theirs.sourcePort, theirs.headerBytes);
            }
            return mine;
        }
    }

    /** Returns the one that has what is left; under the lock. */
    private KeptAllowance root() {
        KeptAllowance root = this;
        while (root.joined != null) {
            root = root.joined;
        }
        if (joined != null) {
            joined = root;
        }
        return root;
    }

    /** Adds what a datagram from there has left. */
    void add(long moreOnward, long moreAnswers, long holding, PacketSource from) {
        synchronized (LOCK) {
            KeptAllowance root = root();
            root.add(moreOnward, moreAnswers, holding);
            from.tellSource(root);
        }
    }

    private void add(long moreOnward, long moreAnswers, long holding) {
        long most = limit * Math.max(1, holding);
        onward = Math.max(onward, Math.min(most, onward + moreOnward));
        answers = Math.max(answers, Math.min(most, answers + moreAnswers));
    }

    /** Takes note where the datagram that is added says that it came from; for {@link PacketSource#tellSource}. */
    void setSource(long high, long low, int port, int headerBytes) {
        sourceHigh = high;
        sourceLow = low;
        sourcePort = port;
        this.headerBytes = headerBytes;
    }

    /** Pays for packets of so many bytes in all, and their headers; false, and nothing is taken, if it cannot. */
    boolean pay(long high, long low, int port, int packets, long bytes) {
        synchronized (LOCK) {
            KeptAllowance root = root();
            boolean isAnswer = port == root.sourcePort && low == root.sourceLow && high == root.sourceHigh;
            return root.take(isAnswer, bytes + (long) packets * root.headerBytes);
        }
    }

    /** Pays for so many bytes, headers included; false, and nothing is taken, if it cannot. */
    boolean pay(boolean isAnswer, long cost) {
        synchronized (LOCK) {
            return root().take(isAnswer, cost);
        }
    }

    private boolean take(boolean isAnswer, long cost) {
        boolean isPaid = (isAnswer ? answers : onward) >= cost;
        if (isPaid && isAnswer) {
            answers -= cost;
        } else if (isPaid) {
            onward -= cost;
        }
        return isPaid;
    }

    /** Takes what may go onward, or back, out again, up to so many bytes, and returns how many. */
    long takeUpTo(boolean isAnswer, long most) {
        synchronized (LOCK) {
            KeptAllowance root = root();
            long taken = Math.min(most, isAnswer ? root.answers : root.onward);
            root.take(isAnswer, taken);
            return taken;
        }
    }
}
