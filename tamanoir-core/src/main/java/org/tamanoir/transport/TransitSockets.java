package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.IOException;

/**
 * The raw sockets through which datagrams go on whose sources and destinations are other hosts': one for IPv4, one for
 * IPv6. They only send.
 *
 * <p>Thread contract: any thread; each sender has one thread.
 */
public final class TransitSockets implements AutoCloseable {
    private final SharedFd v4;
    private final SharedFd v6;

    private TransitSockets(SharedFd v4, SharedFd v6) {
        this.v4 = v4;
        this.v6 = v6;
    }

    /** Opens both, without a mark. */
    public static TransitSockets open() throws IOException {
        return open(0);
    }

    /**
     * Opens both.
     *
     * @param mark SO_MARK of what leaves; 0 = none
     * @throws IOException in one line, if raw sockets cannot be had here
     */
    public static TransitSockets open(int mark) throws IOException {
        if (UdpSockets.resolve(TransportKind.AUTO) != TransportKind.NATIVE) {
            throw new IOException("no raw sockets: " + UdpSockets.explain(TransportKind.AUTO));
        }
        SharedFd v4 = open(LibC.AF_INET, "IPv4", mark);
        try {
            return new TransitSockets(v4, open(LibC.AF_INET6, "IPv6", mark));
        } catch (IOException e) {
            v4.close();
            throw e;
        }
    }

    /** Opens a socket of IPPROTO_RAW: what is sent begins with its IP header, and nothing is ever received. */
    private static SharedFd open(int family, String name, int mark) throws IOException {
        int type = LibC.SOCK_RAW | LibC.SOCK_NONBLOCK | LibC.SOCK_CLOEXEC;
        int fd = LibC.socket(family, type, LibC.IPPROTO_RAW);
        if (fd < 0) {
            throw new IOException("no raw " + name + " socket for datagrams in transit: "
                    + LibC.strerror(Native.getLastError()) + " (needs CAP_NET_RAW)");
        }
        NativeUdpSocket.raiseSendBuffer(fd);
        if (mark != 0 && !NativeUdpSocket.setInt(fd, LibC.SOL_SOCKET, LibC.SO_MARK, mark)) {
            String why = LibC.strerror(Native.getLastError());
            LibC.close(fd);
            throw new IOException("no mark for datagrams in transit: " + why + " (needs CAP_NET_ADMIN or CAP_NET_RAW)");
        }
        return new SharedFd(fd);
    }

    /** Makes a sender over the socket of this family, for one thread. */
    public TransitSender newSender(boolean isIpv6) {
        return new TransitSender(isIpv6 ? v6 : v4, isIpv6);
    }

    @Override
    public void close() {
        v4.close();
        v6.close();
    }
}
