package org.tamanoir.supervision;

import com.sun.management.ThreadMXBean;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.sched.ProcessorUse;

/** What a thread uses of processors, as far as the JVM counts it. */
public record ThreadUse(Thread thread, ThreadMXBean counters) implements ProcessorUse {
    /** Returns the use of a thread. */
    public static ProcessorUse of(Thread thread) {
        ThreadMXBean counters = Meter.THREADS;
        return counters == null || VirtualThreads.isVirtual(thread) ? UNKNOWN : new ThreadUse(thread, counters);
    }

    @Override
    public boolean isRunnable() {
        return thread.getState() == Thread.State.RUNNABLE;
    }

    @Override
    public long usedNs() {
        return counters.getThreadCpuTime(thread.getId());
    }
}
