package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.arena.Fields;
import org.tamanoir.arena.SlotKind;
import org.tamanoir.node.LostOutput;
import org.tamanoir.node.Main;
import org.tamanoir.node.cli.ExitCode;

/** A node's arena as other processes see it: by the command, and by the program of docs/sharing.md. */
@Timeout(120)
@DisabledOnOs(OS.WINDOWS)
@SuppressWarnings("try") // The node runs until it is closed.
class ArenaNodeTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "sharing.md");
    private static final Pattern PYTHON = Pattern.compile("```python\n(.*?)```", Pattern.DOTALL);
    private static final Pattern NUMBER = Pattern.compile("\\| (\\d+) \\| `(\\w+)` \\|[^|]*\\| ([^|]+) \\|");
    private static final String QOS = """
            qos:
              classes:
                - {name: video, class-of-service: 0-3, weight: 70}
                - {name: rest, weight: 30}
              pre: {discipline: wfq, processors: 2}
              links:
                - {name: uplink, rate: 1MB/s}
            """;

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private Path file() {
        return folder.resolve("arena");
    }

    private LiveNode node(String name) throws IOException {
        return LiveNode.start(folder.resolve(name), "arena: " + file() + "\n" + QOS);
    }

    private int run(Object... options) {
        List<String> words = Stream.concat(
                        List.of("arena", file().toString()).stream(),
                        List.of(options).stream().map(String::valueOf))
                .toList();
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), words.toArray(String[]::new));
    }

    @Test
    void theCommandPrintsPointsClassesAndLinks() throws Exception {
        try (LiveNode node = node("node")) {
            assertThat(run()).isZero();
            assertThat(out.toString().lines().map(line -> line.replaceAll(" +", " ")))
                    .startsWith(
                            "KIND POINT NAME RUNNING WAITING RECENT NS WEIGHT QUEUED LIMIT DROPS PROCESSORS CONTENDED RATE TOKENS",
                            "point pre pre 0 0 0 100 - - - 2 0 - -",
                            "turns pre video 0 0 0 70 0 1048576 0 - - - -",
                            "turns pre rest 0 0 0 30 0 1048576 0 - - - -")
                    .anyMatch(line -> line.startsWith("link uplink uplink - - - 100 - - - - - 1000000 "))
                    .contains("queue uplink video - - - 70 0 1048576 0 - - - -");
            out.getBuffer().setLength(0);
            assertThat(run("--json")).isZero();
            assertThat(out.toString().strip())
                    .startsWith(
                            "{\"slots\":[{\"kind\":\"point\",\"point\":\"pre\",\"name\":\"pre\",\"turnsRunning\":0,");
            assertThat(err.toString()).isEmpty();
        }
    }

    @Test
    void anotherNodeIsRefusedTheFileAndItGoesWithItsOwn() throws Exception {
        try (LiveNode node = node("node")) {
            assertThatThrownBy(() -> node("other"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("belongs to a node that runs");
            assertThat(file()).exists();
        }
        assertThat(file()).doesNotExist();
        assertThat(run()).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString().strip()).isEqualTo("tamanoir arena: arena " + file() + ": is not there");
    }

    @Test
    void watchingEndsWhereNobodyReads() throws Exception {
        try (LiveNode node = node("node")) {
            String[] watching = {"arena", file().toString(), "--watch", "1"};
            assertThat(Main.run(LostOutput.writer(), new PrintWriter(err, true), watching))
                    .isEqualTo(ExitCode.FAILED);
            assertThat(err.toString()).startsWith("tamanoir: standard output cannot be written");
        }
    }

    @Test
    void watchingHasBounds() {
        assertThat(run("--watch", 0)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().strip()).isEqualTo("tamanoir arena: --watch 0: 1 to 3600000 ms are allowed");
    }

    @Test
    void theDocumentedNumbersAreThose() throws Exception {
        Matcher row = NUMBER.matcher(Files.readString(DOCUMENT));
        int numbers = 0;
        for (; row.find(); numbers++) {
            int field = Integer.parseInt(row.group(1));
            assertThat(Fields.NAMES.get(field)).isEqualTo(row.group(2));
            for (SlotKind kind : List.of(SlotKind.POINT, SlotKind.TURNS, SlotKind.LINK, SlotKind.QUEUE)) {
                String name = "`" + kind.name().toLowerCase(Locale.ROOT) + "`";
                assertThat(row.group(3).equals("all") || row.group(3).contains(name))
                        .as("%s of %s", row.group(2), kind)
                        .isEqualTo(kind.fields().contains(field));
            }
        }
        assertThat(numbers).isEqualTo(Fields.NAMES.size());
    }

    @Test
    @Tag("process")
    void theDocumentedProgramReadsIt() throws Exception {
        Matcher program = PYTHON.matcher(Files.readString(DOCUMENT));
        assertThat(program.find()).isTrue();
        Path script = Files.writeString(folder.resolve("arena.py"), program.group(1));
        try (LiveNode node = node("node")) {
            Process python;
            try {
                python = new ProcessBuilder("python3", script.toString(), file().toString())
                        .redirectErrorStream(true)
                        .start();
            } catch (IOException e) {
                System.out.println(
                        "skipped: the program of docs/sharing.md, since there is no python3: " + e.getMessage());
                return;
            }
            String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(python.waitFor()).as(said).isZero();
            assertThat(said.lines())
                    .contains(
                            "point pre 0 0 0 100 0 0 0 2 0 0 0",
                            "turns video 0 0 0 70 0 1048576 0 0 0 0 0",
                            "queue rest 0 0 0 30 0 1048576 0 0 0 0 0");
        }
    }
}
