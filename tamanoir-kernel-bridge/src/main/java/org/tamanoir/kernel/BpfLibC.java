package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The functions of the C library that the BPF levels need beside libbpf, by JNA's direct mapping.
 *
 * <p>The numbers are those of Linux on x86-64 and aarch64 (asm-generic).
 *
 * <p>Thread contract: any thread.
 */
final class BpfLibC {
    static final int PROT_READ_WRITE = 3;
    static final int MAP_SHARED = 1;
    static final long MAP_FAILED = -1;
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int E2BIG = 7;
    static final int EEXIST = 17;
    static final int EINVAL = 22;

    private static final int MAX_INTERFACES = 65536;
    /** struct if_nameindex: unsigned number, padding, char pointer. */
    private static final int NAME_INDEX_SIZE = 2 * Native.POINTER_SIZE;

    static {
        Native.register(BpfLibC.class, Platform.C_LIBRARY_NAME);
    }

    private BpfLibC() {}

    static native int vsnprintf(long text, long octets, Pointer format, Pointer arguments);

    static native String strerror(int errno);

    static native long mmap(long address, long octets, int protection, int flags, int fd, long offset);

    static native int munmap(long address, long octets);

    static native int close(int fd);

    static native int socket(int domain, int type, int protocol);

    static native int setsockopt(int fd, int level, int option, long value, int octets);

    static native long send(int fd, long data, long octets, int flags);

    static native long recv(int fd, long data, long octets, int flags);

    static native int ioctl(int fd, long request, long argument);

    static native int if_nametoindex(String name);

    static native Pointer if_nameindex();

    static native void if_freenameindex(Pointer all);

    /** In words; the number is negative, as libbpf returns it. */
    static String error(int negativeErrno) {
        return strerror(-negativeErrno);
    }

    /** All interfaces of the calling thread's network namespace, by their numbers. */
    static Map<Integer, String> interfaces() {
        Map<Integer, String> names = new LinkedHashMap<>();
        Pointer all = if_nameindex();
        if (all != null) {
            for (int i = 0; i < MAX_INTERFACES && all.getInt((long) i * NAME_INDEX_SIZE) != 0; i++) {
                long at = (long) i * NAME_INDEX_SIZE;
                names.put(all.getInt(at), all.getPointer(at + Native.POINTER_SIZE).getString(0));
            }
            if_freenameindex(all);
        }
        return names;
    }
}
