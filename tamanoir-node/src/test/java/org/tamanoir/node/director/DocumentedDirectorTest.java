package org.tamanoir.node.director;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.Setting;
import org.tamanoir.node.config.YamlNode;
import org.tamanoir.node.config.YamlTree;
import org.tamanoir.support.SecretFile;
import org.tamanoir.tls.TestAuthority;

@Tag("once")
class DocumentedDirectorTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "cluster.md");

    @TempDir
    Path folder;

    private static List<String> examples() throws IOException {
        Matcher block = Pattern.compile("```yaml\\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(DOCUMENT));
        return block.results().map(found -> found.group(1)).toList();
    }

    private DirectorSettings read(String example) throws Exception {
        if (!Files.exists(folder.resolve("publisher"))) {
            SigningKey.generate().write(folder.resolve("publisher"));
        }
        SecretFile.write(folder.resolve("nodes.token"), "0123456789abcdef");
        SecretFile.write(folder.resolve("admin.token"), "fedcba9876543210");
        SecretFile.write(folder.resolve("node4.token"), "0123456789abcdef-node4");
        Path authority = new TestAuthority(folder, "authority").files("front1").trust();
        Path file = Files.writeString(
                folder.resolve("director.yaml"),
                example.replace("/etc/tamanoir/authority.pem", String.valueOf(authority))
                        .replace("/etc/tamanoir/", folder + "/"));
        Problems problems = new Problems();
        DirectorSettings settings = DirectorFile.read(file, problems);
        assertThat(problems.lines()).isEmpty();
        return Objects.requireNonNull(settings);
    }

    @Test
    void theCompleteExampleLoadsAndSoDoesThatOfTwoDirectors() throws Exception {
        assertThat(read(examples().get(0)).director().services()).hasSize(3);
        DirectorSettings pair = read(examples().get(1));
        assertThat(pair.director().vrrp()).isNotNull();
        assertThat(pair.ready()).isNotNull();
    }

    @Test
    void theExamplesHaveEveryKeyAndTheTablesNameEveryKey() throws Exception {
        Set<String> used = new TreeSet<>();
        keys("", YamlTree.parse(examples().get(0)), used);
        keys("", YamlTree.parse(examples().get(1)), used);
        used.remove("settings.sync_threshold");
        assertThat(used)
                .contains("vrrp.peers", "services.one-packet", "registration.plain", "admin.ready", "code.trust.names")
                .hasSize(55);
        String text = Files.readString(DOCUMENT);
        for (String key : used) {
            String last = key.substring(key.lastIndexOf('.') + 1);
            assertThat(text).as(key).containsPattern("`(\\w+\\.)?" + Pattern.quote(last) + "(: FILE|: \\[pattern])?`");
        }
    }

    @Test
    void theTablesSayWhatTheSettingsAre() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT);
        for (Setting<?> setting : DirectorTable.ALL) {
            if (!setting.section().equals("tls")) {
                assertThat(lines).contains(setting.row(setting.path()));
            }
        }
        for (Setting.Table table : List.of(DirectorServices.TABLE, DirectorBackEnds.TABLE, DirectorVrrp.TABLE)) {
            assertThat(lines)
                    .containsSequence(table.settings().stream()
                            .map(setting -> setting.row(setting.path()))
                            .toList());
        }
    }

    /** All keys whose value is no mapping, by their paths. */
    private static void keys(String path, YamlNode node, Set<String> keys) {
        if (node instanceof YamlNode.Fields mapping) {
            mapping.fields()
                    .forEach(field ->
                            keys(path.isEmpty() ? field.key() : path + "." + field.key(), field.value(), keys));
        } else if (node instanceof YamlNode.Items list) {
            boolean mappings = list.items().stream().anyMatch(YamlNode.Fields.class::isInstance);
            if (mappings) {
                list.items().forEach(item -> keys(path, item, keys));
            } else {
                keys.add(path);
            }
        } else {
            keys.add(path);
        }
    }
}
