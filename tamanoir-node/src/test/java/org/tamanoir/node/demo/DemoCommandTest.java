package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.Main;
import org.tamanoir.node.Program;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("once")
@Tag("process")
@Timeout(120)
class DemoCommandTest {
    private static final int PATIENCE_S = 40;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    /** Half of it compresses well, half not at all. */
    private Path file(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        Arrays.fill(content, bytes / 4, 3 * bytes / 4, (byte) 'a');
        return Files.write(folder.resolve("sent"), content);
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void everyPhaseBringsTheSameBytes(String transport) throws IOException {
        int bytes = 4_000_001;
        int code = run(
                "demo",
                "--json",
                "--transport",
                transport,
                "--file",
                file(bytes).toString());
        assertThat(code).as("%s%s", out, err).isZero();
        JsonNode report = new JsonMapper().readTree(out.toString());
        assertThat(report.get("equal").asBoolean()).isTrue();
        assertThat(report.get("bytes").asLong()).isEqualTo(bytes);
        assertThat(report.get("phases").values())
                .extracting(phase -> phase.get("name").asString())
                .containsExactly("TCP Monitor", "TCP Gzip-Gunzip", "UDP Monitor");
        for (JsonNode phase : report.get("phases").values()) {
            assertThat(phase.get("bytesEqual").asBoolean()).as("%s", phase).isTrue();
            assertThat(phase.get("firstNodeIn").asLong())
                    .isEqualTo(phase.get("packets").asLong());
            assertThat(phase.get("secondNodeIn").asLong())
                    .isEqualTo(phase.get("firstNodeOut").asLong());
        }
        assertThat(report.get("phases").get(0).get("linkRatio").asDouble()).isEqualTo(1);
        assertThat(report.get("phases").get(1).get("linkRatio").asDouble()).isGreaterThan(1.5);
        for (String node : List.of("firstNode", "secondNode")) {
            assertThat(report.get(node).get("unaccounted").asLong()).isZero();
            assertThat(report.get(node).get("held").asLong()).isZero();
        }
    }

    @Test
    void withoutJsonItIsATableAndABalance() throws IOException {
        assertThat(run("demo", "--file", file(300_000).toString())).isZero();
        List<String> lines = out.toString().lines().toList();
        assertThat(lines.get(0)).isEqualTo("file: " + folder.resolve("sent") + ", 300,000 bytes");
        assertThat(lines).anyMatch(line -> line.matches("bytes equal +yes +yes +yes"));
        assertThat(lines).anyMatch(line -> line.startsWith("second node: ") && line.contains(" + 0 held;"));
        assertThat(lines).allMatch(line -> line.length() <= 140);
    }

    @Test
    void aFileThatIsNotThereIsOneLineAndCode2() throws IOException {
        Path empty = Files.createFile(folder.resolve("empty"));
        assertThat(run("demo", "--file", folder.resolve("none").toString())).isEqualTo(2);
        assertThat(run("demo", "--file", empty.toString())).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        "tamanoir demo: cannot read " + folder.resolve("none") + ": no such file, or no permission",
                        "tamanoir demo: " + empty + " is empty: name a file with bytes to send");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aFileIsFoundOnThisMachine() throws IOException {
        DemoFile found = DemoFile.find();
        assertThat(found.bytes()).isBetween(1L, (long) DemoFile.MAX_BYTES);
        assertThat(found.sha256()).hasSize(64);
    }

    @Test
    void keptNodesTakeTheCommandsThatAreSuggested() throws Exception {
        Process demo = Program.start("demo", "--keep", "--file", file(100_000).toString());
        try (BufferedReader lines = demo.inputReader()) {
            String hint = next(lines, " send --to ");
            String command = hint.substring(hint.indexOf(" send --to ") + 1).replaceFirst("--duration \\S+", "");
            assertThat(run((command + "--count 5000").split(" "))).as("%s", err).isZero();
            assertThat(next(lines, "stream ")).contains("5,000 packets", "0 lost", "0 corrupt");
            demo.toHandle().destroy(); // SIGTERM; Process.destroy would close the pipe too
            assertThat(next(lines, "second node: ")).contains(" + 0 held;");
            assertThat(demo.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
            assertThat(demo.exitValue()).isEqualTo(128 + 15);
        } finally {
            demo.destroyForcibly();
        }
    }

    /** The next line with this in it; the test's time-out bounds the wait. */
    private static String next(BufferedReader lines, String part) throws IOException {
        String line = lines.readLine();
        while (line != null && !line.contains(part)) {
            line = lines.readLine();
        }
        assertThat(line).as("a line with '%s'", part).isNotNull();
        return String.valueOf(line);
    }
}
