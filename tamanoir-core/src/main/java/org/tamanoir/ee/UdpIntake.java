package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.UdpPort;

/**
 * Where a UDP service gives away what is not its own: packets for other services, and ports that others use too.
 *
 * <p>Thread contract: any thread.
 */
interface UdpIntake {
    /**
     * A packet that waits: a copy, and where it came from.
     *
     * @param number its place in the order of arrival, among packets of all keys
     */
    record Held(byte[] bytes, Arrival from, long number) {}

    /**
     * Gives a packet to the instance that runs the service of {@code key}, or holds it until there is one.
     *
     * @return null when it was taken, else why not
     */
    @Nullable
    DropReason deliver(long key, Packet packet, Arrival from);

    /** Returns whether packets are held for any key. */
    boolean isHolding();

    /** Takes note that an instance has handled or dropped a packet that was held. */
    void handled(Held held);

    /** Has the reception read a port, unless the node stops. */
    void readShared(UdpPort port);

    /** Returns whether the node stops, so that nobody but its service reads a port. */
    boolean isStopping();
}
