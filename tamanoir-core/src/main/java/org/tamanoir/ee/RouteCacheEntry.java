package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.routing.NextHop;
import org.tamanoir.sched.LinkPort;

/**
 * Where packets of one next hop go from one thread: all packets whose routes lead there, or where a route has no address
 * those to one destination, and where it has no port those to one port.
 *
 * <p>Thread contract: the service's thread.
 */
final class RouteCacheEntry {
    /** What the routes say; null where they say nothing, or are not asked. */
    private @Nullable NextHop nextHop;

    /** Why packets cannot go there; null when they can. */
    final @Nullable DropReason refusal;

    final @Nullable InetSocketAddress address;
    final boolean isActiveNode;
    final boolean isUdp;
    final boolean isTls;
    final long high;
    final long low;
    /** Where datagrams leave from that answer none: of a gateway's sender where he was spoken to, else where the system chooses. */
    final OwnAddress own = new OwnAddress();
    /** The largest packet that the transport, and the link, carries, in bytes. */
    int maxBytes;
    /** The way there, once there is one. */
    @Nullable
    Egress departure;
    /** The link that the next hop is reached over; null when departures to it are not scheduled. */
    @Nullable
    LinkPort link;
    /** What waits for the link, of a datagram service; null for streams. */
    @Nullable
    DatagramBacklog backlog;

    RouteCacheEntry(
            @Nullable NextHop nextHop,
            @Nullable DropReason refusal,
            @Nullable InetSocketAddress address,
            boolean isActiveNode,
            boolean isUdp,
            boolean isTls,
            long high,
            long low,
            int maxBytes) {
        this.nextHop = nextHop;
        this.refusal = refusal;
        this.address = address;
        this.isActiveNode = isActiveNode;
        this.isUdp = isUdp;
        this.isTls = isTls;
        this.high = high;
        this.low = low;
        this.maxBytes = maxBytes;
    }

    /** Returns whether all packets for it have its address as their destination. */
    boolean isDestination() {
        return nextHop == null || nextHop.address() == null;
    }

    /** Has packets go over this link. */
    void over(LinkPort port) {
        link = port;
        maxBytes = (int) Math.min(maxBytes, port.link().burst());
    }

    /** Returns whether this was made for the next hop, null = none. */
    boolean isFor(@Nullable NextHop next) {
        return next != null && (next == nextHop || next.equals(nextHop));
    }

    /** Returns whether packets of a next hop that has an address go here, when that or else they name this port. */
    boolean leadsTo(NextHop next, int port) {
        if (nextHop != next) {
            if (!next.equals(nextHop)) {
                return false;
            }
            nextHop = next;
        }
        return port() == port;
    }

    int port() {
        return address == null ? 0 : address.getPort();
    }
}
