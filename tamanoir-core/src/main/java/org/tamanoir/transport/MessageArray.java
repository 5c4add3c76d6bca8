package org.tamanoir.transport;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An array of struct mmsghdr outside the heap, for recvmmsg(2) and sendmmsg(2), with the iovecs, addresses and
 * control messages that it points to. Layouts of 64-bit little-endian Linux (x86-64, aarch64), offsets in bytes:
 *
 * <pre>
 * mmsghdr (64)                      iovec (16)          sockaddr_in (16)       sockaddr_in6 (28)
 *    0  msg_name        pointer        0  base pointer     0  family   u16        0  family    u16
 *    8  msg_namelen     u32            8  len   u64        2  port     u16 BE     2  port      u16 BE
 *   16  msg_iov         pointer                            4  address  4 bytes   4  flowinfo  u32 BE
 *   24  msg_iovlen      u64         cmsghdr (16)           8  zero     8 bytes   8  address   16 bytes
 *   32  msg_control     pointer        0  len   u64                              24  scope_id  u32
 *   40  msg_controllen  u64            8  level i32
 *   48  msg_flags       i32           12  type  i32
 *   56  msg_len         u32           16  data, padded to a multiple of 8
 * </pre>
 *
 * The first 56 bytes of mmsghdr are the msghdr. Control messages: UDP_SEGMENT (u16), IP_TOS and IPV6_TCLASS (int),
 * IP_PKTINFO and IPV6_PKTINFO out; in UDP_GRO (int), of sockets on the wildcard address IP_PKTINFO or IPV6_PKTINFO, and of
 * sockets that receive in transit those of {@link #TRANSIT_CONTROL_BYTES}, in the order in which the kernel writes them.
 *
 * <pre>
 * in_pktinfo (12)                                       in6_pktinfo (20)
 *    0  interface            i32                           0  address    16 bytes
 *    4  this host's address  4 bytes                      16  interface  i32
 *    8  address in header    4 bytes
 * </pre>
 *
 * <p>Thread contract: one thread at a time.
 */
final class MessageArray {
    private static final int MESSAGE_BYTES = 64;
    private static final int IOVEC_BYTES = 16;
    private static final int NAME_STRIDE_BYTES = 32;
    /** Room for one control message of up to 8 bytes, CMSG_SPACE: enough to send, and to receive what UDP_GRO joins. */
    static final int CONTROL_SPACE_BYTES = 24;
    /** What is sent with one: UDP_SEGMENT, and IP_TOS or IPV6_TCLASS. */
    static final int SENT_CONTROL_BYTES = 2 * CONTROL_SPACE_BYTES;
    /** The larger IPV6_PKTINFO, CMSG_SPACE(20): where a datagram was sent, or leaves from. */
    private static final int PACKET_INFO_BYTES = 40;
    /** What is sent with one of a socket on the wildcard address: the same, and its source. */
    static final int SOURCED_CONTROL_BYTES = SENT_CONTROL_BYTES + PACKET_INFO_BYTES;
    /** What such a socket receives: UDP_GRO, and where the datagram was sent. */
    static final int WILDCARD_CONTROL_BYTES = CONTROL_SPACE_BYTES + PACKET_INFO_BYTES;
    /** Overflows, mark, UDP_GRO, TTL and TOS of 24 bytes each, and where the datagram was sent. */
    static final int TRANSIT_CONTROL_BYTES = 5 * CONTROL_SPACE_BYTES + PACKET_INFO_BYTES;
    /** The same of a plain datagram, and in place of IPV6_PKTINFO the address with its port, of 48. */
    static final int PLAIN_CONTROL_BYTES = 5 * CONTROL_SPACE_BYTES + 48;

    private static final int CONTROL_HEADER_BYTES = 16;
    private static final int SEGMENT_CONTROL_BYTES = 18; // CMSG_LEN(sizeof(u16))
    private static final int INT_CONTROL_BYTES = 20; // CMSG_LEN(sizeof(int))

    private static final int NAME_LENGTH = 8;
    private static final int IOV = 16;
    private static final int IOV_LENGTH = 24;
    private static final int CONTROL = 32;
    private static final int CONTROL_LENGTH = 40;
    private static final int LENGTH = 56;

    static final int SOCKADDR_IN_BYTES = 16;
    static final int SOCKADDR_IN6_BYTES = 28;

    private final ByteBuffer memory;
    private final long address;
    private final int iovecs;
    private final int names;
    private final int controls;
    private final int controlBytes;
    private final int controlStride;

    MessageArray(int messages, int iovecCount) {
        this(messages, iovecCount, CONTROL_SPACE_BYTES);
    }

    MessageArray(int messages, int iovecCount, int controlBytes) {
        this.controlBytes = controlBytes;
        controlStride = controlBytes + 31 & -32;
        iovecs = messages * MESSAGE_BYTES;
        names = iovecs + iovecCount * IOVEC_BYTES;
        controls = names + messages * NAME_STRIDE_BYTES;
        memory = allocate(controls + messages * controlStride);
        address = addressOf(memory);
        for (int m = 0; m < messages; m++) {
            int message = m * MESSAGE_BYTES;
            memory.putLong(message, address + name(m));
            memory.putLong(message + CONTROL, address + control(m));
        }
    }

    static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns where a direct buffer's index 0 lies. Allocates: not for every packet. */
    static long addressOf(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    long addressOfMessage(int m) {
        return address + (long) m * MESSAGE_BYTES;
    }

    private int name(int m) {
        return names + m * NAME_STRIDE_BYTES;
    }

    private int control(int m) {
        return controls + m * controlStride;
    }

    void setIovec(int i, long start, long bytes) {
        int iovec = iovecs + i * IOVEC_BYTES;
        memory.putLong(iovec, start);
        memory.putLong(iovec + 8, bytes);
    }

    long iovecStart(int i) {
        return memory.getLong(iovecs + i * IOVEC_BYTES);
    }

    long iovecBytes(int i) {
        return memory.getLong(iovecs + i * IOVEC_BYTES + 8);
    }

    void setPayload(int m, int firstIovec, int count) {
        int message = m * MESSAGE_BYTES;
        memory.putLong(message + IOV, address + iovecs + (long) firstIovec * IOVEC_BYTES);
        memory.putLong(message + IOV_LENGTH, count);
    }

    void setName(int m, boolean v6, long high, long low, int port, int scope) {
        memory.putInt(m * MESSAGE_BYTES + NAME_LENGTH, putSockaddr(memory, name(m), v6, high, low, port, scope));
    }

    void copyName(int from, int to, boolean v6) {
        int source = name(from);
        int target = name(to);
        for (int i = 0; i < NAME_STRIDE_BYTES; i += 8) {
            memory.putLong(target + i, memory.getLong(source + i));
        }
        memory.putInt(to * MESSAGE_BYTES + NAME_LENGTH, v6 ? SOCKADDR_IN6_BYTES : SOCKADDR_IN_BYTES);
    }

    /**
     * Says how a message is sent.
     *
     * @param segmentBytes the kernel cuts it into datagrams of so many; 0 leaves it whole
     * @param trafficOctet IPv4 TOS or IPv6 traffic class; 0 leaves the socket's
     */
    void setControls(int m, boolean v6, int segmentBytes, int trafficOctet) {
        int at = control(m);
        if (segmentBytes != 0) {
            at = putControl(at, SEGMENT_CONTROL_BYTES, LibC.SOL_UDP, LibC.UDP_SEGMENT, segmentBytes);
        }
        if (trafficOctet != 0) {
            at = v6
                    ? putControl(at, INT_CONTROL_BYTES, LibC.IPPROTO_IPV6, LibC.IPV6_TCLASS, trafficOctet)
                    : putControl(at, INT_CONTROL_BYTES, LibC.IPPROTO_IP, LibC.IP_TOS, trafficOctet);
        }
        memory.putLong(m * MESSAGE_BYTES + CONTROL_LENGTH, at - control(m));
    }

    /** Has a message leave from this address of the host; behind {@link #setControls}. */
    void addSource(int m, boolean v6, long high, long low, int device) {
        int lengthAt = m * MESSAGE_BYTES + CONTROL_LENGTH;
        int at = control(m) + (int) memory.getLong(lengthAt);
        int data = at + CONTROL_HEADER_BYTES;
        if (v6) {
            putControl(at, CONTROL_HEADER_BYTES + 20, LibC.IPPROTO_IPV6, LibC.IPV6_PKTINFO, Long.reverseBytes(high));
            memory.putLong(data + 8, Long.reverseBytes(low));
            memory.putInt(data + 16, device);
        } else {
            putControl(at, CONTROL_HEADER_BYTES + 12, LibC.IPPROTO_IP, LibC.IP_PKTINFO, 0);
            memory.putInt(data + 4, Integer.reverseBytes((int) low));
            memory.putInt(data + 8, 0);
        }
        memory.putLong(lengthAt, at + (v6 ? PACKET_INFO_BYTES : CONTROL_HEADER_BYTES + 16) - control(m));
    }

    /** Returns where the next one is to stand. */
    private int putControl(int at, int bytes, int level, int type, long value) {
        memory.putLong(at, bytes);
        memory.putInt(at + 8, level);
        memory.putInt(at + 12, type);
        memory.putLong(at + 16, value);
        return at + CONTROL_SPACE_BYTES;
    }

    /** Undoes what recvmmsg wrote into the lengths; the flags it sets anew by itself. */
    void prepareToReceive(int m) {
        int message = m * MESSAGE_BYTES;
        memory.putInt(message + NAME_LENGTH, NAME_STRIDE_BYTES);
        memory.putLong(message + CONTROL_LENGTH, controlBytes);
    }

    int length(int m) {
        return memory.getInt(m * MESSAGE_BYTES + LENGTH);
    }

    /** Returns the bytes of each datagram of those that the kernel joined into this message; 0 when it joined none. */
    int groSegment(int m) {
        return controlInt(m, LibC.SOL_UDP, LibC.UDP_GRO);
    }

    /** Returns the number that a control message brings, an int or one byte; 0 when there is none. */
    int controlInt(int m, int level, int type) {
        int at = controlData(m, level, type);
        if (at == 0) {
            return 0;
        }
        boolean isInt = memory.getLong(at - CONTROL_HEADER_BYTES) >= CONTROL_HEADER_BYTES + 4;
        return isInt ? memory.getInt(at) : memory.get(at) & 0xFF;
    }

    /** Returns the upper 64 bits of where the datagram was sent, of packet information; 0 for IPv4, and when there is none. */
    long destinationHigh(int m) {
        int at = controlData(m, LibC.IPPROTO_IPV6, LibC.IPV6_PKTINFO);
        return at == 0 ? 0 : Long.reverseBytes(memory.getLong(at));
    }

    /** Returns the lower 64 bits; 0 when there is no packet information. */
    long destinationLow(int m) {
        int v4 = controlData(m, LibC.IPPROTO_IP, LibC.IP_PKTINFO);
        if (v4 != 0) {
            return UdpAddress.v4(Integer.reverseBytes(memory.getInt(v4 + 8))); // behind interface and local address
        }
        int v6 = controlData(m, LibC.IPPROTO_IPV6, LibC.IPV6_PKTINFO);
        return v6 == 0 ? 0 : Long.reverseBytes(memory.getLong(v6 + 8));
    }

    /** Returns the upper 64 bits of the address that answers leave from; 0 for IPv4, and when there is no packet information. */
    long ownHigh(int m) {
        long high = destinationHigh(m);
        return isMulticast(high) ? 0 : high;
    }

    /** Returns the lower 64 bits; 0 when there is no packet information. */
    long ownLow(int m) {
        int v4 = controlData(m, LibC.IPPROTO_IP, LibC.IP_PKTINFO);
        if (v4 != 0) {
            int own = Integer.reverseBytes(memory.getInt(v4 + 4)); // Not what the header says: that may be a broadcast.
            return own == 0 ? 0 : UdpAddress.v4(own);
        }
        return isMulticast(destinationHigh(m)) ? 0 : destinationLow(m);
    }

    /** Returns the interface that a message to or from a link-local address of IPv6 came in by; 0 for others. */
    int ownDevice(int m) {
        int v6 = controlData(m, LibC.IPPROTO_IPV6, LibC.IPV6_PKTINFO);
        return v6 != 0 && (UdpAddress.isLinkLocal(destinationHigh(m)) || UdpAddress.isLinkLocal(addressHigh(m)))
                ? memory.getInt(v6 + 16)
                : 0;
    }

    private static boolean isMulticast(long high) {
        return high >>> 56 == 0xFF;
    }

    /** Returns the index of the sockaddr where a plain datagram was sent, in {@link #memory}; 0 when it is not told. */
    int originalDestination(int m) {
        int v4 = controlData(m, LibC.IPPROTO_IP, LibC.IP_RECVORIGDSTADDR);
        return v4 != 0 ? v4 : controlData(m, LibC.IPPROTO_IPV6, LibC.IPV6_RECVORIGDSTADDR);
    }

    /** Returns the memory that {@link #originalDestination} points into. */
    ByteBuffer memory() {
        return memory;
    }

    /** Returns the index of what a control message brings; 0 when there is none such. */
    private int controlData(int m, int level, int type) {
        int at = control(m);
        int end = at + (int) Math.min(controlBytes, memory.getLong(m * MESSAGE_BYTES + CONTROL_LENGTH));
        while (end - at > CONTROL_HEADER_BYTES) {
            long bytes = memory.getLong(at);
            if (bytes <= CONTROL_HEADER_BYTES || bytes > end - at) {
                return 0; // cut off
            }
            if (memory.getInt(at + 8) == level && memory.getInt(at + 12) == type) {
                return at + CONTROL_HEADER_BYTES;
            }
            at += (int) bytes + 7 & -8;
        }
        return 0;
    }

    long addressHigh(int m) {
        return sockaddrHigh(memory, name(m));
    }

    long addressLow(int m) {
        return sockaddrLow(memory, name(m));
    }

    int port(int m) {
        return sockaddrPort(memory, name(m));
    }

    /** Returns the bytes that the address takes. */
    static int putSockaddr(ByteBuffer memory, int at, boolean v6, long high, long low, int port, int scope) {
        memory.putShort(at, (short) (v6 ? LibC.AF_INET6 : LibC.AF_INET));
        memory.putShort(at + 2, Short.reverseBytes((short) port));
        if (!v6) {
            memory.putInt(at + 4, Integer.reverseBytes((int) low));
            memory.putLong(at + 8, 0);
            return SOCKADDR_IN_BYTES;
        }
        memory.putInt(at + 4, 0);
        memory.putLong(at + 8, Long.reverseBytes(high));
        memory.putLong(at + 16, Long.reverseBytes(low));
        memory.putInt(at + 24, UdpAddress.isLinkLocal(high) ? scope : 0);
        return SOCKADDR_IN6_BYTES;
    }

    static long sockaddrHigh(ByteBuffer memory, int at) {
        return memory.getShort(at) == LibC.AF_INET6 ? Long.reverseBytes(memory.getLong(at + 8)) : 0;
    }

    static long sockaddrLow(ByteBuffer memory, int at) {
        return memory.getShort(at) == LibC.AF_INET6
                ? Long.reverseBytes(memory.getLong(at + 16))
                : UdpAddress.v4(Integer.reverseBytes(memory.getInt(at + 4)));
    }

    static int sockaddrPort(ByteBuffer memory, int at) {
        return Short.toUnsignedInt(Short.reverseBytes(memory.getShort(at + 2)));
    }
}
