package org.tamanoir.kernel;

import com.sun.jna.Callback;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.LevelException;

/**
 * The functions of libbpf that loading, attaching and maps need, bound by JNA's direct mapping; pointers are plain longs.
 * All that return int return a negative errno on failure (libbpf 1.0 and later).
 *
 * <p>Thread contract: any thread.
 */
final class LibBpf {
    /** The version whose functions are used. */
    static final String LIBRARY = "libbpf.so.1";

    static final int ANY = 0;
    static final int XDP_ATTACH = 37;
    static final int XDP_GENERIC = 2;
    static final int XDP_NATIVE = 4;
    static final int TC_INGRESS = 1;
    static final int TC_EGRESS = 2;
    static final int TC_REPLACE = 1;

    private static final int MAX_LOG = 1 << 24;
    private static final int PRINT_WARNING = 0;
    private static final String LOG_BEGINS = "-- BEGIN PROG LOAD LOG --";
    private static final String LOG_ENDS = "-- END PROG LOAD LOG --";

    /** What libbpf says on a thread that loads; else it is passed over. */
    private static final ThreadLocal<@Nullable StringBuilder> SAID = new ThreadLocal<>();
    /** Held here so that it is not collected while libbpf knows its address. */
    private static final Print PRINT = LibBpf::print;

    private static final @Nullable String WHY_NOT = register();

    private LibBpf() {}

    interface Print extends Callback {
        int invoke(int level, Pointer format, Pointer arguments);
    }

    private static @Nullable String register() {
        try {
            Native.register(LibBpf.class, LIBRARY);
            libbpf_set_print(PRINT);
            return null;
        } catch (UnsatisfiedLinkError e) {
            return LIBRARY + " is missing: install libbpf 1.0 or later (package libbpf1)";
        }
    }

    /** Returns one line, if the library is not there. */
    static @Nullable String whyNot() {
        return Platform.isLinux() ? WHY_NOT : "BPF is Linux's";
    }

    static native Pointer libbpf_set_print(Print print);

    static native int libbpf_num_possible_cpus();

    static native long bpf_object__open_mem(byte[] elf, long bytes, long options);

    static native int bpf_object__load(long object);

    static native void bpf_object__close(long object);

    static native long bpf_object__find_map_by_name(long object, String name);

    static native long bpf_object__find_program_by_name(long object, String name);

    static native int bpf_map__fd(long map);

    static native int bpf_map__reuse_fd(long map, int fd);

    static native int bpf_program__fd(long program);

    static native int bpf_obj_pin(int fd, String path);

    static native int bpf_map_update_elem(int fd, long key, long value, long flags);

    static native int bpf_map_lookup_elem(int fd, long key, long value);

    static native int bpf_map_delete_elem(int fd, long key);

    static native int bpf_tc_hook_create(long hook);

    static native int bpf_tc_hook_destroy(long hook);

    static native int bpf_tc_attach(long hook, long options);

    static native int bpf_tc_detach(long hook, long options);

    static native int bpf_link_create(int programFd, int target, int type, long options);

    static native int bpf_prog_test_run_opts(int programFd, long options);

    /**
     * Opens an object file and loads it into the kernel.
     *
     * @param prepare called between the two, for maps that are there already
     * @throws LevelException with the verifier's last words if the kernel refuses a program
     */
    static long load(String name, byte[] elf, Preparation prepare) throws LevelException {
        StringBuilder said = new StringBuilder();
        SAID.set(said);
        try {
            long object = bpf_object__open_mem(elf, elf.length, 0);
            if (object == 0) {
                throw new LevelException("BPF object " + name + " cannot be opened: "
                        + lastWords(said.toString(), LibC.strerror(Native.getLastError())));
            }
            int result = -1;
            try {
                prepare.accept(object);
                result = bpf_object__load(object);
            } finally {
                if (result < 0) {
                    bpf_object__close(object);
                }
            }
            if (result < 0) {
                throw new LevelException("the kernel refused BPF object " + name + ": "
                        + (result == -LibC.EPERM
                                ? "needs CAP_BPF and CAP_NET_ADMIN: run as root or give both to the node"
                                : lastWords(said.toString(), BpfLibC.error(result))));
            }
            return object;
        } finally {
            SAID.remove();
        }
    }

    /** What happens to an object between opening and loading. */
    interface Preparation {
        void accept(long object) throws LevelException;
    }

    private static int print(int level, Pointer format, Pointer arguments) {
        StringBuilder said = SAID.get();
        if (said != null && level == PRINT_WARNING && said.length() < MAX_LOG) {
            try (Memory text = new Memory(MAX_LOG)) {
                int bytes = BpfLibC.vsnprintf(Pointer.nativeValue(text), MAX_LOG, format, arguments);
                if (bytes > 0) {
                    said.append(text.getString(0)).append('\n');
                }
            }
        }
        return 0;
    }

    /** Returns the verifier's last line where there is one, else what libbpf said first. */
    static String lastWords(String said, String otherwise) {
        String last = otherwise;
        int begin = said.indexOf(LOG_BEGINS);
        if (begin >= 0) {
            int end = said.indexOf(LOG_ENDS, begin);
            String log = said.substring(begin + LOG_BEGINS.length(), end < 0 ? said.length() : end);
            for (String line : log.lines().map(String::strip).toList()) {
                if (!line.isEmpty() && !line.startsWith("processed ")) {
                    last = line;
                }
            }
            return "verifier: " + last;
        }
        return said.lines()
                .map(line -> line.strip().replaceFirst("^libbpf: ", ""))
                .filter(line -> !line.isEmpty())
                .findFirst()
                .orElse(last);
    }
}
