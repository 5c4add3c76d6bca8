package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;

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
    static final int E2BIG = 7;

    static {
        Native.register(BpfLibC.class, Platform.C_LIBRARY_NAME);
    }

    private BpfLibC() {}

    static native int vsnprintf(long text, long bytes, Pointer format, Pointer arguments);

    static native long mmap(long address, long bytes, int protection, int flags, int fd, long offset);

    static native int munmap(long address, long bytes);

    /** Returns an error in words; the number is negative, as libbpf returns it. */
    static String error(int negativeErrno) {
        return LibC.strerror(-negativeErrno);
    }
}
