package org.tamanoir.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Reports what the build's own report leaves out: prints why each skipped test was skipped, and writes for each class
 * the file {@code target/test-reports/CLASS}. Its first line has wall-clock milliseconds, milliseconds of processor
 * time of this JVM and of its processes that have ended, and the number of tests; each further line a number of skipped
 * tests and the reason. Fields are parted by tabs. Where a JVM runs a class again, since a test of it failed, that adds to
 * the times. {@code .ci/times} and {@code .ci/left-out} print the reports together. Found as a service.
 *
 * <p>Thread contract: JUnit calls it from one thread; a JVM runs one class at a time.
 */
public final class ClassReports implements TestExecutionListener {
    private static final Path STAT = Path.of("/proc/self/stat");
    private static final Path FOLDER = Path.of("target", "test-reports");
    private static final int MS_PER_TICK = 10; // USER_HZ is 100 on all of Linux's architectures

    /** What this JVM has written, by class; a repetition has a listener of its own. */
    private static final Map<String, Report> WRITTEN = new HashMap<>();

    /** What is written of a class; {@code skipped} has the number of tests by reason. */
    private record Report(long wallMs, long cpuMs, int tests, Map<String, Integer> skipped) {
        Report repeated(Report again) {
            return new Report(wallMs + again.wallMs, cpuMs + again.cpuMs, tests, skipped);
        }

        List<String> lines() {
            List<String> lines = new ArrayList<>(List.of(wallMs + "\t" + cpuMs + "\t" + tests));
            skipped.forEach((reason, count) -> lines.add(count + "\t" + reason));
            return lines;
        }
    }

    private final Map<String, Integer> skipped = new TreeMap<>();
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
            skipped.clear();
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        skipped(test, reason);
        if (isOuterClass(test)) { // it has not started
            tests = 0;
            write(test, 0, 0);
            skipped.clear();
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            skipped(test, result.getThrowable().map(Throwable::getMessage).orElse("no reason given"));
        } else if (test.isTest()) {
            tests++;
        }
        if (isOuterClass(test)) {
            write(test, (System.nanoTime() - startedNs) / 1_000_000, cpuMs() - startedCpuMs);
        }
    }

    private void skipped(TestIdentifier test, String reason) {
        String parent = plan.getParent(test).map(TestIdentifier::getDisplayName).orElse("");
        System.out.println("SKIPPED " + parent + " > " + test.getDisplayName() + ": " + reason);
        skipped.merge(reason.replaceAll("\\s+", " "), 1, Integer::sum);
    }

    private boolean isOuterClass(TestIdentifier test) {
        return test.getSource().filter(ClassSource.class::isInstance).isPresent()
                && plan.getParent(test)
                        .filter(parent -> parent.getParentId().isEmpty())
                        .isPresent();
    }

    private void write(TestIdentifier test, long wallMs, long cpuMs) {
        String name = ((ClassSource) test.getSource().orElseThrow()).getClassName();
        Report report = WRITTEN.merge(
                name, new Report(wallMs, cpuMs, tests, Map.copyOf(skipped)), (first, again) -> first.repeated(again));
        try {
            Files.write(Files.createDirectories(FOLDER).resolve(name), report.lines());
        } catch (IOException e) {
            System.err.println("no report of " + name + ": " + e);
        }
    }

    /**
     * Returns the processor time of this process and of its children that were waited for (proc(5): utime, stime, cutime,
     * cstime), 0 where there is no {@code /proc}.
     */
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
