package org.tamanoir.service;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * What may still leave on account of datagrams that a service was given. It goes with what the service keeps of them, so
 * that this is charged to the datagrams it was made of, whatever is in hand when it leaves. Made by the node:
 * {@link Service#allowance}.
 *
 * <p>Thread contract: any thread, but for the allowance of the datagram in hand, which is the service's.
 */
public interface Allowance {
    /** Bounds nothing: what came over TCP, and what a service sends from a timer. */
    Allowance FREE = new Allowance() {
        @Override
        public Allowance keep() {
            return this;
        }

        @Override
        public Allowance join(Allowance other, long holding) {
            return other.keep();
        }

        @Override
        public boolean prepay(
                Allowance onAccountOf, Packet like, @Nullable InetSocketAddress destination, int packets, long bytes) {
            return true;
        }
    };

    /** Returns an allowance that outlasts the call; of the datagram in hand all that it has left, from now on. */
    Allowance keep();

    /**
     * Returns an allowance that has what both had; each of them stands for it from now on.
     *
     * @param holding datagrams, or messages, that are kept for it; it grows no further than that of as many datagrams
     */
    Allowance join(Allowance other, long holding);

    /**
     * Of the packet in hand: has packets that this instance sends next be charged to an allowance in place of it.
     *
     * @param onAccountOf of this instance
     * @param like a packet with the destination of those
     * @param destination where they go in place of that; null: there
     * @param bytes of all of them
     * @return false, and nothing is charged, if it does not allow for all: none should be sent then
     */
    boolean prepay(
            Allowance onAccountOf, Packet like, @Nullable InetSocketAddress destination, int packets, long bytes);
}
