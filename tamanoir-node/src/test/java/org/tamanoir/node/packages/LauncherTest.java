package org.tamanoir.node.packages;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs that start Java, as a shell runs them. */
@Tag("process")
@Timeout(120)
class LauncherTest {
    private static final Path SOURCES = Path.of("src").toAbsolutePath();

    @TempDir
    Path folder;

    @Test
    void withoutJavaTheDebianLauncherSaysWhatToDo() throws Exception {
        String launcher = SOURCES.resolve("deb/root/usr/bin/tamanoir").toString();

        String said = run(127, folder, Map.of("JAVA_HOME", "/nowhere"), "/bin/sh", launcher, "--version");

        assertThat(said)
                .hasLineCount(1)
                .startsWith("tamanoir: there is no Java at '/nowhere/bin/java': install one, as by ");
        assertThat(run(127, folder, Map.of("PATH", "/nowhere"), "/bin/sh", launcher))
                .hasLineCount(1)
                .contains("'java'");
    }

    /** From its own folder, through a link without coreutils in the path, and under a name that is not ASCII. */
    @Test
    void theImageRunsWhereverItIs() throws Exception {
        Path home = folder.resolve("im");
        Path bin = Files.createDirectories(home.resolve("bin"));
        Path java = Files.createDirectories(home.resolve("runtime/bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\necho \"${LC_ALL:-none} $*\"\n", StandardOpenOption.CREATE_NEW);
        Files.copy(SOURCES.resolve("image/tamanoir"), bin.resolve("tamanoir"));
        assertThat(java.toFile().setExecutable(true)).isTrue();
        assertThat(bin.resolve("tamanoir").toFile().setExecutable(true)).isTrue();
        Path link = Files.createSymbolicLink(folder.resolve("link"), bin.resolve("tamanoir"));

        assertThat(run(0, bin, Map.of(), "/bin/sh", "tamanoir", "x"))
                .startsWith("none ")
                .endsWith(" x\n");
        assertThat(run(0, folder, Map.of("PATH", "/nowhere"), link.toString(), "x"))
                .startsWith("none ")
                .endsWith(" x\n");
        // The shell makes the name: this JVM may be under a locale in which it cannot.
        run(0, folder, Map.of(), "/bin/sh", "-c", "/bin/mv im \"$(printf '\\303\\274')\"");
        assertThat(run(
                        0,
                        folder,
                        Map.of("LC_ALL", "C"),
                        "/bin/sh",
                        "-c",
                        "./\"$(printf '\\303\\274')\"/bin/tamanoir x"))
                .startsWith("C.UTF-8 ")
                .endsWith(" x\n");
    }

    private static String run(int status, Path in, Map<String, String> environment, String... command)
            throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(in.toFile()).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isEqualTo(status);
        return said;
    }
}
