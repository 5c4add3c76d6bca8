package org.tamanoir.node.config;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.tamanoir.node.cli.Json;

/** Writes maps, lists, texts and numbers as YAML, which {@link YamlTree} reads as the same. */
public final class Yaml {
    /** What needs no quotes in YAML, in brackets or not. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_./+-]*");

    private Yaml() {}

    /** Writes the fields line by line; empty ones are left out. */
    public static String of(Map<?, ?> fields) {
        StringBuilder out = new StringBuilder();
        block(out, "", "", fields);
        return out.toString();
    }

    private static void block(StringBuilder out, String firstIndent, String indent, Map<?, ?> fields) {
        String before = firstIndent;
        for (Map.Entry<?, ?> field : fields.entrySet()) {
            Object value = field.getValue();
            if (isEmpty(value)) {
                continue;
            }
            out.append(before).append(flow(field.getKey())).append(':');
            before = indent;
            if (value instanceof Map<?, ?> map) {
                block(out.append('\n'), indent + "  ", indent + "  ", map);
            } else if (value instanceof List<?> items && items.get(0) instanceof Map) {
                out.append('\n');
                items.forEach(item -> block(out, indent + "  - ", indent + "    ", (Map<?, ?>) item));
            } else {
                out.append(' ').append(flow(value)).append('\n');
            }
        }
    }

    private static boolean isEmpty(Object value) {
        return value == null
                || value instanceof List<?> list && list.isEmpty()
                || value instanceof Map<?, ?> map && map.values().stream().allMatch(Yaml::isEmpty);
    }

    /** Writes a value in one line; of maps what is there. */
    static String flow(Object value) {
        if (value instanceof List<?> items) {
            return items.stream().map(Yaml::flow).collect(Collectors.joining(", ", "[", "]"));
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .filter(field -> field.getValue() != null)
                    .map(field -> flow(field.getKey()) + ": " + flow(field.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        String text = value.toString();
        return PLAIN.matcher(text).matches() && !text.equals("null") ? text : Json.of(text);
    }
}
