package org.tamanoir.platform;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The JVM's own time and threads. */
final class SystemPlatform implements Platform {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final boolean COUNTS_PROCESSOR_TIME =
            THREADS.isThreadCpuTimeSupported() && THREADS.isThreadCpuTimeEnabled();
    private static final boolean COUNTS_BYTES = THREADS instanceof com.sun.management.ThreadMXBean counters
            && counters.isThreadAllocatedMemorySupported()
            && counters.isThreadAllocatedMemoryEnabled();

    private static final long JOIN_LOOK_NS = 1_000_000;

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public long processorNs() {
        return COUNTS_PROCESSOR_TIME && !VirtualThreads.isVirtual(Thread.currentThread())
                ? THREADS.getCurrentThreadCpuTime()
                : System.nanoTime();
    }

    @Override
    public long processorNs(Thread thread) {
        return COUNTS_PROCESSOR_TIME ? THREADS.getThreadCpuTime(thread.getId()) : 0;
    }

    @Override
    public long allocatedBytes(Thread thread) {
        return COUNTS_BYTES && THREADS instanceof com.sun.management.ThreadMXBean counters
                ? counters.getThreadAllocatedBytes(thread.getId())
                : 0;
    }

    @Override
    public Thread newThread(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public Executor newPool(String name, int mostThreads) {
        return new ThreadPoolExecutor(
                0, mostThreads, 2, TimeUnit.SECONDS, new SynchronousQueue<>(), body -> newThread(name, body));
    }

    @Override
    public Starter newStarter() {
        return new StarterThread(body -> newThread("starter", body));
    }

    @Override
    public void park(Object blocker, long ns) {
        LockSupport.parkNanos(blocker, ns);
    }

    @Override
    public void unpark(Thread thread) {
        LockSupport.unpark(thread);
    }

    @Override
    public boolean join(Thread thread, long ns) {
        long beganNs = System.nanoTime();
        boolean interrupted = false;
        while (thread.isAlive() && System.nanoTime() - beganNs < ns) {
            LockSupport.parkNanos(thread, JOIN_LOOK_NS);
            interrupted |= Thread.interrupted(); // With its interrupt pending a thread would not wait.
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
