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
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.Main;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Holds the commands and the configuration of docs/writing-services.md against the program. */
@Tag("once")
class DocumentedServicesTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "writing-services.md");
    private static final Pattern COMMAND =
            Pattern.compile("java -jar (?:tamanoir-node\\.jar|\"\\$TAMANOIR\") ([^`|\\n]+)");
    private static final Pattern YAML = Pattern.compile("```yaml\\n(# node.yaml\\n.*?)```", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    @TempDir
    Path folder;

    private static List<String> words(String command) {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(command);
        while (word.find()) {
            words.add(word.group(1) == null ? word.group(2) : word.group(1));
        }
        return words;
    }

    /** Which commands a text tells the reader to type; each must be one that the program takes. */
    private static List<String> commands(String text) {
        List<String> commands = new ArrayList<>();
        Matcher command = COMMAND.matcher(text);
        while (command.find()) {
            List<String> words = words(command.group(1));
            commands.add(words.get(0));
            CommandLine program = Main.commandLine(words.get(0));
            ParseResult parsed = program.parseArgs(words.toArray(String[]::new));
            assertThat(parsed.hasSubcommand()).as(command.group()).isTrue();
        }
        return commands;
    }

    @Test
    void everyCommandOfTheWalkIsOneThatTheProgramTakes() throws IOException {
        assertThat(commands(Files.readString(DOCUMENT)))
                .containsSubsequence(
                        "new-service", "keygen", "repository", "publish", "node", "node", "receive", "send");
    }

    @Test
    void everyCommandOfANewProjectIsOneThatTheProgramTakes() throws IOException {
        Path jar = Files.write(folder.resolve("node.jar"), new byte[0]);
        new ServiceProject("org.example.Foo").writeTo(folder.resolve("foo"), jar, null);
        assertThat(commands(Files.readString(folder.resolve("foo/README.md"))))
                .containsExactly("receive", "send", "keygen", "publish", "node", "receive", "send");
    }

    @Test
    void theConfigurationOfTheWalkIsValid() throws IOException {
        Matcher yaml = YAML.matcher(Files.readString(DOCUMENT));
        assertThat(yaml.find()).isTrue();
        StringWriter err = new StringWriter();
        PrintWriter out = new PrintWriter(new StringWriter());
        Path key = folder.resolve("my.key");
        assertThat(Main.run(out, new PrintWriter(err, true), "keygen", key.toString()))
                .isZero();
        Path file = Files.writeString(folder.resolve("node.yaml"), yaml.group(1).replace("my.key.pub", key + ".pub"));
        assertThat(Main.run(out, new PrintWriter(err, true), "node", "-c", file.toString(), "--validate"))
                .as(err.toString())
                .isZero();
    }
}
