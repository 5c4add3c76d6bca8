package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Suggestion;

/**
 * A mapping of the configuration file while it is being read: gives values by key and reports every error with
 * file, line and path. A key that is absent, or has nothing behind it, keeps its default. One thread.
 */
public final class Section {
    private final String file;
    private final String path;
    private final int line;
    private final Problems problems;
    private final boolean isMapping;
    private final Map<String, YamlNode.Field> fields = new LinkedHashMap<>();

    /**
     * Looks at its keys.
     *
     * @param file empty = problems are told by path alone
     * @param path empty = the whole file
     */
    Section(String file, String path, YamlNode node, Problems problems) {
        this.file = file;
        this.path = path;
        this.line = node.line();
        this.problems = problems;
        if (node instanceof YamlNode.Fields mapping) {
            for (YamlNode.Field field : mapping.fields()) {
                YamlNode.Field first = fields.putIfAbsent(field.key(), field);
                if (first != null) {
                    problem(
                            field.line(),
                            field.key(),
                            "stands here a second time, first in line " + first.line() + "; remove one");
                }
            }
        }
        isMapping = node instanceof YamlNode.Fields || node instanceof YamlNode.Scalar scalar && scalar.isEmpty();
        if (!isMapping) {
            problem(line, "", node.kind() + " stands where a mapping (key: value) is wanted");
        }
    }

    /** Line of the section's beginning. */
    int line() {
        return line;
    }

    public boolean has(String key) {
        YamlNode.Field field = fields.get(key);
        return field != null && !(field.value() instanceof YamlNode.Scalar scalar && scalar.isEmpty());
    }

    /** Reports keys that are none of these, with the nearest one. */
    public void allow(String... known) {
        for (YamlNode.Field field : fields.values()) {
            if (!Arrays.asList(known).contains(field.key())) {
                problem(field.line(), field.key(), "unknown key; " + suggestion(field.key(), known));
            }
        }
    }

    void allow(List<Setting<?>> known) {
        allow(known.stream().map(Setting::key).toArray(String[]::new));
    }

    boolean isEmptyList(String key) {
        YamlNode.Field field = fields.get(key);
        return field != null
                && field.value() instanceof YamlNode.Items list
                && list.items().isEmpty();
    }

    /** A value made from text; {@code parser} throws {@link IllegalArgumentException} with what is wrong. */
    public <T> @Nullable T value(String key, Function<String, T> parser) {
        YamlNode.Field field = fields.get(key);
        return field == null || !has(key) ? null : scalar(field.value(), key, parser);
    }

    /** Like {@link #value}, with a default for what is absent or wrong. */
    public <T> T value(String key, T defaultValue, Function<String, T> parser) {
        T value = value(key, parser);
        return value == null ? defaultValue : value;
    }

    /** Reports a key that is absent. */
    void require(String key, String example) {
        if (!has(key)) {
            problem(line, key, "is missing: add it, as in '" + key + ": " + example + "'");
        }
    }

    /** The values of a list of texts, without those that are wrong. */
    public <T> List<T> values(String key, Function<String, T> parser) {
        List<T> values = new ArrayList<>();
        forEach(key, "a text", (item, name) -> {
            T value = scalar(item, name, parser);
            if (value != null) {
                values.add(value);
            }
        });
        return values;
    }

    /** The same, where one text may stand in place of a list of one. */
    public <T> List<T> valuesOrOne(String key, Function<String, T> parser) {
        YamlNode.Field field = fields.get(key);
        if (field != null && has(key) && field.value() instanceof YamlNode.Scalar) {
            T value = scalar(field.value(), key, parser);
            return value == null ? List.of() : List.of(value);
        }
        return values(key, parser);
    }

    /** The section behind a key; an empty one when it is absent. */
    public Section section(String key) {
        YamlNode.Field field = fields.get(key);
        YamlNode node = field == null ? new YamlNode.Fields(line, List.of()) : field.value();
        return new Section(file, join(key), node, problems);
    }

    /** The sections of a list of mappings. */
    public List<Section> sections(String key) {
        List<Section> sections = new ArrayList<>();
        forEach(key, "a mapping", (item, name) -> {
            Section section = new Section(file, join(name), item, problems);
            if (section.isMapping) {
                sections.add(section);
            }
        });
        return sections;
    }

    /** The sections of a list of mappings; none when there are more than allowed, which is reported. */
    public List<Section> sections(String key, int most) {
        List<Section> sections = sections(key);
        if (sections.size() > most) {
            problems.add(where(key), sections.size() + " are too many: " + most + " are allowed");
            return List.of();
        }
        return sections;
    }

    /** All keys with their texts. */
    public Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        for (YamlNode.Field field : fields.values()) {
            String text = scalar(field.value(), field.key(), Function.identity());
            if (text != null) {
                texts.put(field.key(), text);
            }
        }
        return texts;
    }

    /** Where it begins: {@code FILE:LINE: path}. */
    public String where() {
        return where(line, "");
    }

    /** Where the value of a key stands: {@code FILE:LINE: path}. */
    public String where(String key) {
        YamlNode.Field field = fields.get(key);
        return where(field == null ? line : field.line(), key);
    }

    public Problems problems() {
        return problems;
    }

    private interface ItemReader {
        void read(YamlNode item, String name);
    }

    private void forEach(String key, String wanted, ItemReader reader) {
        YamlNode.Field field = fields.get(key);
        if (field == null || !has(key)) {
            return;
        }
        if (field.value() instanceof YamlNode.Items list) {
            for (int i = 0; i < list.items().size(); i++) {
                reader.read(list.items().get(i), key + "[" + i + "]");
            }
        } else {
            problem(
                    field.value().line(),
                    key,
                    field.value().kind() + " stands where a list is wanted; begin each item with '- '; each is "
                            + wanted);
        }
    }

    private <T> @Nullable T scalar(YamlNode node, String name, Function<String, T> parser) {
        if (node instanceof YamlNode.Scalar scalar) {
            try {
                return parser.apply(scalar.text());
            } catch (IllegalArgumentException e) {
                problem(scalar.line(), name, String.valueOf(e.getMessage()));
            }
        } else {
            String remedy = node instanceof YamlNode.Items ? "; put a text with brackets in quotes" : "";
            problem(node.line(), name, node.kind() + " stands where one value is wanted" + remedy);
        }
        return null;
    }

    private void problem(int line, String name, String what) {
        problems.add(where(line, name), what);
    }

    private String where(int line, String name) {
        String full = name.isEmpty() ? path : join(name);
        return file.isEmpty() ? full : file + ":" + line + (full.isEmpty() ? "" : ": " + full);
    }

    private String join(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    private static String suggestion(String key, String... known) {
        Set<String> sorted = new TreeSet<>(Arrays.asList(known));
        return Suggestion.nearest(key, sorted)
                .map(nearest -> "did you mean '" + nearest + "'?")
                .orElse("known: " + String.join(", ", sorted));
    }
}
