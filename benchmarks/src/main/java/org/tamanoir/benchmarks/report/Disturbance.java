package org.tamanoir.benchmarks.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How much of the machine other processes use meanwhile: what tells a noisy run from a quiet one.
 *
 * @param busy processor time of the whole machine so far, in seconds
 * @param own of this process
 * @param wallNs when that was
 */
record Disturbance(double busy, double own, long wallNs) {
    /** USER_HZ, in which /proc/stat counts on all architectures that Java runs on. */
    private static final double TICKS_PER_SECOND = 100;
    /** Columns of the line "cpu": user, nice, system, idle, iowait, irq, softirq, steal. */
    private static final int[] BUSY_COLUMNS = {1, 2, 3, 6, 7, 8};

    /** Where things stand; empty where there is no /proc/stat. */
    static Optional<Disturbance> now() {
        try {
            String[] columns =
                    Files.readAllLines(Path.of("/proc/stat")).get(0).trim().split(" +");
            double busy = 0;
            for (int column : BUSY_COLUMNS) {
                busy += Long.parseLong(columns[column]) / TICKS_PER_SECOND;
            }
            return Optional.of(new Disturbance(busy, ownSeconds(), System.nanoTime()));
        } catch (IOException | RuntimeException e) {
            return Optional.empty();
        }
    }

    private static double ownSeconds() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getProcessCpuTime() / 1e9
                : 0;
    }

    /** Percent of all processors that others have used since. */
    long percentSince(Disturbance before) {
        double seconds = (wallNs - before.wallNs) / 1e9 * Runtime.getRuntime().availableProcessors();
        double others = busy - before.busy - (own - before.own);
        return Math.round(100 * Math.max(0, Math.min(1, others / seconds)));
    }
}
