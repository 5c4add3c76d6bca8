package org.tamanoir.gateway.udp;

import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Platform;
import org.tamanoir.routing.Addresses;

/** Flows that one thread has found, so that the next datagram of each takes no lock. That thread. */
final class RememberedFlows {
    private static final int SLOTS = 1 << 10;

    private final @Nullable GatewayFlow[] slots = new @Nullable GatewayFlow[SLOTS];
    private final Lookup lookup;
    private final Platform platform;

    /** Finds a flow under a lock; null where there is none, and no room for another. */
    interface Lookup {
        @Nullable
        GatewayFlow find(long high, long low, int port, long ownHigh, long ownLow, int ownDevice, long nowNs);
    }

    RememberedFlows(Lookup lookup, Platform platform) {
        this.platform = platform;
        this.lookup = lookup;
    }

    @Nullable
    GatewayFlow of(long high, long low, int port, long ownHigh, long ownLow, int ownDevice) {
        int slot = (int) (Addresses.hash(high, low, port) >>> 54);
        GatewayFlow known = slots[slot];
        if (known == null || known.isClosed() || !known.isOf(high, low, port, ownHigh, ownLow)) {
            known = lookup.find(high, low, port, ownHigh, ownLow, ownDevice, platform.nanoTime());
            slots[slot] = known;
        }
        return known;
    }
}
