package org.tamanoir.node.author;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.Main;
import org.tamanoir.support.SecretFile;

/** Holds the walk of docs/morphing.md against the program. */
@Tag("once")
@Tag("process")
@Timeout(240)
class DocumentedMorphingTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "morphing.md");
    private static final Pattern COMMAND = Pattern.compile("java -jar tamanoir-node\\.jar ([^`|\\n]+)");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    @TempDir
    Path folder;

    /** Returns what stands between these. */
    private static String block(String begin) throws IOException {
        String behind = Files.readString(DOCUMENT).split(Pattern.quote(begin), 2)[1];
        return behind.substring(0, behind.indexOf("```"));
    }

    @Test
    void everyCommandIsOneThatTheProgramTakes() throws IOException {
        List<String> commands = new ArrayList<>();
        Matcher command = COMMAND.matcher(Files.readString(DOCUMENT));
        while (command.find()) {
            List<String> words = WORD.matcher(command.group(1))
                    .results()
                    .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                    .toList();
            commands.add(words.get(0));
            assertThat(Main.commandLine(words.get(0))
                            .parseArgs(words.toArray(String[]::new))
                            .hasSubcommand())
                    .as(command.group())
                    .isTrue();
        }
        assertThat(commands).containsExactly("demo", "ffs", "node", "receive", "send", "ctl", "ctl", "ctl");
    }

    @Test
    void theChainOfTheWalkIsTaken() throws Exception {
        Path source = Files.writeString(folder.resolve("Orders.java"), block("```java\n"));
        Process written = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString())
                .directory(folder.toFile())
                .inheritIO()
                .start();
        assertThat(written.waitFor()).isZero();
        Path plan = Files.writeString(folder.resolve("parcels.yaml"), block("# parcels.yaml\n"));
        Path token = SecretFile.write(folder.resolve("admin.token"), "0123456789abcdef0123456789abcdef\n");
        Path config = Files.writeString(
                folder.resolve("node.yaml"),
                block("# node.yaml\n")
                        .replace("parcels.yaml", plan.toString())
                        .replace("admin.token", token.toString()));
        StringWriter err = new StringWriter();
        int code = Main.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(err, true),
                "node",
                "-c",
                config.toString(),
                "--validate");
        assertThat(code).as("%s", err).isZero();
    }
}
