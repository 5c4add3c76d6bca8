package org.tamanoir.node.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.cluster.reflect.Direction;
import org.tamanoir.cluster.reflect.Format;
import org.tamanoir.cluster.reflect.SessionConfig;
import org.tamanoir.cluster.reflect.Terms;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.Setting;
import org.tamanoir.support.SecretFile;

@Tag("once")
class DocumentedReflectorTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "reflector.md");

    @TempDir
    Path folder;

    private final Problems problems = new Problems();

    private ReflectSettings read(String text) throws IOException {
        SecretFile.write(folder.resolve("reflector.token"), "0123456789abcdef");
        Path file = Files.writeString(folder.resolve("reflector.yaml"), text.replace("/etc/tamanoir/", folder + "/"));
        ReflectSettings settings = ReflectSettings.read(file, problems);
        assertThat(problems.lines()).isEmpty();
        return Objects.requireNonNull(settings);
    }

    @Test
    void theExampleSaysWhatThePageSays() throws IOException {
        Matcher block = Pattern.compile("```yaml\\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(DOCUMENT));
        assertThat(block.find()).isTrue();
        ReflectSettings settings = read(block.group(1));
        SessionConfig lecture = settings.sessions().get(0);
        assertThat(lecture.format()).isEqualTo(Format.RTP);
        assertThat(lecture.joined()).isEqualTo(new Terms(Direction.RECEIVE, 2_500_000, Terms.ALL));
        assertThat(lecture.members().get(1).terms()).isEqualTo(new Terms(Direction.RECEIVE, 1_250_000, Terms.ALL));
        assertThat(settings.sessions().get(1).members().get(1).terms().quality())
                .isEqualTo(1);
        for (Setting<?> setting : ReflectTable.SESSIONS.settings()) {
            assertThat(block.group(1)).contains(setting.path() + ":");
        }
    }

    @Test
    void theTablesSayWhatTheSettingsAre() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT);
        for (Setting.Table table : List.of(ReflectTable.TABLE, ReflectTable.SESSIONS)) {
            assertThat(lines)
                    .containsSequence(table.settings().stream()
                            .map(setting -> setting.row(setting.path()))
                            .toList());
        }
    }

    @Test
    void everyMistakeIsToldWithItsLine() throws IOException {
        Path file = Files.writeString(folder.resolve("wrong.yaml"), """
                sessions:
                  - name: one
                    listen: 127.0.0.1:5000
                    members: ['127.0.0.1:1,fast', '127.0.0.1']
                    max-members: 5000
                  - listen: 127.0.0.1:5001
                  - name: three
                    listen: 127.0.0.1:5002
                    members: ['[::1]:9']
                """);
        assertThat(ReflectSettings.read(file, problems)).isNull();
        assertThat(problems.lines())
                .hasSize(5)
                .anyMatch(line -> line.contains(":4:") && line.contains("'fast' says nothing of a member"))
                .anyMatch(line -> line.contains(":4:") && line.contains("with port 0"))
                .anyMatch(line -> line.contains(":5:") && line.contains("1 to 4096"))
                .anyMatch(line -> line.contains("name: is missing"))
                .anyMatch(line -> line.contains("is of another family than the input"));
    }
}
