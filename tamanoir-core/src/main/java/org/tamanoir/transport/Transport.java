package org.tamanoir.transport;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * The network as the node sees it: makes loops and sockets.
 *
 * <p>Thread contract: any thread.
 */
public interface Transport {
    /** Returns the sockets of this host, of the kind wanted. */
    static Transport of(TransportKind wanted) {
        return of(wanted, ListeningSockets.NONE);
    }

    /** Returns the same, where sockets that receive may come from another process, and go to one: native ones alone. */
    static Transport of(TransportKind wanted, ListeningSockets shared) {
        TransportKind kind = UdpSockets.resolve(wanted);
        return new Transport() {
            @Override
            public IoLoop newLoop(BufferPool pool) {
                return new NettyLoop(kind, pool, shared);
            }

            @Override
            public IoLoop newParkingLoop(BufferPool pool) {
                return NettyLoop.parking(pool);
            }

            @Override
            public String whyNoParking() {
                return kind == TransportKind.NATIVE ? "" : explain();
            }

            @Override
            public UdpSocket bind(InetSocketAddress local) throws IOException {
                int adopted = shared.take("udp", local);
                UdpSocket socket = adopted < 0 ? UdpSockets.bind(kind, local) : NativeUdpSocket.adopt(adopted, local);
                if (socket instanceof NativeUdpSocket bound) {
                    shared.opened("udp", local, bound.fd(), bound.shared());
                }
                return socket;
            }

            @Override
            public UdpSocket connect(InetSocketAddress to) throws IOException {
                return UdpSockets.connect(kind, to);
            }

            @Override
            public String explain() {
                return UdpSockets.explain(wanted);
            }
        };
    }

    /**
     * Makes a loop that no thread owns yet.
     *
     * @param pool lends the memory that connections are read into
     */
    IoLoop newLoop(BufferPool pool);

    /** Makes likewise a loop for a virtual thread, which parks where others wait in the kernel. */
    default IoLoop newParkingLoop(BufferPool pool) {
        throw new UnsupportedOperationException(whyNoParking());
    }

    /** Returns in one line why it cannot make such loops; empty when it can. */
    default String whyNoParking() {
        return "these sockets have no loops that park";
    }

    /**
     * Binds a UDP socket, which loops of this transport can watch.
     *
     * @param local port 0 stands for any free one
     * @throws IOException in one line, with the address, if it cannot be had
     */
    UdpSocket bind(InetSocketAddress local) throws IOException;

    /**
     * Makes a UDP socket on a free port, which sends to one address and receives from there alone.
     *
     * @throws IOException in one line, with the address, if it cannot be had
     */
    default UdpSocket connect(InetSocketAddress to) throws IOException {
        throw new IOException("these sockets connect to nobody over UDP");
    }

    /** Returns in one line which kind of sockets is used, and why it is not the native one. */
    String explain();
}
