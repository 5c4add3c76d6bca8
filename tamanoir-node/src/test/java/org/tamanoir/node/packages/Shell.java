package org.tamanoir.node.packages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Programs, each with a bound on its time. */
final class Shell {
    private static final int PATIENCE_SECONDS = 300;

    private Shell() {}

    /** Runs a program that must succeed, and returns what it printed, standard error too. */
    static String run(String input, List<String> command) throws IOException, InterruptedException {
        Path log = Files.createTempFile("tamanoir-packages", ".log");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
                process.getOutputStream().close();
                assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
                        .as("%s: %s", command, Files.readString(log))
                        .isTrue();
            } finally {
                process.destroyForcibly();
            }
            assertThat(process.exitValue())
                    .as("%s: %s", command, Files.readString(log))
                    .isZero();
            return Files.readString(log);
        } finally {
            Files.delete(log);
        }
    }

    static String run(String... command) throws IOException, InterruptedException {
        return run("", List.of(command));
    }

    /** Returns the one file of a folder that a pattern of the shell matches. */
    static Path only(Path folder, String glob) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> found = files.filter(
                            folder.getFileSystem().getPathMatcher("glob:" + folder.resolve(glob))::matches)
                    .toList();
            assertThat(found).as("%s in %s", glob, folder).hasSize(1);
            return found.get(0);
        }
    }
}
