package org.tamanoir.support.guest;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests in the guest: {@code GuestRunner TEST...}, each a {@code CLASS}, {@code CLASS#METHOD} or JUnit's unique id
 * of a test. Prints a line for each test with the reason if it failed or was skipped, and adds the same to {@code results}
 * in the folder that the host sees, if there is one. Ends with 1 where a test failed, and 2 where none ran.
 *
 * <p>A single thread: JUnit tells of one test after the other.
 */
public final class GuestRunner implements TestExecutionListener {
    /** What the guest writes here is on the host afterwards. */
    public static final Path SHARE = Path.of("/run/share");

    /**
     * For a test that hangs: longer than what a test waits for by itself, which is 400 s where nodes start. On a quiet host
     * the longest take 85 s; the emulator is several times slower on a busy one.
     */
    private static final String TIMEOUT = "600 s";

    /** The folder of the module whose tests these are. */
    private static final String MODULE = System.getProperty("tamanoir.module", "");

    private final List<GuestResult> results = new ArrayList<>();
    private final PrintStream out;
    private long startedNs = System.nanoTime();

    private GuestRunner(PrintStream out) {
        this.out = out;
    }

    /** See the class; ends with 3 if the tests could not be run to their end. */
    public static void main(String[] tests) {
        try {
            System.exit(run(tests));
        } catch (Throwable e) { // by itself the JVM would end with 1, as if a test had failed
            e.printStackTrace();
            System.exit(3);
        }
    }

    private static int run(String[] tests) {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String test : tests) {
            selectors.add(selector(test));
        }
        GuestRunner runner = new GuestRunner(System.out);
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectors)
                                .configurationParameter("junit.jupiter.execution.timeout.default", TIMEOUT)
                                .build(),
                        runner);
        return runner.status();
    }

    private static DiscoverySelector selector(String test) {
        if (test.startsWith("[")) {
            return DiscoverySelectors.selectUniqueId(test);
        }
        return test.contains("#") ? DiscoverySelectors.selectMethod(test) : DiscoverySelectors.selectClass(test);
    }

    private int status() {
        if (results.stream().anyMatch(result -> result.outcome() == GuestResult.Outcome.FAILED)) {
            return 1;
        }
        return results.isEmpty() ? 2 : 0;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            startedNs = System.nanoTime();
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        add(test, GuestResult.Outcome.SKIPPED, reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        String reason = result.getThrowable().map(GuestRunner::reason).orElse("");
        switch (result.getStatus()) {
            case ABORTED -> add(test, GuestResult.Outcome.SKIPPED, reason);
            case FAILED -> add(test, GuestResult.Outcome.FAILED, reason);
            case SUCCESSFUL -> {
                if (test.isTest()) { // a class that went well says nothing beside its tests
                    add(test, GuestResult.Outcome.PASSED, reason);
                }
            }
        }
    }

    private void add(TestIdentifier test, GuestResult.Outcome outcome, String reason) {
        GuestResult result =
                new GuestResult(outcome, MODULE, className(test), test.getDisplayName(), test.getUniqueId(), reason);
        results.add(result);
        long tookMs = (System.nanoTime() - startedNs) / 1_000_000;
        out.printf(
                "%s %s.%s (%,d ms)%s%n",
                outcome, result.className(), result.test(), tookMs, reason.isEmpty() ? "" : ": " + reason);
        try {
            if (Files.isDirectory(SHARE)) {
                result.append(SHARE); // at once: a crash of the guest must not take what is known
            }
        } catch (IOException e) {
            out.println("no results on the host: " + e);
        }
    }

    private static String className(TestIdentifier test) {
        return test.getSource()
                .map(source -> source instanceof MethodSource method
                        ? method.getClassName()
                        : source instanceof ClassSource type ? type.getClassName() : "")
                .map(name -> name.substring(name.lastIndexOf('.') + 1))
                .orElse("");
    }

    private static String reason(Throwable thrown) {
        if (thrown.getClass().getSimpleName().contains("Aborted")) {
            return String.valueOf(thrown.getMessage());
        }
        StringBuilder text = new StringBuilder(thrown.toString().strip());
        for (StackTraceElement frame : thrown.getStackTrace()) {
            if (frame.getClassName().startsWith("org.tamanoir.")) {
                text.append("\n\tat ").append(frame);
            }
        }
        Throwable cause = thrown.getCause();
        return cause == null || cause == thrown ? text.toString() : text + "\nCaused by: " + reason(cause);
    }
}
