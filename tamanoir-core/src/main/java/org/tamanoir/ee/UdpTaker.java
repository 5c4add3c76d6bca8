package org.tamanoir.ee;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.UdpPort;

/**
 * What runs a service on UDP: one thread, or several workers.
 *
 * <p>Thread contract: any thread.
 */
interface UdpTaker {
    /** Takes a packet; null, or why it was not taken. */
    @Nullable
    DropReason offer(Packet packet, Arrival from);

    /** Takes packets that were held, in their order; false when it takes no more. */
    boolean takeHeld(List<UdpIntake.Held> packets);

    /** Returns whether it reads ports that it alone uses, now. */
    boolean readsPorts();

    /** Passes a port to it, which reads it from now on; false when it does not. */
    boolean pass(UdpPort port);

    /** Takes no more, handles what has reached it, then ends. */
    void retire();

    /** Returns whether a later version has to wait: packets of streams may be here whose order counts. */
    boolean keepsOrder();

    /** The node stops: its instances are told, and no others come in their place. */
    default void stop() {}

    /** Has others tried now in place of its instances that did not begin. */
    void renew();

    /** Sees to it that the service is handled where its operator wants it. */
    void placeAgain();
}
