package org.tamanoir.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code ./check} goes by, in a project of a few files, and what commands in {@code .ci} refuse. */
@Tag("once")
@Tag("process")
class BuildCommandsTest {
    private static final int PATIENCE_S = 60;
    private static final Path COMMANDS = Path.of("..", ".ci").toAbsolutePath();

    @TempDir
    private Path folder;

    private record Run(int exitCode, List<String> lines) {}

    @BeforeEach
    void makeAProject() throws IOException {
        bridge("main", "Driver", "String object = \"some.bpf.o\";");
        bridge("test", "DriverTest", "Driver driver;");
        bridge("test", "PolicyTest", "Object program = new SanitizedProgram(folder, \"policy\");");
        bridge("test", "OtherTest", "");
        write(
                "node/src/test/java/org/tamanoir/node/PageTest.java",
                "package org.tamanoir.node; class PageTest { String at = \"/ui\"; }");
        write("node/src/test/java/org/tamanoir/node/PlainTest.java", "package org.tamanoir.node; class PlainTest {}");
        write("native/bpf/some.bpf.c", "#include \"far.h\"\n");
        write("native/bpf/far.h", "#  include <near/abi.h>\n");
        write("native/include/abi.h", "");
        write("native/test/policy.c", "#include \"abi.h\"\n");
        write("native/module/hook.c", "");
    }

    private void bridge(String kind, String name, String body) throws IOException {
        write(
                "tamanoir-kernel-bridge/src/" + kind + "/java/org/tamanoir/kernel/" + name + ".java",
                "package org.tamanoir.kernel; class " + name + " { " + body + " }");
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve(file).getParent())
                        .resolve(Path.of(file).getFileName()),
                text);
    }

    private Run run(String input, String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        process.outputWriter().append(input).close();
        List<String> lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
        return new Run(process.exitValue(), lines);
    }

    private Run affected(String changed) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return run(
                changed + "\n",
                java,
                "-XX:TieredStopAtLevel=1",
                COMMANDS.resolve("Affected.java").toString());
    }

    @ParameterizedTest
    @CsvSource({
        "native/bpf/some.bpf.c, 1 DriverTest",
        "native/bpf/far.h, 1 DriverTest",
        "native/include/abi.h, 0 PolicyTest 1 DriverTest",
        "native/test/policy.c, 0 PolicyTest",
        "native/module/hook.c, 1 DriverTest 1 OtherTest 1 PolicyTest",
        "node/src/main/resources/ui/page.js, 0 PageTest",
        "node/src/main/resources/unknown, 1 PageTest 1 PlainTest",
        "node/pom.xml, ''",
    })
    void whatIsNoSourceInJavaFindsTheTestsThatNeedIt(String changed, String expected) throws Exception {
        Run run = affected(changed);

        assertThat(run.exitCode).as("%s", run.lines).isZero();
        List<String> tests = new ArrayList<>();
        for (String line : run.lines) {
            String[] fields = line.split("\t");
            tests.add(fields[0] + " " + fields[3].substring(fields[3].lastIndexOf('.') + 1));
        }
        assertThat(String.join(" ", tests)).isEqualTo(expected);
    }

    @Test
    void aSourceThatIsNotUtf8IsNamedInOneLine() throws Exception {
        Path source = folder.resolve("node/src/test/java/org/tamanoir/node/OldTest.java");
        Files.write(source, "package org.tamanoir.node; // é".getBytes(StandardCharsets.ISO_8859_1));

        assertThat(affected("native/include/abi.h"))
                .isEqualTo(new Run(
                        2,
                        List.of("check: " + folder.relativize(source) + ": is not UTF-8: save it in that encoding")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rpm", "deb,rpm", "deb,", ",deb", "deb image", "deb oci,image"})
    void aProfileThatBuildsNothingToCompareIsRefusedInOneLine(String profiles) throws Exception {
        assertThat(run("", COMMANDS.resolve("reproduce").toString(), profiles))
                .isEqualTo(new Run(
                        2,
                        List.of("reproduce: " + profiles
                                + ": must be some of deb, image and oci, with commas between")));
    }
}
