package org.tamanoir.support.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.tamanoir.support.Tiers;

/**
 * Boots the virtual machine once and runs all classes {@code *InGuest} of modules in it, as {@code native/vm/test} does.
 * Each of their tests is one here. What the guest's kernel said is in {@code target/guest/console}, what the tests printed
 * in {@code target/guest/output}.
 *
 * <p>Tests that failed are repeated by themselves, in a second boot whose files are in {@code target/guest/again}. A test
 * that passes there passes here, and a line that begins with {@code FLAKY:} says how it failed before.
 *
 * <p>Boots once in each JVM, whoever asks again: Surefire runs a test factory anew for each failed test that it repeats.
 */
public final class Guest {
    private static final int TIMEOUT_S = 1400; // nodes start slowly under the emulator
    private static final int AGAIN_TIMEOUT_S = 500;

    private static final Path SCRIPTS = Path.of("..", "native", "vm");
    private static final Path FOLDER = Path.of("target", "guest");
    private static final Path AGAIN = FOLDER.resolve("again");

    private static @Nullable List<DynamicTest> known;

    /** What became of a boot. */
    record Boot(int status, String said, List<GuestResult> results) {
        /** Returns whether the guest ended by itself, with the status that its tests ask for. */
        boolean endedAsTestsDo() {
            return status == (results.stream().anyMatch(Guest::hasFailed) ? 1 : 0);
        }
    }

    private Guest() {}

    /**
     * Returns the tests, with what became of them.
     *
     * @param modules options of {@code native/vm/test} that name modules, their folders beside the working directory
     */
    public static synchronized List<DynamicTest> tests(List<String> modules) throws IOException, InterruptedException {
        List<DynamicTest> tests = known;
        if (tests == null) {
            requireGuest();
            Boot first = boot(FOLDER, TIMEOUT_S, modules, List.of());
            List<GuestResult> failed =
                    first.results.stream().filter(Guest::hasFailed).toList();
            Boot second = failed.isEmpty()
                    ? new Boot(0, "", List.of())
                    : boot(
                            AGAIN,
                            AGAIN_TIMEOUT_S,
                            modules,
                            failed.stream().map(GuestResult::id).distinct().toList());
            tests = tests(first, second);
            known = tests;
        }
        return tests;
    }

    private static List<DynamicTest> tests(Boot first, Boot second) {
        List<DynamicTest> tests = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (GuestResult result : first.results) {
            ids.add(result.id());
            if (hasFailed(result) && passes(result, second)) {
                System.out.println("FLAKY: " + result.name() + ": " + result.message());
                tests.add(DynamicTest.dynamicTest(result.name(), () -> {}));
            } else {
                tests.add(test(result));
            }
        }
        second.results.stream() // tests of classes that failed as a whole
                .filter(result -> !ids.contains(result.id()))
                .forEach(result -> tests.add(test(result)));
        tests.add(DynamicTest.dynamicTest("the guest ends as its tests do", () -> {
            for (Boot boot : List.of(first, second)) {
                assertThat(boot.endedAsTestsDo())
                        .as("status %d of the guest, which said:%n%s", boot.status, boot.said)
                        .isTrue();
            }
        }));
        return tests;
    }

    /** Returns whether what has failed passes in a second boot; of a class: whether all its tests do. */
    static boolean passes(GuestResult failed, Boot second) {
        List<GuestResult> again = second.results.stream()
                .filter(result ->
                        failed.isOfClass() ? result.isIn(failed) : result.id().equals(failed.id()))
                .toList();
        return second.endedAsTestsDo() && !again.isEmpty() && again.stream().noneMatch(Guest::hasFailed);
    }

    private static boolean hasFailed(GuestResult result) {
        return result.outcome() == GuestResult.Outcome.FAILED;
    }

    private static DynamicTest test(GuestResult result) {
        return DynamicTest.dynamicTest(result.name(), () -> {
            switch (result.outcome()) {
                case PASSED -> {}
                case SKIPPED -> Assumptions.abort(result.reason());
                case FAILED -> fail("in the guest: " + result.reason());
            }
        });
    }

    private static void requireGuest() throws IOException, InterruptedException {
        Path check = Files.createDirectories(FOLDER).resolve("check");
        int can = run(check, 330, SCRIPTS.resolve("run").toString(), "--check"); // fetching an image may take 300 s
        Tiers.require(
                "vm", can == 0, Files.exists(check) ? Files.readString(check).strip() : "no bash");
    }

    private static Boot boot(Path folder, int timeoutS, List<String> modules, List<String> tests)
            throws IOException, InterruptedException {
        Path share = Files.createDirectories(folder.resolve("share"));
        GuestResult.clear(share);
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of(
                SCRIPTS.resolve("test").toString(),
                "--no-build",
                "--timeout",
                Integer.toString(timeoutS),
                "--console",
                folder.resolve("console").toString(),
                "--share",
                share.toString()));
        command.addAll(modules);
        command.addAll(tests);
        int status = run(output, timeoutS + 120, command.toArray(String[]::new));
        String said = Files.readString(output);
        System.out.println(said.lines().reduce((first, last) -> last).orElse(""));
        return new Boot(status, said, GuestResult.read(share));
    }

    /** Output goes to a file; 125 where there is no such program, 124 where it has not ended in time. */
    private static int run(Path output, int timeoutS, String... command) throws IOException, InterruptedException {
        Files.deleteIfExists(output);
        if (!Files.isExecutable(Path.of("/bin/bash"))) {
            return 125;
        }
        ProcessBuilder builder = new ProcessBuilder(
                Stream.concat(Stream.of("bash"), Stream.of(command)).toList());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("TAMANOIR_TIERS", System.getProperty("require.tiers", ""));
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .redirectInput(new File("/dev/null"))
                .start();
        try {
            return process.waitFor(timeoutS, TimeUnit.SECONDS) ? process.exitValue() : 124;
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
