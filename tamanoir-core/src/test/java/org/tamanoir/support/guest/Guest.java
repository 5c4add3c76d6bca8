package org.tamanoir.support.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.tamanoir.support.Tiers;

/**
 * Boots the virtual machine once and runs all classes {@code *InGuest} of a module in it, as {@code native/vm/test}
 * does. Each of their tests is one here. What the guest's kernel said is in {@code target/guest/console}, what the tests
 * printed in {@code target/guest/output}.
 */
public final class Guest {
    private static final int TIMEOUT_S = 1500; // nodes start slowly under the emulator

    private static final Path SCRIPTS = Path.of("..", "native", "vm");
    private static final Path FOLDER = Path.of("target", "guest");

    private Guest() {}

    /**
     * The tests, with what became of them.
     *
     * @param module Maven's, whose folder is the working directory
     * @param options further ones of {@code native/vm/test}
     */
    public static List<DynamicTest> tests(String module, String... options) throws IOException, InterruptedException {
        requireGuest();
        Path share = FOLDER.resolve("share");
        Files.deleteIfExists(share.resolve("results"));
        Path output = FOLDER.resolve("output");
        List<String> command = new ArrayList<>(List.of(
                SCRIPTS.resolve("test").toString(),
                "--no-build",
                "--module",
                module,
                "--timeout",
                Integer.toString(TIMEOUT_S),
                "--console",
                FOLDER.resolve("console").toString(),
                "--share",
                share.toString()));
        command.addAll(List.of(options));
        int status = run(output, TIMEOUT_S + 30, command.toArray(String[]::new));
        String said = Files.readString(output);
        List<GuestResult> results = GuestResult.read(share);
        List<DynamicTest> tests = new ArrayList<>();
        for (GuestResult result : results) {
            tests.add(DynamicTest.dynamicTest(result.name(), () -> repeat(result)));
        }
        boolean failed = results.stream().anyMatch(result -> result.outcome() == GuestResult.Outcome.FAILED);
        tests.add(DynamicTest.dynamicTest(
                "the guest ends as its tests do",
                () -> assertThat(status)
                        .as("status of the guest, which said:%n%s", said)
                        .isEqualTo(failed ? 1 : 0)));
        System.out.println(said.lines().reduce((first, last) -> last).orElse(""));
        return tests;
    }

    private static void requireGuest() throws IOException, InterruptedException {
        Path check = Files.createDirectories(FOLDER).resolve("check");
        int can = run(check, 330, SCRIPTS.resolve("run").toString(), "--check"); // fetching an image may take 300 s
        Tiers.require(
                "vm", can == 0, Files.exists(check) ? Files.readString(check).strip() : "no bash");
    }

    private static void repeat(GuestResult result) {
        switch (result.outcome()) {
            case PASSED -> {}
            case SKIPPED -> Assumptions.abort(result.reason());
            case FAILED -> fail("in the guest: " + result.reason());
        }
    }

    /** Output goes to a file; 125 where there is no such program. */
    private static int run(Path output, int timeoutS, String... command) throws IOException, InterruptedException {
        Files.deleteIfExists(output);
        if (!Files.isExecutable(Path.of("/bin/bash"))) {
            return 125;
        }
        ProcessBuilder builder = new ProcessBuilder(
                Stream.concat(Stream.of("bash"), Stream.of(command)).toList());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("JAVA_TEST_OPTIONS", "-Dtamanoir.rounds=3"); // of what is measured, and not asserted
        builder.environment().put("TAMANOIR_TIERS", System.getProperty("require.tiers", ""));
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .redirectInput(new File("/dev/null"))
                .start();
        try {
            if (!process.waitFor(timeoutS, TimeUnit.SECONDS)) {
                fail(String.join(" ", command) + ": not done in " + timeoutS + " s");
            }
            return process.exitValue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
