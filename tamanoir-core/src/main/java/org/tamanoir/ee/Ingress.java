package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;

/**
 * The side of an instance that brings packets, and takes those that it does not send onward.
 *
 * <p>Thread contract: the service's thread.
 */
interface Ingress {
    /** Returns whether packets of another key that means this service may be this instance's from now on. */
    boolean adopts(long key);

    /** Sends a packet back to where it came from. */
    void reply(Packet packet);

    /** Returns how many packets wait to go back, or to be processed. */
    long heldBack();

    /** Returns whether packets wait before or in the instance, between batches. */
    default boolean holdsBack() {
        return heldBack() > 0;
    }

    /**
     * Gives a packet to the instance that runs another service for the same stream.
     *
     * @param other null when the node does not have it
     */
    void handOver(@Nullable ServiceDefinition other, Packet packet);

    /**
     * Sends a packet in transit on to where it was sent.
     *
     * @param answerBytes that may come back for it, where the node carries answers
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason forwardInTransit(Packet packet, long answerBytes);
}
