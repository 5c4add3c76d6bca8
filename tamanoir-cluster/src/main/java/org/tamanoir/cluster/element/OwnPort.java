package org.tamanoir.cluster.element;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import org.tamanoir.routing.Addresses;

/** Refuses what would feed itself. Any thread. */
final class OwnPort {
    private OwnPort() {}

    /**
     * Refuses an address that what is bound would receive itself.
     *
     * @param bound with its real port
     * @param what the address is, for the message
     * @throws IllegalArgumentException in one line
     */
    static void refuse(InetSocketAddress bound, String what, InetSocketAddress address) throws SocketException {
        if (address.getPort() == bound.getPort() && reaches(address.getAddress(), bound.getAddress())) {
            throw new IllegalArgumentException(what + " " + Addresses.text(address)
                    + ": is where this listens itself, packets would go round for ever; give another port");
        }
    }

    private static boolean reaches(InetAddress to, InetAddress bound) throws SocketException {
        InetAddress there = to.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : to;
        return bound.isAnyLocalAddress()
                ? there.isLoopbackAddress() || NetworkInterface.getByInetAddress(there) != null
                : there.equals(bound);
    }
}
