package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.routing.Addresses;
import org.tamanoir.service.Allowance;
import org.tamanoir.transport.UdpHeaders;

/**
 * What may still leave in reaction to the datagram that a service has in hand, as {@link UdpBounds} say. Each packet,
 * in and out, counts with the headers of UDP and of the datagram's IP, so that many small ones are no way around the
 * bound.
 * Once a packet was refused nothing more of the reaction leaves: a part of it would be of no use. What is paid for as a
 * whole beforehand ({@link #prepay}) leaves as a whole, or is refused and nothing is lost.
 *
 * <p>A service may collect datagrams and send one packet for many: what it consumes counts for later reactions, up to
 * the bound of one. So the node sends no more than {@code growth} times what it got, over any time. What a service
 * sends from a timer is no reaction. What is to leave later on account of this datagram takes its part with it
 * ({@link #keep}), so that no other datagram pays for it, and it for none.
 *
 * <p>Thread contract: the service's thread.
 */
final class UdpReaction implements Allowance {
    private static final Logger LOG = LoggerFactory.getLogger(UdpReaction.class);

    private final ServiceDefinition definition;
    private final PacketSource source;
    private final long growth;
    private final long bytes;
    private final int answerGrowth;
    private boolean told;
    private boolean isOpen;
    /** Of the datagram in hand. */
    private int headerBytes = UdpHeaders.IPV4_BYTES;

    private long own;

    private long spent;
    /** Of {@link #own} and {@link #kept} together, less what was spent. */
    private long onwardLeft;

    private long answersLeft;
    /** What may come back from the far side of a gateway, beyond {@link UdpBounds#ANSWER_BYTES} and {@link #answersLeft}. */
    private long farAnswersLeft;
    /** Of datagrams that were consumed. */
    private long kept;

    private boolean wasConsumed;
    /** A packet that was to go onward was refused. */
    private boolean isRefused;
    /** What is kept on account of the datagram in hand, and has its part of the bytes; null while nothing is. */
    private @Nullable KeptAllowance shared;
    /** What the datagram in hand gave there and has not taken out again: the rest there is of others. */
    private long givenOnward;

    private long givenAnswers;
    /** Paid for by {@link #prepay} and not sent yet, since the datagram is in hand: what goes on itself leaves last. */
    private long prepaid;

    UdpReaction(UdpBounds bounds, ServiceDefinition definition, PacketSource source) {
        this.definition = definition;
        this.source = source;
        growth = bounds.growthOf(definition);
        bytes = bounds.bytes();
        answerGrowth = bounds.answerGrowth();
    }

    /** Begins with a datagram of this length and such headers, which the service gets next. */
    void begin(int length, int headers) {
        headerBytes = headers;
        long had = length + headers;
        long answers = Math.min(UdpBounds.ANSWER_BYTES + headers, had * answerGrowth);
        begin(had * growth, answers, had * answerGrowth - answers);
    }

    private void begin(long onward, long answers, long farAnswers) {
        kept = wasConsumed ? onwardLeft : Math.min(kept, onwardLeft);
        isRefused = onward < 0;
        own = Math.min(bytes, Math.max(0, onward));
        spent = 0;
        onwardLeft = Math.min(bytes, kept + own);
        shared = null;
        prepaid = 0;
        answersLeft = answers;
        farAnswersLeft = farAnswers;
        isOpen = true;
    }

    /** Returns whether a service has a datagram in hand. */
    boolean isOpen() {
        return isOpen;
    }

    /** Ends the service's part; what it made of the packet itself may still be asked for. */
    void end(boolean consumed) {
        isOpen = false;
        wasConsumed = consumed;
    }

    /** Remembers what may still leave in reaction to the datagram, which is held; what consumed ones left stays here. */
    void hold(Suspended held) {
        KeptAllowance with = shared;
        long left = with == null ? ownLeft() : with.takeUpTo(false, givenOnward);
        held.onwardLeft = isRefused ? -1 : left;
        held.answersLeft = with == null ? answersLeft : with.takeUpTo(true, givenAnswers);
        held.headerBytes = headerBytes;
        held.farAnswersLeft = farAnswersLeft;
    }

    /** Goes on with a datagram that was held, with what was left to it, and no more. */
    void resume(Suspended held, boolean consumed) {
        headerBytes = held.headerBytes;
        begin(held.onwardLeft, held.answersLeft, held.farAnswersLeft);
        end(consumed);
    }

    /** Returns whether a packet of this length may go onward, and counts it. */
    boolean admitsOnward(int length) {
        return admits(length, false);
    }

    /** Returns whether a packet of this length may go back to the datagram's source, and counts it. */
    boolean admitsAnswer(int length) {
        return admits(length, true);
    }

    private boolean admits(int length, boolean isAnswer) {
        long cost = length + headerBytes;
        if (prepaid >= cost) {
            prepaid -= cost;
            return true;
        }
        if (isAnswer ? pay(1, length, true) : !isRefused && pay(1, length, false)) {
            return true;
        }
        if (isAnswer) {
            answersLeft = 0;
        } else {
            isRefused = true; // What consumed datagrams have left stays.
        }
        return false;
    }

    /** Pays for packets out of what the datagram in hand has left; false, and nothing is taken, if it cannot. */
    private boolean pay(int packets, long length, boolean isAnswer) {
        long cost = length + (long) packets * headerBytes;
        if (shared != null && (isAnswer ? givenAnswers : givenOnward) >= cost && shared.pay(isAnswer, cost)) {
            givenAnswers -= isAnswer ? cost : 0;
            givenOnward -= isAnswer ? 0 : cost;
            return true;
        }
        boolean isPaid = (isAnswer ? answersLeft : onwardLeft) >= cost;
        if (isPaid && isAnswer) {
            answersLeft -= cost;
        } else if (isPaid) {
            onwardLeft -= cost;
            spent += cost;
        }
        return isPaid;
    }

    // ---- what is kept -------------------------------------------------------------------------------------------

    @Override
    public Allowance keep() {
        if (!isOpen) {
            return FREE; // A task, which no datagram has caused.
        }
        return shared != null ? shared : keepIn(new KeptAllowance(bytes), 1);
    }

    @Override
    public Allowance join(Allowance other, long holding) {
        return keep().join(other, holding);
    }

    /** Moves what the datagram in hand has left to what is kept of others, and shares that; returns it. */
    KeptAllowance keepIn(KeptAllowance to, long holding) {
        if (!isOpen) {
            return to;
        }
        if (shared != null) {
            return to.join(shared, holding);
        }
        givenOnward = isRefused ? 0 : ownLeft();
        givenAnswers = answersLeft;
        to.add(givenOnward, givenAnswers, holding, source);
        shared = to;
        kept -= Math.max(0, spent - own);
        onwardLeft = kept;
        own = 0;
        spent = 0;
        answersLeft = 0;
        return to;
    }

    /** Returns what the datagram in hand itself has left: what it causes is taken from its own first. */
    private long ownLeft() {
        return Math.max(0, own - spent);
    }

    @Override
    public boolean prepay(
            Allowance onAccountOf, Packet like, @Nullable InetSocketAddress destination, int packets, long bytes) {
        boolean isPaid;
        if (destination != null) {
            InetAddress to = destination.getAddress();
            isPaid = prepay(onAccountOf, Addresses.high(to), Addresses.low(to), destination.getPort(), packets, bytes);
        } else if (like.hasInternetDestination()) {
            isPaid = prepay(
                    onAccountOf, like.destinationHigh(), like.destinationLow(), like.destinationPort(), packets, bytes);
        } else {
            isPaid = prepay(onAccountOf, 0, 0, 0, packets, bytes);
        }
        if (!isPaid) {
            tellOnce();
        }
        return isPaid;
    }

    /**
     * Has packets of so many bytes in all, that are sent next, be charged to an allowance: all of them, or false.
     *
     * @param onAccountOf this: the datagram in hand
     */
    boolean prepay(Allowance onAccountOf, long high, long low, int port, int packets, long length) {
        boolean isPaid;
        if (onAccountOf == FREE || onAccountOf == this && !isOpen) {
            isPaid = true;
        } else if (onAccountOf == this) {
            boolean isAnswer = source.isFrom(high, low, port);
            isPaid = (isAnswer || !isRefused) && pay(packets, length, isAnswer);
        } else if (onAccountOf instanceof KeptAllowance kept) {
            isPaid = kept.pay(high, low, port, packets, length);
        } else {
            throw new IllegalArgumentException(
                    "an allowance of " + onAccountOf.getClass().getName() + ": take the one that allowance() returns");
        }
        if (isPaid && isOpen) { // In tasks nobody asks.
            prepaid += length + (long) packets * headerBytes;
        }
        return isPaid;
    }

    /** Takes what is left of what may go back: a far side that answers has it from now on. */
    long takeAnswers() {
        long left = answersLeft + farAnswersLeft + (shared == null ? 0 : shared.takeUpTo(true, givenAnswers));
        answersLeft = 0;
        givenAnswers = 0;
        farAnswersLeft = 0;
        return left;
    }

    /** Returns what may go back for a datagram of this length and such headers that no service has had. */
    long answersTo(int length, int headers) {
        return (long) answerGrowth * (length + headers);
    }

    /** Returns whether a packet may go to this address, onward or back to the datagram's source, and counts it. */
    boolean admits(PacketSource source, long high, long low, int port, int length) {
        return source.isFrom(high, low, port) ? admitsAnswer(length) : admitsOnward(length);
    }

    /** Tells in the log that something was refused; once an instance, since it may happen with each packet. */
    void tellOnce() {
        if (!told) {
            told = true;
            LOG.warn(
                    "service {}: a datagram caused more than {} times its bytes, or {} bytes, or {} times in answers: "
                            + "dropped as AMPLIFICATION; limits.udp-* bound it",
                    definition.label(),
                    growth,
                    bytes,
                    answerGrowth);
        }
    }
}
