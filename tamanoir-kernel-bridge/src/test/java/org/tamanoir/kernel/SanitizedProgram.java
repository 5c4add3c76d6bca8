package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.tamanoir.support.Tiers;

/** A program of {@code native/test}, built so that it ends with an error where it reads outside its memory. */
final class SanitizedProgram {
    private static final Path SOURCES = Path.of("..", "native", "test");
    private static final Path HEADERS = Path.of("..", "native", "include");
    private static final int PATIENCE_S = 120;

    private final Path folder;
    private final Path program;

    /**
     * Builds it; skips the test where there is no compiler.
     *
     * @param name without {@code .c}
     */
    SanitizedProgram(Path folder, String name) throws Exception {
        this.folder = folder;
        this.program = folder.resolve(name);
        Tiers.require("native-build", canSanitize(), "gcc with libasan is not installed (Debian package gcc)");
        List<String> said = run(
                Path.of("/dev/null"),
                "gcc",
                "-O1",
                "-g",
                "-std=gnu11",
                "-D_GNU_SOURCE",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-I",
                HEADERS.toString(),
                "-o",
                program.toString(),
                SOURCES.resolve(name + ".c").toString());
        assertThat(said).isEmpty();
    }

    private boolean canSanitize() throws Exception {
        Path source = Files.writeString(folder.resolve("probe.c"), "int main(void) { return 0; }\n");
        try {
            return new ProcessBuilder(
                                    "gcc",
                                    "-fsanitize=address,undefined",
                                    "-o",
                                    folder.resolve("probe").toString(),
                                    source.toString())
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException absent) {
            return false;
        }
    }

    /** The lines that it prints. */
    List<String> run(List<String> input, String... arguments) throws Exception {
        Path lines = Files.write(Files.createTempFile(folder, "input", ".txt"), input);
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        return run(lines, command.toArray(String[]::new));
    }

    private List<String> run(Path input, String... command) throws Exception {
        Path output = Files.createTempFile(folder, "output", ".txt");
        Process process = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(PATIENCE_S, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(ended).as(command[0] + " ends in " + PATIENCE_S + " s").isTrue();
        List<String> lines = Files.readAllLines(output);
        assertThat(process.exitValue()).as(String.join("\n", lines)).isZero();
        return lines;
    }
}
