package org.tamanoir.benchmarks.levels;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The calls of libbpf and libc that put the measuring programs to work and read what BPF programs have done. Stateless;
 * any thread.
 */
final class LibBpf {
    /** enum bpf_tc_attach_point. */
    static final int INGRESS = 1;

    static final int EGRESS = 2;

    private static final String RESOURCES = "/org/tamanoir/kernel/bpf/";
    // struct bpf_tc_hook and struct bpf_tc_opts of libbpf 1.
    private static final int HOOK_BYTES = 24;
    private static final int OPTS_BYTES = 32;
    /** enum bpf_stats_type. */
    private static final int RUN_TIME = 0;
    // struct bpf_prog_info, as far as kernel 5.1 has it.
    private static final int INFO_BYTES = 208;
    private static final int INFO_RUN_TIME_NS = 192;
    private static final int INFO_RUN_COUNT = 200;

    private static @Nullable String missing;

    private LibBpf() {}

    /** Functions of libbpf.so.1. */
    static final class Bpf {
        static {
            Native.register(Bpf.class, "libbpf.so.1");
        }

        private Bpf() {}

        static native Pointer libbpf_set_print(@Nullable Pointer function);

        static native @Nullable Pointer bpf_object__open_mem(Pointer bytes, long size, @Nullable Pointer options);

        static native int bpf_object__load(Pointer object);

        static native void bpf_object__close(Pointer object);

        static native @Nullable Pointer bpf_object__find_program_by_name(Pointer object, String name);

        static native int bpf_program__fd(Pointer program);

        static native int bpf_object__find_map_fd_by_name(Pointer object, String name);

        static native int bpf_map_update_elem(int map, ByteBuffer key, ByteBuffer value, long flags);

        static native int bpf_map_lookup_elem(int map, ByteBuffer key, ByteBuffer value);

        static native int bpf_map_lookup_batch(
                int map,
                @Nullable ByteBuffer from,
                ByteBuffer next,
                ByteBuffer keys,
                ByteBuffer values,
                IntByReference count,
                @Nullable Pointer options);

        static native int bpf_tc_hook_create(Pointer hook);

        static native int bpf_tc_attach(Pointer hook, Pointer options);

        static native int bpf_enable_stats(int type);

        static native int bpf_prog_get_fd_by_id(int id);

        static native int bpf_obj_get_info_by_fd(int fd, ByteBuffer info, IntByReference bytes);
    }

    /** Functions of libc. */
    static final class C {
        static {
            Native.register(C.class, "c");
        }

        private C() {}

        static native int close(int fd);

        static native int if_nametoindex(String name);
    }

    /** Why it cannot be used here; empty = it can. */
    static synchronized String missing() {
        if (missing == null) {
            try {
                Bpf.libbpf_set_print(null);
                missing = LibBpf.class.getResource(RESOURCES + "segments.bpf.o") == null
                        ? "the BPF programs were not built: install clang, llvm and libbpf-dev, and build again"
                        : "";
            } catch (UnsatisfiedLinkError e) {
                missing = "libbpf.so.1 is not installed: install the package libbpf1";
            }
        }
        return missing;
    }

    /** Loads an object file of BPF programs into the kernel. */
    static Pointer load(String file) throws IOException {
        try (InputStream in = LibBpf.class.getResourceAsStream(RESOURCES + file)) {
            if (in == null) {
                throw new IOException(file + " was not built: install clang, llvm and libbpf-dev, and build again");
            }
            byte[] bytes = in.readAllBytes();
            try (Memory memory = new Memory(bytes.length)) {
                memory.write(0, bytes, 0, bytes.length);
                Pointer object = Bpf.bpf_object__open_mem(memory, bytes.length, null);
                if (object == null) {
                    throw new IOException(file + " cannot be read: " + error(Native.getLastError()));
                }
                int code = Bpf.bpf_object__load(object);
                if (code != 0) {
                    Bpf.bpf_object__close(object);
                    throw new IOException(file + " cannot be loaded into the kernel: " + error(-code));
                }
                return object;
            }
        }
    }

    /** A program's file descriptor. */
    static int program(Pointer object, String name) throws IOException {
        Pointer program = Bpf.bpf_object__find_program_by_name(object, name);
        return require(program == null ? -1 : Bpf.bpf_program__fd(program), "program " + name);
    }

    /** A map's file descriptor. */
    static int map(Pointer object, String name) throws IOException {
        return require(Bpf.bpf_object__find_map_fd_by_name(object, name), "map " + name);
    }

    /**
     * Puts a tc program before all others of an interface of this thread's network namespace. It goes with the
     * interface.
     *
     * @param where {@link #INGRESS} or {@link #EGRESS}
     */
    static void attach(String networkInterface, int where, int program) throws IOException {
        try (Memory hook = new Memory(HOOK_BYTES);
                Memory options = new Memory(OPTS_BYTES)) {
            hook.clear();
            hook.setLong(0, HOOK_BYTES);
            hook.setInt(8, C.if_nametoindex(networkInterface));
            hook.setInt(12, where);
            // Fails where another has made it.
            Bpf.bpf_tc_hook_create(hook);
            options.clear();
            options.setLong(0, OPTS_BYTES);
            options.setInt(8, program);
            options.setInt(20, 1); // handle
            options.setInt(24, 1); // priority: before all others
            require(Bpf.bpf_tc_attach(hook, options), "attaching to " + networkInterface);
        }
    }

    /**
     * Measures the run time of BPF programs until the descriptor is closed.
     *
     * @return the descriptor, for {@link C#close}
     */
    static int enableStatistics() throws IOException {
        return require(Bpf.bpf_enable_stats(RUN_TIME), "run-time statistics of BPF programs");
    }

    /**
     * What a program has run.
     *
     * @param ns together
     * @param count times
     */
    record RunTime(long ns, long count) {}

    /** What the program of this identifier has run while statistics were enabled. */
    static RunTime runTime(int id) throws IOException {
        int fd = require(Bpf.bpf_prog_get_fd_by_id(id), "BPF program " + id);
        try {
            ByteBuffer info = ByteBuffer.allocateDirect(INFO_BYTES).order(ByteOrder.nativeOrder());
            require(Bpf.bpf_obj_get_info_by_fd(fd, info, new IntByReference(INFO_BYTES)), "BPF program " + id);
            return new RunTime(info.getLong(INFO_RUN_TIME_NS), info.getLong(INFO_RUN_COUNT));
        } finally {
            C.close(fd);
        }
    }

    /** Fails on a negative result, of which libbpf makes the error's number. */
    static int require(int result, String what) throws IOException {
        if (result < 0) {
            throw new IOException(what + ": " + error(result == -1 ? Native.getLastError() : -result));
        }
        return result;
    }

    private static String error(int number) {
        return switch (number) {
            case 1, 13 -> "not allowed: run this as root, with CAP_BPF and CAP_NET_ADMIN";
            case 2 -> "there is none";
            case 95 -> "this kernel does not support it";
            default -> "error " + number + " (errno)";
        };
    }
}
