package org.tamanoir.kernel;

import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/**
 * What a host offers. Where a reason is null the thing is there.
 *
 * @param noNative why native code cannot be called at all
 * @param capabilities effective ones of this process, a bit each, as in capability.h
 * @param noBpf why libbpf or the node's BPF programs are not there
 * @param missingInterfaces of those that were configured
 * @param noModule why the netfilter module cannot be used
 */
record HostFacts(
        @Nullable String noNative,
        long capabilities,
        @Nullable String noBpf,
        List<String> missingInterfaces,
        @Nullable String noModule) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String EFFECTIVE = "CapEff:";
    private static final String PROGRAM = "bpf/tamanoir_tc.bpf.o";
    private static final int NET_ADMIN = 12;
    private static final int SYS_ADMIN = 21;
    private static final int BPF = 39;

    /** Looks, in the calling thread's network namespace; changes nothing, and asks for no module that is not wanted. */
    static HostFacts look(KernelConfig config) {
        if (!Platform.isLinux()) {
            return none("needs Linux");
        }
        try {
            return new HostFacts(
                    null,
                    readCapabilities(),
                    bpfWhyNot(),
                    config.interfaces().stream()
                            .filter(name -> LibC.if_nametoindex(name) == 0)
                            .toList(),
                    config.levels().contains(Level.MODULE) ? moduleWhyNot() : null);
        } catch (LinkageError noJna) {
            return none("native code cannot be called: " + noJna.getMessage());
        }
    }

    private static HostFacts none(String why) {
        return new HostFacts(why, 0, why, List.of(), why);
    }

    private static long readCapabilities() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith(EFFECTIVE)) {
                    return Long.parseUnsignedLong(
                            line.substring(EFFECTIVE.length()).strip(), 16);
                }
            }
        } catch (IOException | NumberFormatException unknown) {
            return 0; // then the node has none that it knows of
        }
        return 0;
    }

    private static @Nullable String bpfWhyNot() {
        String noLibrary = LibBpf.whyNot();
        if (noLibrary != null) {
            return noLibrary;
        }
        return HostFacts.class.getResource(PROGRAM) == null
                ? "this build has no BPF programs: build it where clang and libbpf-dev are installed"
                : null;
    }

    private static @Nullable String moduleWhyNot() {
        try {
            ModuleDriver.open().close();
            return null;
        } catch (LevelException refused) {
            return refused.getMessage();
        }
    }

    boolean mayAdministerNetwork() {
        return has(NET_ADMIN);
    }

    boolean mayLoadBpf() {
        return has(BPF) || has(SYS_ADMIN);
    }

    private boolean has(int capability) {
        return (capabilities >>> capability & 1) != 0;
    }
}
