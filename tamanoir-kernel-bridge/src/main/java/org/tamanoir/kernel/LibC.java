package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Platform;

/**
 * System calls of netlink and unix sockets, bound by JNA's direct mapping; pointers are plain longs. After a result of
 * -1, {@link Native#getLastError} gives errno, for the calling thread.
 *
 * <p>The numbers are those of Linux on x86-64 and aarch64 (asm-generic).
 *
 * <p>Thread contract: any thread.
 */
final class LibC {
    static final int AF_UNIX = 1;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int AF_NETLINK = 16;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_RAW = 3;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOL_SOCKET = 1;
    static final int SO_RCVBUF = 8;
    static final int SO_RCVTIMEO = 20;
    static final int SO_SNDTIMEO = 21;
    static final int SO_RCVBUFFORCE = 33;
    static final int SOL_NETLINK = 270;
    static final int NETLINK_NO_ENOBUFS = 5;
    static final int NETLINK_CAP_ACK = 10;
    static final int NETLINK_EXT_ACK = 11;
    static final int NETLINK_GET_STRICT_CHK = 12;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_TRUNC = 0x20;

    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int ESRCH = 3;
    static final int EINTR = 4;
    static final int EAGAIN = 11;
    static final int EEXIST = 17;
    static final int ENODEV = 19;
    static final int EOPNOTSUPP = 95;
    static final int EAFNOSUPPORT = 97;
    static final int ENOBUFS = 105;
    static final int ENOTCONN = 107;

    static {
        Native.register(LibC.class, Platform.C_LIBRARY_NAME);
    }

    private LibC() {}

    static native int if_nametoindex(String name);

    static native int socket(int domain, int type, int protocol);

    static native int bind(int fd, long address, int bytes);

    static native int setsockopt(int fd, int level, int option, long value, int bytes);

    static native long send(int fd, byte[] data, long bytes, int flags);

    static native long recv(int fd, long data, long bytes, int flags);

    static native long syscall(long number, long first, long second, long third);

    static native int close(int fd);

    static native String strerror(int errno);
}
