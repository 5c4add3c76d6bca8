package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Target;

/** docs/handlers.md names all kinds, and all settings of those that it describes. */
@Tag("once")
class DocumentedTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("id", "integer", 8)
            .build();
    private static final Map<String, Object> SETTINGS = Map.of(
            "translate", "flight",
            "select", "id",
            "merge", Map.of("key", "id", "from", List.of("flight", "flight"), "output", "flight"),
            "reduce", Map.of("count", 5, "fields", Map.of("n", "count")),
            "split", Map.of("to", List.of(Map.of("to", "10.0.0.8:4000", "when", "true", "select", "id"))),
            "enrich", Map.of("table", "table.csv", "key", "id"),
            "versions", List.of(Map.of("from", "flight", "translate", "flight")));

    @TempDir
    private Path folder;

    private static String page() throws IOException {
        return Files.readString(Path.of("../docs/handlers.md"));
    }

    @Test
    void allKindsAreNamed() throws IOException {
        for (String kind : HandlerKinds.all().keySet()) {
            assertThat(page()).containsPattern("(?m)^\\| \\[?`" + kind + "`");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"translate", "select", "merge", "reduce", "split", "enrich", "versions"})
    void settingsAreDescribed(String name) throws IOException {
        Files.writeString(folder.resolve("table.csv"), "id,n\n1,2\n");
        HandlerKind kind = Objects.requireNonNull(HandlerKinds.all().get(name));
        HandlerSettings settings = HandlerSettings.of(
                name, kind.main(), SETTINGS.get(name), new PlanNames(Map.of("flight", Target.of(FLIGHT)), folder));
        kind.make(settings);
        String section = page().split("\n## " + name + "\n", 2)[1].split("\n## ", 2)[0];

        assertThat(settings.known())
                .isNotEmpty()
                .allSatisfy(key -> assertThat(section).contains("`" + key + "`"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"merge", "reduce", "split", "enrich"})
    void reasonsOfDropsAreListed(String name) throws Exception {
        Map<String, Class<?>> classes =
                Map.of("merge", Merge.class, "reduce", Reduce.class, "split", Split.class, "enrich", Enrich.class);
        for (var field : Objects.requireNonNull(classes.get(name)).getDeclaredFields()) {
            boolean reason =
                    field.getType() == String.class && java.lang.reflect.Modifier.isStatic(field.getModifiers());
            if (reason) {
                assertThat(page()).contains("| `" + field.get(null) + "` |");
            }
        }
    }
}
