package org.tamanoir.cluster.reflect;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import org.tamanoir.routing.Addresses;

/** The addresses of this host, as they were when they were listed; all loopback ones are among them. Any thread. */
final class OwnAddresses {
    /** Loopback ones alone. */
    static final OwnAddresses LOOPBACK = new OwnAddresses(List.of());

    /** 127.0.0.0/8, as its upper bits stand in ::ffff:a.b.c.d. */
    private static final long LOOPBACK_V4 = 0xFFFF_7FL;

    private static final int LOOPBACK_V4_SHIFT = 24;

    private final long[] highs;
    private final long[] lows;

    private OwnAddresses(List<InetAddress> all) {
        highs = all.stream().mapToLong(Addresses::high).toArray();
        lows = all.stream().mapToLong(Addresses::low).toArray();
    }

    /** Lists them. */
    static OwnAddresses ofHost() throws SocketException {
        return new OwnAddresses(NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .toList());
    }

    boolean contains(long high, long low) {
        if (high == 0 && (low >>> LOOPBACK_V4_SHIFT == LOOPBACK_V4 || low == 1)) {
            return true;
        }
        for (int i = 0; i < lows.length; i++) {
            if (lows[i] == low && highs[i] == high) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether what is sent to this address comes to this host: the unspecified one stands for loopback. */
    boolean contains(InetAddress address) {
        return address.isAnyLocalAddress() || contains(Addresses.high(address), Addresses.low(address));
    }
}
