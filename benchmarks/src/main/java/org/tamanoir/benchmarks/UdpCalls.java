package org.tamanoir.benchmarks;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The few Linux calls that the UDP load needs and the JDK does not have: with UDP_SEGMENT and UDP_GRO one system
 * call moves many datagrams, so that neither sender nor sink is the bottleneck. Stateless; any thread.
 */
public final class UdpCalls {
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int SOCK_DGRAM = 2;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVBUF = 8;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int SOL_UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final int UDP_GRO = 104;
    private static final int SOCKADDR_IN_BYTES = 16;
    /** Of struct sockaddr_in6; its address is at 8, and that of sockaddr_in at 4. */
    private static final int SOCKADDR_IN6_BYTES = 28;
    // struct mmsghdr and struct iovec of 64-bit Linux.
    private static final int MMSGHDR_BYTES = 64;
    private static final int MSG_NAMELEN = 8;
    private static final int MSG_IOV = 16;
    private static final int MSG_IOVLEN = 24;
    private static final int IOVEC_BYTES = 16;

    static {
        Native.register(UdpCalls.class, "c");
    }

    private UdpCalls() {}

    private static native int socket(int domain, int type, int protocol) throws LastErrorException;

    /** Closes a socket. */
    public static native int close(int socket) throws LastErrorException;

    private static native int bind(int socket, byte[] address, int bytes) throws LastErrorException;

    private static native int connect(int socket, byte[] address, int bytes) throws LastErrorException;

    private static native int getsockname(int socket, byte[] address, int[] bytes) throws LastErrorException;

    private static native int setsockopt(int socket, int level, int name, int[] value, int bytes)
            throws LastErrorException;

    private static native long send(int socket, ByteBuffer bytes, long length, int flags) throws LastErrorException;

    private static native int sendmmsg(int socket, ByteBuffer messages, int count, int flags) throws LastErrorException;

    private static native long recv(int socket, ByteBuffer bytes, long length, int flags) throws LastErrorException;

    /** A socket that sends to this IPv4 address. */
    public static int openSender(InetSocketAddress to) {
        int socket = socket(AF_INET, SOCK_DGRAM, 0);
        connect(socket, address(to), SOCKADDR_IN_BYTES);
        return socket;
    }

    /** From now on each send leaves as datagrams of {@code segmentBytes}. */
    static void segment(int socket, int segmentBytes) {
        set(socket, SOL_UDP, UDP_SEGMENT, segmentBytes);
    }

    /** A vector for {@link #sendEach} that names the packets of this direct buffer, which must outlive it. */
    public static ByteBuffer messages(ByteBuffer packets, int packetBytes) {
        int count = packets.limit() / packetBytes;
        ByteBuffer vector =
                ByteBuffer.allocateDirect(count * (MMSGHDR_BYTES + IOVEC_BYTES)).order(ByteOrder.nativeOrder());
        long vectorAddress = Pointer.nativeValue(Native.getDirectBufferPointer(vector));
        long packetAddress = Pointer.nativeValue(Native.getDirectBufferPointer(packets));
        for (int i = 0; i < count; i++) {
            int iovec = count * MMSGHDR_BYTES + i * IOVEC_BYTES;
            vector.putLong(i * MMSGHDR_BYTES + MSG_IOV, vectorAddress + iovec);
            vector.putLong(i * MMSGHDR_BYTES + MSG_IOVLEN, 1);
            vector.putLong(iovec, packetAddress + (long) i * packetBytes);
            vector.putLong(iovec + Long.BYTES, packetBytes);
        }
        return vector;
    }

    /** Returns a socket that sends to where each datagram names. */
    static int openSender(boolean isIpv4) {
        return socket(isIpv4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    }

    /**
     * Makes room for the address of each message of a vector, which must outlive it.
     *
     * @return 28 bytes for each, the address at {@link #nameAt}
     */
    static ByteBuffer names(ByteBuffer messages, boolean isIpv4, int port) {
        int count = messages.capacity() / (MMSGHDR_BYTES + IOVEC_BYTES);
        ByteBuffer names = ByteBuffer.allocateDirect(count * SOCKADDR_IN6_BYTES);
        long address = Pointer.nativeValue(Native.getDirectBufferPointer(names));
        for (int i = 0; i < count; i++) {
            messages.putLong(i * MMSGHDR_BYTES, address + (long) i * SOCKADDR_IN6_BYTES);
            messages.putInt(i * MMSGHDR_BYTES + MSG_NAMELEN, isIpv4 ? SOCKADDR_IN_BYTES : SOCKADDR_IN6_BYTES);
            names.order(ByteOrder.nativeOrder())
                    .putShort(i * SOCKADDR_IN6_BYTES, (short) (isIpv4 ? AF_INET : AF_INET6))
                    .order(ByteOrder.BIG_ENDIAN)
                    .putShort(i * SOCKADDR_IN6_BYTES + 2, (short) port);
        }
        return names;
    }

    /** Returns where the address of a message is among {@link #names}. */
    static int nameAt(int message, boolean isIpv4) {
        return message * SOCKADDR_IN6_BYTES + (isIpv4 ? 4 : 8);
    }

    /** Sends the packets as single datagrams; how many the kernel took. */
    public static int sendEach(int socket, ByteBuffer messages) {
        return sendmmsg(socket, messages, messages.capacity() / (MMSGHDR_BYTES + IOVEC_BYTES), 0);
    }

    /** A socket bound to a free port of 127.0.0.1 that receives joined datagrams. */
    static int openSink(int receiveBufferBytes) {
        int socket = socket(AF_INET, SOCK_DGRAM, 0);
        bind(socket, address(Load.loopback(0)), SOCKADDR_IN_BYTES);
        set(socket, SOL_UDP, UDP_GRO, 1);
        try {
            set(socket, SOL_SOCKET, SO_RCVBUFFORCE, receiveBufferBytes);
        } catch (LastErrorException e) {
            // Only root may pass net.core.rmem_max.
            set(socket, SOL_SOCKET, SO_RCVBUF, receiveBufferBytes);
        }
        return socket;
    }

    /** The port that the socket is bound to. */
    static int localPort(int socket) {
        byte[] address = new byte[SOCKADDR_IN_BYTES];
        getsockname(socket, address, new int[] {SOCKADDR_IN_BYTES});
        return (address[2] & 0xFF) << 8 | address[3] & 0xFF;
    }

    /** Sends from the buffer's start; bytes that the kernel took. */
    static long send(int socket, ByteBuffer bytes) {
        return send(socket, bytes, bytes.limit(), 0);
    }

    /** Waits for a datagram, or several that were joined; their bytes together. */
    static long receive(int socket, ByteBuffer into) {
        return recv(socket, into, into.capacity(), 0);
    }

    private static void set(int socket, int level, int name, int value) {
        setsockopt(socket, level, name, new int[] {value}, Integer.BYTES);
    }

    private static byte[] address(InetSocketAddress of) {
        ByteBuffer address = ByteBuffer.allocate(SOCKADDR_IN_BYTES);
        address.order(ByteOrder.nativeOrder()).putShort((short) AF_INET);
        address.order(ByteOrder.BIG_ENDIAN)
                .putShort((short) of.getPort())
                .put(of.getAddress().getAddress());
        return address.array();
    }
}
