package org.tamanoir.ee;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/**
 * What one instance's thread has used, charged to its service as it is read.
 *
 * <p>Thread contract: any thread.
 */
final class Meter {
    /** The JVM's counters of threads; null where they are missing. */
    static final @Nullable ThreadMXBean THREADS = threads();

    private final ServiceLife life;
    private long processorNs;
    private long allocatedOctets;

    Meter(ServiceLife life) {
        this.life = life;
    }

    private static @Nullable ThreadMXBean threads() {
        return ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
                        && bean.isThreadCpuTimeSupported()
                        && bean.isThreadCpuTimeEnabled()
                        && bean.isThreadAllocatedMemorySupported()
                        && bean.isThreadAllocatedMemoryEnabled()
                ? bean
                : null;
    }

    /** Takes note of a reading; two threads may bring theirs in any order. */
    void read(long totalNs, long totalOctets) {
        long ns;
        long octets;
        synchronized (this) {
            ns = Math.max(0, totalNs - processorNs);
            octets = Math.max(0, totalOctets - allocatedOctets);
            processorNs += ns;
            allocatedOctets += octets;
        }
        life.used(ns, octets);
    }

    /** Reads the calling thread, which is the instance's, a last time. */
    void readOwn() {
        ThreadMXBean bean = THREADS;
        if (bean != null) {
            Thread own = Thread.currentThread();
            read(bean.getCurrentThreadCpuTime(), bean.getThreadAllocatedBytes(own.getId()));
        }
    }

    synchronized long processorNs() {
        return processorNs;
    }
}
