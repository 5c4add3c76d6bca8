package org.tamanoir.supervision;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.VirtualThreads;

/**
 * What one instance's thread has used, charged to its service as it is read: as the JVM counts it for threads of the
 * operating system, and by time stamps for virtual ones, of which it counts nothing. Those count the time from one rest
 * to the next, also where the thread's carrier had no processor, and no allocation.
 *
 * <p>Thread contract: any thread.
 */
public final class Meter {
    /** The JVM's counters of threads; null where they are missing. */
    public static final @Nullable ThreadMXBean THREADS = threads();

    private final ServiceHealth life;
    private final Platform platform;
    private final Thread thread;
    private final boolean isVirtual;
    private long processorNs;
    private long allocatedBytes;
    // Of a virtual thread, which the JVM does not count for; written by that alone.
    private volatile long workedNs;
    private volatile long workingSinceNs;
    private volatile boolean isWorking;

    Meter(ServiceHealth life, Platform platform, Thread thread) {
        this.life = life;
        this.platform = platform;
        this.thread = thread;
        this.isVirtual = VirtualThreads.isVirtual(thread);
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

    /** Notes that the thread goes on to work. The thread. */
    void works() {
        if (isVirtual) {
            workingSinceNs = platform.nanoTime();
            isWorking = true;
        }
    }

    /** Notes that the thread goes to rest. The thread. */
    void rests() {
        if (isVirtual && isWorking) {
            isWorking = false; // First, so that nobody adds the same time twice.
            workedNs += platform.nanoTime() - workingSinceNs;
        }
    }

    /** Returns the time between the rests of a virtual thread: what it used of a processor, and no less than that. */
    private long workedNs() {
        long ended;
        long sinceNs;
        long nowNs;
        do {
            ended = workedNs;
            sinceNs = workingSinceNs;
            nowNs = isWorking ? platform.nanoTime() : sinceNs;
        } while (ended != workedNs || sinceNs != workingSinceNs); // It went to rest or came: that was not its work.
        return ended + Math.max(0, nowNs - sinceNs);
    }

    /** Returns what the thread has used of a processor until now, in ns; the same always where that is not counted. */
    long usedNs() {
        return isVirtual ? workedNs() : THREADS == null ? 0 : platform.processorNs(thread);
    }

    /** Reads the instance's thread; a thread that has ended has used no more than it was read last. */
    void read() {
        if (isVirtual) {
            read(workedNs(), 0);
        } else if (THREADS != null) {
            read(platform.processorNs(thread), platform.allocatedBytes(thread));
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

    /** Reads the calling thread, which is the instance's, a last time: it ends. */
    public void readOwn() {
        rests();
        read();
    }

    synchronized long processorNs() {
        return processorNs;
    }
}
