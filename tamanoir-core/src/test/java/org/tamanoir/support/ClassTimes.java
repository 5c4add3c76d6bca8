package org.tamanoir.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes down how long each test class took and how much processor time it used, for {@code .ci/times}: a line each in
 * {@code target/test-times/PID}, with tabs between class, wall-clock milliseconds, milliseconds of processor time of this
 * JVM and of its processes that have ended, and number of tests. Found as a service. Where there is no {@code /proc} it
 * writes nothing.
 *
 * <p>JUnit calls it for one test after the other, since a JVM runs one class at a time.
 */
public final class ClassTimes implements TestExecutionListener {
    private static final Path STAT = Path.of("/proc/self/stat");
    private static final Path FOLDER = Path.of("target", "test-times");
    private static final int MS_PER_TICK = 10; // USER_HZ, which is 100 on all of Linux's architectures

    private TestPlan plan;
    private long startedNs;
    private long startedCpuMs;
    private int tests;

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (isOuterClass(test)) {
            startedNs = System.nanoTime();
            startedCpuMs = cpuMs();
            tests = 0;
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            tests++;
        }
        if (isOuterClass(test)) {
            write(test);
        }
    }

    private boolean isOuterClass(TestIdentifier test) {
        return test.getSource().filter(ClassSource.class::isInstance).isPresent()
                && plan.getParent(test)
                        .filter(parent -> parent.getParentId().isEmpty())
                        .isPresent();
    }

    private void write(TestIdentifier test) {
        if (!Files.exists(STAT)) {
            return;
        }
        String name = ((ClassSource) test.getSource().orElseThrow()).getClassName();
        long wallMs = (System.nanoTime() - startedNs) / 1_000_000;
        String line = name + "\t" + wallMs + "\t" + (cpuMs() - startedCpuMs) + "\t" + tests;
        try {
            Files.createDirectories(FOLDER);
            Files.write(
                    FOLDER.resolve(Long.toString(ProcessHandle.current().pid())),
                    List.of(line),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            System.err.println("no times of " + name + ": " + e);
        }
    }

    /** Processor time of this process and of its children that were waited for (proc(5): utime, stime, cutime, cstime). */
    private static long cpuMs() {
        try {
            String stat = Files.readString(STAT);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            long ticks = 0;
            for (int field = 11; field <= 14; field++) {
                ticks += Long.parseLong(fields[field]);
            }
            return ticks * MS_PER_TICK;
        } catch (IOException e) {
            return 0;
        }
    }
}
