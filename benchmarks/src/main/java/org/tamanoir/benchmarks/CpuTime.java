package org.tamanoir.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Adds the processor time of the measuring threads for each operation, which other processes do not lengthen by taking
 * the processor: {@code jmh … -prof org.tamanoir.benchmarks.CpuTime}. Compiler and collector are not in it.
 */
public final class CpuTime implements InternalProfiler {
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long before;

    /** Made by JMH. */
    public CpuTime() {}

    @Override
    public String getDescription() {
        return "Processor time of the measuring threads";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = cpuNs();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double ns =
                (double) (cpuNs() - before) / Math.max(1, result.getMetadata().getAllOps());
        return List.of(new ScalarResult("cpu", ns, "ns/op", AggregationPolicy.AVG));
    }

    /** Returns the time of JMH's workers, which are the same threads in all iterations. */
    private long cpuNs() {
        long sum = 0;
        for (long id : threads.getAllThreadIds()) {
            var thread = threads.getThreadInfo(id);
            if (thread != null && thread.getThreadName().contains("-jmh-worker-")) {
                sum += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return sum;
    }
}
