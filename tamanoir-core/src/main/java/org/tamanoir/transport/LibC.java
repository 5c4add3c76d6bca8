package org.tamanoir.transport;

import com.sun.jna.Native;
import com.sun.jna.Platform;

/**
 * The system calls that UDP in batches and threads in the background need, bound by JNA's direct mapping: pointers are plain longs, so a call
 * allocates nothing. After a result of -1, {@link Native#getLastError} gives errno, for the calling thread.
 *
 * <p>The numbers are those of Linux on x86-64 and aarch64 (asm-generic).
 *
 * <p>Thread contract: any thread.
 */
final class LibC {
    static final int AF_UNSPEC = 0;
    static final int AF_UNIX = 1;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_RAW = 3;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int O_CLOEXEC = 0x80000;
    static final int O_PATH = 0x200000;
    static final int F_DUPFD_CLOEXEC = 1030;

    static final int SOL_SOCKET = 1;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_PEERCRED = 17;
    static final int SO_SNDTIMEO = 21;
    static final int SO_SNDBUFFORCE = 32;
    static final int SO_RCVBUFFORCE = 33;
    static final int SO_MARK = 36;
    static final int SO_RXQ_OVFL = 40;
    static final int SO_COOKIE = 57; // since Linux 4.6
    static final int SO_RCVMARK = 75; // since Linux 5.19
    static final int IPPROTO_IP = 0;
    static final int IP_TOS = 1;
    static final int IP_TTL = 2;
    static final int IP_PKTINFO = 8;
    static final int IP_RECVORIGDSTADDR = 20; // and the type of what it brings
    static final int IP_RECVTTL = 12;
    static final int IP_RECVTOS = 13;
    static final int MCAST_JOIN_GROUP = 42;
    static final int IPPROTO_RAW = 255;
    static final int IPPROTO_IPV6 = 41;
    static final int IPV6_V6ONLY = 26;
    static final int IPV6_RECVPKTINFO = 49;
    static final int IPV6_PKTINFO = 50;
    static final int IPV6_RECVORIGDSTADDR = 74;
    static final int IPV6_RECVHOPLIMIT = 51;
    static final int IPV6_HOPLIMIT = 52;
    static final int IPV6_RECVTCLASS = 66;
    static final int IPV6_TCLASS = 67;
    static final int SOL_UDP = 17;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int SHUT_RDWR = 2;
    static final short POLLIN = 1;
    static final short POLLOUT = 4;

    /** Bytes that have not left a socket yet; TIOCOUTQ. */
    static final long SIOCOUTQ = 0x5411;

    static final int PRIO_PROCESS = 0;

    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int EINVAL = 22;
    static final int EMSGSIZE = 90;
    static final int EOPNOTSUPP = 95;
    static final int EADDRINUSE = 98;
    static final int ENETUNREACH = 101;
    static final int ECONNREFUSED = 111;
    static final int EHOSTUNREACH = 113;

    static {
        Native.register(LibC.class, Platform.C_LIBRARY_NAME);
    }

    private LibC() {}

    static native int socket(int domain, int type, int protocol);

    static native int bind(int fd, long address, int bytes);

    static native int connect(int fd, long address, int bytes);

    static native int getsockname(int fd, long address, long bytes);

    static native int setsockopt(int fd, int level, int option, long value, int bytes);

    static native int getsockopt(int fd, int level, int option, long value, long bytes);

    static native int recvmmsg(int fd, long messages, int count, int flags, long timeout);

    static native int sendmmsg(int fd, long messages, int count, int flags);

    static native long sendto(int fd, byte[] data, long bytes, int flags, byte[] address, int addressBytes);

    static native int poll(long descriptors, long count, int timeoutMs);

    static native int epoll_create1(int flags);

    static native int epoll_ctl(int epoll, int operation, int fd, long event);

    static native int epoll_wait(int epoll, long events, int count, int timeoutMs);

    static native int shutdown(int fd, int how);

    static native int open(String path, int flags);

    static native int close(int fd);

    static native int getpriority(int which, int who);

    static native int setpriority(int which, int who, int nice);

    /** These take a variable number of arguments, which on these machines lie where those of other functions do. */
    static native int fcntl(int fd, int command, long argument);

    static native long syscall(long number, long first, long second, long third, long fourth);

    /** Variadic in C; the requests used here answer with a number. */
    static native int ioctl(int fd, long request, int[] answer);

    static native int prctl(int option, long second, long third, long fourth, long fifth);

    static native String strerror(int errno);
}
