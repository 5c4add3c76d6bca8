package org.tamanoir.supervision;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.ServiceHealth;

/**
 * What one instance's thread has used, charged to its service as it is read.
 *
 * <p>Thread contract: any thread.
 */
public final class Meter {
    /** The JVM's counters of threads; null where they are missing. */
    public static final @Nullable ThreadMXBean THREADS = threads();

    private final ServiceHealth life;
    private long processorNs;
    private long allocatedBytes;

    Meter(ServiceHealth life) {
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

    /** Reads the instance's thread; a thread that has ended has used no more than it was read last. */
    void read(Thread thread) {
        ThreadMXBean bean = THREADS;
        if (bean != null) {
            read(bean.getThreadCpuTime(thread.getId()), bean.getThreadAllocatedBytes(thread.getId()));
        }
    }

    /** Takes note of a reading; two threads may bring theirs in any order. */
    private void read(long totalNs, long totalBytes) {
        long ns;
        long bytes;
        synchronized (this) {
            ns = Math.max(0, totalNs - processorNs);
            bytes = Math.max(0, totalBytes - allocatedBytes);
            processorNs += ns;
            allocatedBytes += bytes;
        }
        life.used(ns, bytes);
    }

    /** Reads the calling thread, which is the instance's, a last time. */
    public void readOwn() {
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
