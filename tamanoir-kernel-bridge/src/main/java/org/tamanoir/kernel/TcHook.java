package org.tamanoir.kernel;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import org.tamanoir.nodeos.LevelException;

/**
 * Where traffic control calls a program: an interface's ingress, in the queueing discipline {@code clsact}.
 * Filters are told apart by priority and handle.
 *
 * <pre>
 *   struct bpf_tc_hook   size 8, ifindex 4, attach point 4, parent 4, padding 4
 *   struct bpf_tc_opts   size 8, program fd 4, flags 4, program id 4, handle 4, priority 4, padding 4
 * </pre>
 *
 * <p>Thread contract: any thread, in the network namespace of the interface.
 */
record TcHook(int ifindex, String name) {
    private static final int HOOK_SIZE = 24;
    private static final int OPTIONS_SIZE = 32;
    private static final int HANDLE = 1;

    /** Puts a program there, in the place of one of the same priority, and returns whether {@code clsact} was missing. */
    boolean attach(int program, int priority) throws LevelException {
        try (Memory hook = hook(LibBpf.TC_INGRESS);
                Memory options = options(program, priority)) {
            int created = LibBpf.bpf_tc_hook_create(Pointer.nativeValue(hook));
            if (created < 0 && created != -LibC.EEXIST) {
                throw new LevelException("tc on " + name + ": the kernel refused clsact: " + BpfLibC.error(created)
                        + "; it needs CAP_NET_ADMIN and CONFIG_NET_CLS_ACT");
            }
            int result = LibBpf.bpf_tc_attach(Pointer.nativeValue(hook), Pointer.nativeValue(options));
            if (result < 0) {
                if (created == 0) {
                    removeQdisc();
                }
                throw new LevelException("tc on " + name + ": the kernel refused the program: " + BpfLibC.error(result)
                        + "; it needs CAP_NET_ADMIN and CONFIG_NET_CLS_BPF");
            }
            return created == 0;
        }
    }

    /** Takes the filter of this priority away; whether there was one. */
    boolean detach(int priority) {
        try (Memory hook = hook(LibBpf.TC_INGRESS);
                Memory options = options(0, priority)) {
            options.setInt(8, 0);
            return LibBpf.bpf_tc_detach(Pointer.nativeValue(hook), Pointer.nativeValue(options)) == 0;
        }
    }

    /** Takes {@code clsact} away unless a filter is in it. */
    void removeQdiscIfEmpty() throws NetlinkException {
        if (!TcFilters.areThere(ifindex)) {
            removeQdisc();
        }
    }

    private void removeQdisc() {
        try (Memory both = hook(LibBpf.TC_INGRESS | LibBpf.TC_EGRESS)) {
            LibBpf.bpf_tc_hook_destroy(Pointer.nativeValue(both));
        }
    }

    private Memory hook(int points) {
        Memory hook = new Memory(HOOK_SIZE);
        hook.clear();
        hook.setLong(0, HOOK_SIZE);
        hook.setInt(8, ifindex);
        hook.setInt(12, points);
        return hook;
    }

    private static Memory options(int program, int priority) {
        Memory options = new Memory(OPTIONS_SIZE);
        options.clear();
        options.setLong(0, OPTIONS_SIZE);
        options.setInt(8, program);
        options.setInt(12, program == 0 ? 0 : LibBpf.TC_REPLACE);
        options.setInt(20, HANDLE);
        options.setInt(24, priority);
        return options;
    }
}
