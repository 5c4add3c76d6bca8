package org.tamanoir.ee;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.transport.UdpHeaders;

/**
 * What may still leave in reaction to the datagram that a service has in hand, as {@link UdpBounds} say. Each packet,
 * in and out, counts with the headers of UDP and of the datagram's IP, so that many small ones are no way around the
 * bound.
 * Once a packet was refused nothing more of the reaction leaves: a part of it would be of no use.
 *
 * <p>A service may collect datagrams and send one packet for many: what it consumes counts for later reactions, up to
 * the bound of one. So the node sends no more than {@code growth} times what it got, over any time. What a service
 * sends from a timer is no reaction.
 *
 * <p>Thread contract: the service's thread.
 */
final class UdpReaction {
    private static final Logger LOG = LoggerFactory.getLogger(UdpReaction.class);

    private final ServiceDefinition definition;
    private final long growth;
    private final long bytes;
    private final int answerGrowth;
    private boolean told;
    private boolean isOpen;
    /** Of the datagram in hand. */
    private int headerBytes = UdpHeaders.IPV4_BYTES;

    private long onwardLeft;
    private long answersLeft;
    /** What may come back from the far side of a gateway, beyond {@link UdpBounds#ANSWER_BYTES} and {@link #answersLeft}. */
    private long farAnswersLeft;
    /** Of datagrams that were consumed. */
    private long kept;

    private boolean wasConsumed;

    UdpReaction(UdpBounds bounds, ServiceDefinition definition) {
        this.definition = definition;
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
        long left = Math.max(0, onwardLeft);
        kept = wasConsumed ? left : Math.min(kept, left);
        onwardLeft = onward < 0 ? onward : Math.min(bytes, kept + onward);
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
        held.onwardLeft = onwardLeft < 0 ? onwardLeft : Math.max(0, onwardLeft - kept);
        held.answersLeft = answersLeft;
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
        onwardLeft = take(onwardLeft, length);
        return onwardLeft >= 0;
    }

    /** Returns whether a packet of this length may go back to the datagram's source, and counts it. */
    boolean admitsAnswer(int length) {
        answersLeft = take(answersLeft, length);
        return answersLeft >= 0;
    }

    /** Takes what is left of what may go back: a far side that answers has it from now on. */
    long takeAnswers() {
        long left = Math.max(0, answersLeft) + farAnswersLeft;
        answersLeft = 0;
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

    private long take(long left, int length) {
        long rest = left - length - headerBytes;
        return left < 0 || rest < 0 ? -1 : rest;
    }
}
