package org.tamanoir.kernel;

import com.google.common.util.concurrent.Uninterruptibles;
import com.sun.jna.Platform;
import java.time.Duration;

/**
 * The kernel's grace period: when it is over no processor is in the midst of a packet that it began before. BPF programs
 * and netfilter hooks run under RCU, which {@code membarrier(MEMBARRIER_CMD_GLOBAL)} waits for. That takes some 10 ms.
 *
 * <p>Thread contract: any thread.
 */
final class Grace {
    private static final int GLOBAL = 1;
    private static final int SYS_MEMBARRIER_X86_64 = 324;
    private static final int SYS_MEMBARRIER_AARCH64 = 283;
    /** Where the kernel refuses, as it does when processors run without ticks: longer than a packet takes. */
    private static final Duration INSTEAD = Duration.ofMillis(20);

    private Grace() {}

    /** Waits for a grace period that begins now. */
    static void await() {
        int number = Platform.isARM() ? SYS_MEMBARRIER_AARCH64 : SYS_MEMBARRIER_X86_64;
        if (LibC.syscall(number, GLOBAL, 0, 0) != 0) {
            Uninterruptibles.sleepUninterruptibly(INSTEAD);
        }
    }
}
