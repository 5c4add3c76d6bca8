package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.sched.LinkPort;

/**
 * Where packets to one destination go from one thread, as the routes said when it was looked up.
 *
 * <p>Thread contract: the service's thread.
 */
final class RouteCacheEntry {
    final long destinationHigh;
    final long destinationLow;
    final int destinationPort;
    /** Why packets cannot go there; null when they can. */
    final @Nullable DropReason refusal;

    final @Nullable InetSocketAddress address;
    final boolean isActiveNode;
    final boolean isUdp;
    final boolean isTls;
    final long high;
    final long low;
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
            long destinationHigh,
            long destinationLow,
            int destinationPort,
            @Nullable DropReason refusal,
            @Nullable InetSocketAddress address,
            boolean isActiveNode,
            boolean isUdp,
            boolean isTls,
            long high,
            long low,
            int maxBytes) {
        this.destinationHigh = destinationHigh;
        this.destinationLow = destinationLow;
        this.destinationPort = destinationPort;
        this.refusal = refusal;
        this.address = address;
        this.isActiveNode = isActiveNode;
        this.isUdp = isUdp;
        this.isTls = isTls;
        this.high = high;
        this.low = low;
        this.maxBytes = maxBytes;
    }

    /** Has packets go over this link. */
    void over(LinkPort port) {
        link = port;
        maxBytes = (int) Math.min(maxBytes, port.link().burst());
    }

    boolean isFor(long high, long low, int port) {
        return destinationLow == low && destinationHigh == high && destinationPort == port;
    }

    int port() {
        return address == null ? 0 : address.getPort();
    }
}
