package org.tamanoir.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;

/**
 * The UDP sockets of a node: those that it receives on, and those of its own for where these cannot send.
 *
 * <p>Thread contract: any thread.
 */
public final class UdpEgressSockets {
    private static final Logger LOG = LoggerFactory.getLogger(UdpEgressSockets.class);
    private final Transport transport;
    private final List<UdpSocket> receiving = new ArrayList<>();
    private final Map<Class<?>, UdpSocket> sending = new HashMap<>();
    private UnaryOperator<UdpSocket> over = UnaryOperator.identity();
    private boolean stopping;

    public UdpEgressSockets(Transport transport) {
        this.transport = transport;
    }

    /** Has what this puts over it stand for each socket that is bound to receive on from now on. */
    public void over(UnaryOperator<UdpSocket> over) {
        this.over = over;
    }

    /** Binds a socket to receive on. */
    public UdpSocket bind(InetSocketAddress address) throws IOException {
        UdpSocket socket = over.apply(transport.bind(address));
        warnOfAnswers(socket);
        synchronized (this) {
            receiving.add(socket);
        }
        return socket;
    }

    /** Says so where answers may leave from another address than the one that was spoken to. */
    public static void warnOfAnswers(UdpSocket socket) {
        if (!socket.knowsOwnAddress()) {
            LOG.warn(
                    "UDP {}: answers leave from the address that the system chooses, which may be another than the one that "
                            + "was sent to: connected senders and firewalls do not take them; listen on each address by "
                            + "itself, or use the native transport",
                    UdpAddress.text(socket.localAddress()));
        }
    }

    /** Returns whether the node receives packets on this socket. */
    public synchronized boolean receives(UdpSocket socket) {
        return receiving.contains(socket);
    }

    /** Returns whether answers have to leave through this socket alone, or from one address of several that it has. */
    public synchronized boolean tellsAnswers(UdpSocket socket) {
        return receiving.size() > 1 || socket.localAddress().getAddress().isAnyLocalAddress();
    }

    /** Returns the sockets that the node receives on. */
    public synchronized List<UdpSocket> receiving() {
        return List.copyOf(receiving);
    }

    /**
     * Returns the socket that datagrams to {@code address} leave through: one that the node receives on, so that answers
     * find it, where it can reach that address; else one of its own. Null when none is to be had.
     */
    public synchronized @Nullable UdpSocket towards(InetAddress address) {
        for (UdpSocket socket : receiving) {
            if (reaches(socket.localAddress().getAddress(), address)) {
                return socket;
            }
        }
        UdpSocket known = sending.get(address.getClass());
        if (known == null && !stopping) {
            try {
                byte[] any = new byte[address.getAddress().length];
                known = transport.bind(new InetSocketAddress(InetAddress.getByAddress(any), 0));
                sending.put(address.getClass(), known);
            } catch (IOException e) {
                LOG.warn("no UDP socket towards {}: {}", Addresses.host(address), Causes.text(e));
            }
        }
        return known;
    }

    /** Returns whether a socket that is bound there can send to the address; a link-local one sends on its interface. */
    private static boolean reaches(InetAddress local, InetAddress address) {
        return local.getClass() == address.getClass()
                && (local.isAnyLocalAddress()
                        || (local.isLoopbackAddress() == address.isLoopbackAddress()
                                && (!address.isLinkLocalAddress()
                                        || !local.isLinkLocalAddress()
                                        || UdpAddress.scope(local) == UdpAddress.scope(address))));
    }

    /** Makes no more sockets. */
    public synchronized void stop() {
        stopping = true;
    }

    public synchronized void close() {
        receiving.forEach(UdpSocket::close);
        sending.values().forEach(UdpSocket::close);
    }
}
