package org.tamanoir.node.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.text.StrictUtf8;
import org.tamanoir.support.Damage;
import org.tamanoir.support.Seeds;

/** Random YAML, damaged or not: refused in one line, or of the shape and the texts that SnakeYAML's loader gives. */
@Tag("once")
class YamlFuzzTest {
    private static final int ROUNDS = 2_000;

    private static String word(Random random) {
        return Damage.any(
                random,
                "1",
                "010",
                "0x10",
                "yes",
                "1e400",
                "1e-400",
                "0.5",
                "-0",
                "null",
                "~",
                "\"\"",
                "'it''s'",
                "\"a\\nb\"",
                "\"\\ud83d\"",
                "\"\\ud83d\\ude00\"",
                "\"\\0\"",
                "!!int 7",
                "&a 1",
                "*a",
                "[1, 2]",
                "{x: 1, y: [z]}",
                "|\n  block\n  text",
                ">-\n  folded\n  text",
                "é",
                "\uFEFF",
                "12345678901234567890",
                "a b",
                "\"\\x41\"",
                "<<");
    }

    private static String document(Random random) {
        StringBuilder text = new StringBuilder(random.nextInt(4) == 0 ? "\uFEFF" : "");
        text.append(random.nextInt(6) == 0 ? "---\n" : "");
        String end = random.nextInt(4) == 0 ? "\r\n" : "\n";
        for (int n = random.nextInt(5); n > 0; n--) {
            String key = Damage.any(random, "a", "b", "c", "\"d\"", "1", "<<", "# e");
            switch (random.nextInt(3)) {
                case 0 ->
                    text.append(key).append(":").append(end).append("  - ").append(word(random));
                case 1 ->
                    text.append(key).append(":").append(end).append("  k: ").append(word(random));
                default -> text.append(key).append(": ").append(word(random));
            }
            text.append(end);
        }
        return text.toString();
    }

    private static void compare(@Nullable Object loaded, YamlNode node, String shown) {
        if (node instanceof YamlNode.Scalar scalar) {
            if (scalar.quoted() || loaded instanceof String) {
                assertEquals(scalar.text(), loaded, shown);
                assertTrue(StrictUtf8.isText(scalar.text()), shown);
            }
        } else if (node instanceof YamlNode.Items items) {
            List<?> list = assertInstanceOf(List.class, loaded, shown);
            assertEquals(list.size(), items.items().size(), shown);
            for (int i = 0; i < list.size(); i++) {
                compare(list.get(i), items.items().get(i), shown);
            }
        } else if (node instanceof YamlNode.Fields fields
                && !(loaded == null && fields.fields().isEmpty())) {
            Map<?, ?> map = assertInstanceOf(Map.class, loaded, shown);
            HashSet<String> keys = new HashSet<>();
            fields.fields().forEach(field -> keys.add(field.key()));
            if (keys.size() == fields.fields().size() && map.keySet().stream().allMatch(String.class::isInstance)) {
                assertEquals(keys, map.keySet(), shown);
                fields.fields().forEach(field -> compare(map.get(field.key()), field.value(), shown));
            }
        }
    }

    @Test
    void aDocumentIsWhatTheLoaderSaysOrRefused() {
        LoadSettings settings = LoadSettings.builder()
                .setAllowDuplicateKeys(true)
                .setBufferSize(1 << 12)
                .build();
        for (long seed : Seeds.ofCommit(YamlFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            byte[] bytes = Damage.of(document(random).getBytes(StandardCharsets.UTF_8), random);
            String shown = "seed " + seed + ": " + new String(bytes, StandardCharsets.ISO_8859_1);
            YamlNode root;
            String text;
            try {
                text = StrictUtf8.decode(bytes);
                root = YamlTree.parse(text);
            } catch (CharacterCodingException | YamlTree.SyntaxException e) {
                assertTrue(String.valueOf(e.getMessage()).lines().count() == 1, shown);
                continue;
            }
            compare(new Load(settings).loadFromString(text), root, shown);
        }
    }

    @Test
    void aWordIsWhatJsonSaysOrAText() {
        for (long seed : Seeds.ofCommit(YamlFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            byte[] bytes = Damage.of(
                    Damage.any(random, "1", "-0", "1.5", "1e400", "12345678901234567890", "0.1e-5", "true", "1E+9")
                            .getBytes(StandardCharsets.UTF_8),
                    random);
            String word = new String(bytes, StandardCharsets.UTF_8);
            try {
                Object value = YamlData.word(word);
                if (value instanceof Double number) {
                    assertEquals(Double.parseDouble(word), number, word);
                    assertTrue(Double.isFinite(number), word);
                } else if (!(value instanceof String)) {
                    assertEquals(word.equals("-0") ? "0" : word, value.toString(), word);
                } else {
                    assertEquals(word, value);
                }
            } catch (FormatException e) {
                double number = Double.parseDouble(word);
                assertTrue(Double.isInfinite(number) || number == 0, word);
            }
        }
    }
}
