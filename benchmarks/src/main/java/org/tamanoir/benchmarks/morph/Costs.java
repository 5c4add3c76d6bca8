package org.tamanoir.benchmarks.morph;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.benchmarks.report.Numbers;

/** Processor time of this thread, which other processes do not lengthen by taking the processor. */
final class Costs {
    private Costs() {}

    interface Work {
        void run(int index);
    }

    /** Returns the median processor time of a call, in ns. */
    static double ns(Settings settings, Work work) {
        int warm = settings.rounds() + 2;
        int measured = 2 * settings.rounds() + 1;
        List<Double> rounds = new ArrayList<>();
        for (int round = 0; round < warm + measured; round++) {
            long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (int i = 0; i < settings.records(); i++) {
                work.run(i);
            }
            rounds.add((ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before)
                    / (double) settings.records());
        }
        return Numbers.median(rounds.subList(warm, rounds.size()));
    }
}
