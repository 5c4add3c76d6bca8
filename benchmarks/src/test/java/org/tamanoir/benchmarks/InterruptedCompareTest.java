package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Waiting;

@Tag("process")
@EnabledOnOs(OS.LINUX)
class InterruptedCompareTest {
    private static final int SIGTERM_CODE = 128 + 15;

    @TempDir
    Path folder;

    private Process compare(Path temporary, Path reports) throws Exception {
        List<String> jvm = List.of("-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + temporary);
        List<String> command = List.of(
                Processes.ownJava(),
                jvm.get(0),
                jvm.get(1),
                "-cp",
                System.getProperty("java.class.path"),
                Benchmarks.class.getName(),
                "compare",
                "--forwarders=direct",
                "--only=tcp",
                "--sizes=200",
                "--streams=1",
                "--window=600",
                "--output=" + reports);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said").toFile())
                .start();
    }

    @Test
    void runThatASignalEndsSaysSoAndHasNoFailureAndLeavesNothingBehind() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Path reports = folder.resolve("reports");
        Process compare = compare(temporary, reports);
        try {
            // Sink and sender; whatever else it starts is alone.
            eventually().until(() -> compare.children().count() == 2);
            List<ProcessHandle> children = compare.children().toList();
            compare.destroy();
            assertThat(compare.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();

            String said = Files.readString(folder.resolve("said"));
            assertThat(compare.exitValue()).as(said).isEqualTo(SIGTERM_CODE);
            assertThat(said)
                    .contains("- interrupted at [1/3] TCP flood, 200 B × 1, round 1, direct")
                    .doesNotContainIgnoringCase("failed");
            assertThat(reports).isDirectoryContaining("glob:**.md");
            eventually().until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
            assertThat(temporary).isEmptyDirectory();
        } finally {
            compare.destroyForcibly();
        }
    }

    @Test
    void nothingIsStartedOnceProcessesHaveEnded() throws Exception {
        Processes processes = new Processes();
        processes.close();

        assertThatThrownBy(() -> processes.start("late", List.of("sleep", "600")))
                .isInstanceOf(InterruptedIOException.class);
    }
}
