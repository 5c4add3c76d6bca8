package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PlainGenerations;
import org.tamanoir.routing.Addresses;

/**
 * UDP by recvmmsg with UDP_GRO and sendmmsg with UDP_SEGMENT. An IPv6 socket takes IPv6 alone.
 *
 * <p>Thread contract: that of {@link UdpSocket}; {@link #close} from any thread.
 */
final class NativeUdpSocket implements UdpSocket {
    /** Holds some 10 ms of datagrams at a gigabit per second and more; the kernel doubles it for its own records. */
    private static final int BUFFER_BYTES = 4 << 20;
    /** Errors of earlier datagrams that the kernel may hand to a receiver; each call clears one. */
    private static final int PENDING_ERRORS_LIMIT = 16;

    private final SharedFd fd;
    private final boolean v6;
    private final boolean segmentation;
    /** It is bound to all addresses: which one a datagram was sent to is received with it. */
    private final boolean onWildcard;

    private final InetSocketAddress local;
    private final ByteBuffer pollMemory = MessageArray.allocate(8);
    private final long pollAddress = MessageArray.addressOf(pollMemory);
    private volatile boolean inTransit;
    private volatile @Nullable PlainRoom plain;
    // Of the receiving thread.
    private int overflows;
    private int overflowsTaken;

    private NativeUdpSocket(int fd, boolean v6, InetSocketAddress local, boolean onWildcard, boolean isShared) {
        this.fd = new SharedFd(fd, isShared);
        this.v6 = v6;
        this.local = local;
        this.segmentation = getInt(fd, LibC.SOL_UDP, LibC.UDP_SEGMENT) >= 0;
        this.onWildcard = onWildcard
                && (v6
                        ? setInt(fd, LibC.IPPROTO_IPV6, LibC.IPV6_RECVPKTINFO, 1)
                        : setInt(fd, LibC.IPPROTO_IP, LibC.IP_PKTINFO, 1));
        setInt(fd, LibC.SOL_UDP, LibC.UDP_GRO, 1); // kernels before 5.0 refuse: then every datagram stands alone
        raise(fd, LibC.SO_RCVBUF, LibC.SO_RCVBUFFORCE);
        raiseSendBuffer(fd);
    }

    static void raiseSendBuffer(int fd) {
        raise(fd, LibC.SO_SNDBUF, LibC.SO_SNDBUFFORCE);
    }

    static NativeUdpSocket bind(InetSocketAddress wanted) throws IOException {
        InetAddress ip = wanted.getAddress();
        boolean v6 = ip instanceof Inet6Address;
        int type = LibC.SOCK_DGRAM | LibC.SOCK_NONBLOCK | LibC.SOCK_CLOEXEC;
        int fd = LibC.socket(v6 ? LibC.AF_INET6 : LibC.AF_INET, type, 0);
        if (fd < 0) {
            throw UdpSockets.bindFailure(wanted, LibC.strerror(Native.getLastError()));
        }
        try {
            if (v6) {
                setInt(fd, LibC.IPPROTO_IPV6, LibC.IPV6_V6ONLY, 1);
            }
            return new NativeUdpSocket(fd, v6, bindAndName(fd, wanted, v6), ip.isAnyLocalAddress(), false);
        } catch (Throwable t) {
            LibC.close(fd);
            throw t;
        }
    }

    /** Makes one that sends to this address, and receives from there, alone. */
    static NativeUdpSocket connect(InetSocketAddress to) throws IOException {
        InetAddress ip = to.getAddress();
        boolean v6 = ip instanceof Inet6Address;
        int fd = LibC.socket(
                v6 ? LibC.AF_INET6 : LibC.AF_INET, LibC.SOCK_DGRAM | LibC.SOCK_NONBLOCK | LibC.SOCK_CLOEXEC, 0);
        if (fd < 0) {
            throw UdpSockets.connectFailure(to, LibC.strerror(Native.getLastError()));
        }
        try {
            ByteBuffer memory = MessageArray.allocate(40);
            int bytes = MessageArray.putSockaddr(
                    memory, 0, v6, UdpAddress.high(ip), UdpAddress.low(ip), to.getPort(), UdpAddress.scope(ip));
            if (LibC.connect(fd, MessageArray.addressOf(memory), bytes) != 0) {
                throw UdpSockets.connectFailure(to, LibC.strerror(Native.getLastError()));
            }
            InetSocketAddress any = new InetSocketAddress(UdpAddress.anyLike(ip), 0);
            return new NativeUdpSocket(fd, v6, named(fd, memory, any), false, false);
        } catch (Throwable t) {
            LibC.close(fd);
            throw t;
        }
    }

    /** Makes one of a bound socket that another process has handed over, and may go on with. */
    static NativeUdpSocket adopt(int fd, InetSocketAddress wanted) throws IOException {
        try {
            return new NativeUdpSocket(
                    fd,
                    wanted.getAddress() instanceof Inet6Address,
                    named(fd, MessageArray.allocate(40), wanted),
                    wanted.getAddress().isAnyLocalAddress(),
                    true);
        } catch (Throwable t) {
            LibC.close(fd);
            throw t;
        }
    }

    private static InetSocketAddress bindAndName(int fd, InetSocketAddress wanted, boolean v6) throws IOException {
        InetAddress ip = wanted.getAddress();
        int scope = UdpAddress.scope(ip);
        ByteBuffer memory = MessageArray.allocate(40); // a sockaddr, and from 32 on its length
        long address = MessageArray.addressOf(memory);
        int bytes = MessageArray.putSockaddr(
                memory, 0, v6, UdpAddress.high(ip), UdpAddress.low(ip), wanted.getPort(), scope);
        if (LibC.bind(fd, address, bytes) != 0) {
            throw UdpSockets.bindFailure(wanted, LibC.strerror(Native.getLastError()));
        }
        return named(fd, memory, wanted);
    }

    private static InetSocketAddress named(int fd, ByteBuffer memory, InetSocketAddress wanted) throws IOException {
        long address = MessageArray.addressOf(memory);
        memory.putInt(32, 32);
        if (LibC.getsockname(fd, address, address + 32) != 0) {
            throw UdpSockets.bindFailure(wanted, LibC.strerror(Native.getLastError()));
        }
        return new InetSocketAddress(wanted.getAddress(), MessageArray.sockaddrPort(memory, 0));
    }

    private static int getInt(int fd, int level, int option) {
        ByteBuffer memory = MessageArray.allocate(8);
        long address = MessageArray.addressOf(memory);
        memory.putInt(4, 4);
        return LibC.getsockopt(fd, level, option, address, address + 4) == 0 ? memory.getInt(0) : -1;
    }

    static boolean setInt(int fd, int level, int option, int value) {
        ByteBuffer memory = MessageArray.allocate(4).putInt(0, value);
        return LibC.setsockopt(fd, level, option, MessageArray.addressOf(memory), 4) == 0;
    }

    /** Raises a limit beyond the system's where the process may (CAP_NET_ADMIN), up to it elsewhere. */
    private static void raise(int fd, int option, int forced) {
        boolean large = getInt(fd, LibC.SOL_SOCKET, option) >= 2 * BUFFER_BYTES;
        if (!large && !setInt(fd, LibC.SOL_SOCKET, forced, BUFFER_BYTES)) {
            setInt(fd, LibC.SOL_SOCKET, option, BUFFER_BYTES);
        }
    }

    /** Returns the descriptor; valid while {@link #shared} is acquired. */
    int fd() {
        return fd.number();
    }

    SharedFd shared() {
        return fd;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public void receiveInTransit() throws IOException {
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            int number = fd.number();
            demand(number, LibC.SOL_SOCKET, LibC.SO_RCVMARK, "SO_RCVMARK", " (needs Linux 5.19 and CAP_NET_RAW)");
            demand(number, LibC.SOL_SOCKET, LibC.SO_RXQ_OVFL, "SO_RXQ_OVFL", "");
            if (v6) {
                demand(number, LibC.IPPROTO_IPV6, LibC.IPV6_RECVPKTINFO, "IPV6_RECVPKTINFO", "");
                demand(number, LibC.IPPROTO_IPV6, LibC.IPV6_RECVHOPLIMIT, "IPV6_RECVHOPLIMIT", "");
                demand(number, LibC.IPPROTO_IPV6, LibC.IPV6_RECVTCLASS, "IPV6_RECVTCLASS", "");
            } else {
                demand(number, LibC.IPPROTO_IP, LibC.IP_PKTINFO, "IP_PKTINFO", "");
                demand(number, LibC.IPPROTO_IP, LibC.IP_RECVTTL, "IP_RECVTTL", "");
                demand(number, LibC.IPPROTO_IP, LibC.IP_RECVTOS, "IP_RECVTOS", "");
            }
            inTransit = true;
        } finally {
            fd.release();
        }
    }

    @Override
    public void receivePlain(PlainGenerations generations, int mark) throws IOException {
        receiveInTransit();
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            int number = fd.number();
            // The port too; and each datagram for itself, with room for a header in front.
            if (v6) {
                setInt(number, LibC.IPPROTO_IPV6, LibC.IPV6_RECVPKTINFO, 0);
                demand(number, LibC.IPPROTO_IPV6, LibC.IPV6_RECVORIGDSTADDR, "IPV6_RECVORIGDSTADDR", "");
            } else {
                setInt(number, LibC.IPPROTO_IP, LibC.IP_PKTINFO, 0);
                demand(number, LibC.IPPROTO_IP, LibC.IP_RECVORIGDSTADDR, "IP_RECVORIGDSTADDR", "");
            }
            setInt(number, LibC.SOL_UDP, LibC.UDP_GRO, 0);
            plain = new PlainRoom(generations, mark);
        } finally {
            fd.release();
        }
    }

    private void demand(int number, int level, int option, String name, String needs) throws IOException {
        if (!setInt(number, level, option, 1)) {
            throw new IOException("UDP " + UdpAddress.text(local) + " cannot receive in transit: " + name + ": "
                    + LibC.strerror(Native.getLastError()) + needs);
        }
    }

    @Override
    public boolean knowsOwnAddress() {
        return onWildcard || !local.getAddress().isAnyLocalAddress();
    }

    @Override
    public int takeOverflows() {
        int more = overflows - overflowsTaken;
        overflowsTaken = overflows;
        return more;
    }

    @Override
    public int sendBufferBytes() {
        if (!fd.acquire()) {
            return Integer.MAX_VALUE;
        }
        try {
            return getInt(fd.number(), LibC.SOL_SOCKET, LibC.SO_SNDBUF) / 2; // the kernel doubles what was asked for
        } finally {
            fd.release();
        }
    }

    @Override
    public UdpBatch newBatch() {
        PlainRoom room = plain;
        return new NativeUdpBatch(onWildcard, inTransit, room == null ? null : room.another());
    }

    @Override
    public UdpSender newSender() {
        return newSender(0);
    }

    @Override
    public UdpSender newSender(int scope) {
        return newSender(scope, null);
    }

    @Override
    public UdpSender newSender(UdpRefusals refusals) {
        return newSender(0, refusals);
    }

    private UdpSender newSender(int scope, @Nullable UdpRefusals refusals) {
        int by = scope == 0 ? UdpAddress.scope(local.getAddress()) : scope;
        return new NativeUdpSender(fd, v6, by, segmentation, onWildcard, refusals);
    }

    @Override
    public boolean hasUnsent() {
        return fd.hasUnsent();
    }

    @Override
    public void joinGroup(InetAddress group) throws IOException {
        // struct group_req (136 bytes): interface u32, 0 = as the routes say; from 8 on the group's sockaddr_storage.
        ByteBuffer request = MessageArray.allocate(136);
        boolean isV6 = group instanceof Inet6Address;
        MessageArray.putSockaddr(
                request, 8, isV6, UdpAddress.high(group), UdpAddress.low(group), 0, UdpAddress.scope(group));
        request.putInt(0, UdpAddress.scope(group));
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            int level = isV6 ? LibC.IPPROTO_IPV6 : LibC.IPPROTO_IP;
            long address = MessageArray.addressOf(request);
            if (LibC.setsockopt(fd.number(), level, LibC.MCAST_JOIN_GROUP, address, request.capacity()) != 0) {
                throw new IOException("UDP " + UdpAddress.text(local) + " cannot join " + Addresses.host(group) + ": "
                        + LibC.strerror(Native.getLastError()));
            }
        } finally {
            fd.release();
        }
    }

    @Override
    public int receive(UdpBatch batch) throws IOException {
        if (!(batch instanceof NativeUdpBatch slots)) {
            throw new IllegalArgumentException("batch of another kind of socket; take it from newBatch()");
        }
        if (slots.isInTransit() != inTransit) {
            throw new IllegalArgumentException("batch made before receiveInTransit(); take a new one from newBatch()");
        }
        long messages = slots.prepare();
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            for (int errors = 0; errors < PENDING_ERRORS_LIMIT; errors++) {
                int count = LibC.recvmmsg(fd.number(), messages, NativeUdpBatch.SLOTS, LibC.MSG_DONTWAIT, 0);
                if (count >= 0) {
                    slots.received(count);
                    if (inTransit && count > 0) {
                        noteOverflows(slots.overflows(count - 1));
                    }
                    return count;
                }
                int errno = Native.getLastError();
                if (errno == LibC.EAGAIN) {
                    return 0;
                }
                if (!isPassing(errno)) {
                    throw new IOException(
                            "cannot receive on UDP " + UdpAddress.text(local) + ": " + LibC.strerror(errno));
                }
            }
            return 0; // the readiness stays, and so the caller comes again
        } finally {
            fd.release();
        }
    }

    /** Notes a count of the kernel's, which leaves 0 out, and counts modulo 2^32. */
    private void noteOverflows(int count) {
        if (count - overflows > 0) {
            overflows = count;
        }
    }

    /** Returns whether it may be an error of an earlier datagram, which the kernel tells of once. */
    static boolean isPassing(int errno) {
        return errno == LibC.EINTR
                || errno == LibC.ECONNREFUSED
                || errno == LibC.ENETUNREACH
                || errno == LibC.EHOSTUNREACH;
    }

    @Override
    public boolean awaitReadable(Duration timeout) throws IOException {
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            long deadlineNs = System.nanoTime() + Poll.toNanos(timeout);
            return Poll.await(fd, pollMemory, pollAddress, LibC.POLLIN, deadlineNs) && !fd.isClosed();
        } finally {
            fd.release();
        }
    }

    private IOException closed() {
        return new IOException("UDP socket " + UdpAddress.text(local) + " is closed");
    }

    @Override
    public void close() {
        fd.close();
    }
}
