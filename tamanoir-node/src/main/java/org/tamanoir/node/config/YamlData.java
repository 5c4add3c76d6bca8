package org.tamanoir.node.config;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.text.Decimals;

/** Reads YAML or JSON as maps, lists, texts, numbers, booleans and nulls, what plain words mean as in JSON. Any thread. */
public final class YamlData {
    private static final Pattern WHOLE = Pattern.compile("-?(0|[1-9]\\d*)");
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][-+]?\\d+)?");
    private static final int LONG_DIGITS = 18;

    private YamlData() {}

    /**
     * Reads a file of a mapping, at most 1 MiB.
     *
     * @throws IllegalArgumentException in one line with the place, if there is none
     */
    public static Map<String, @Nullable Object> read(Path file) {
        try {
            YamlNode root = YamlTree.parse(ConfigFile.text(file));
            if (root instanceof YamlNode.Fields fields) {
                return data(file, fields);
            }
            throw new IllegalArgumentException(file + ":" + root.line() + ": " + root.kind() + ": a mapping is wanted");
        } catch (YamlTree.SyntaxException e) {
            throw new IllegalArgumentException(file + ":" + e.line + ": " + e.getMessage(), e);
        } catch (SmallFile.TooLargeException e) {
            throw new IllegalArgumentException(
                    file + ": larger than " + Quantity.toString(ConfigFile.MAX_BYTES) + ": write less", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + ": cannot be read: " + ConfigFile.reason(e), e);
        }
    }

    /**
     * Returns what a plain word of YAML means.
     *
     * @throws FormatException if it is a number that no double holds
     */
    public static Object word(String text) {
        if (text.equals("true") || text.equals("false")) {
            return text.equals("true");
        }
        if (WHOLE.matcher(text).matches()) {
            return text.length() <= LONG_DIGITS ? (Object) Long.valueOf(text) : new BigInteger(text);
        }
        return NUMBER.matcher(text).matches() ? (Object) Decimals.floating(text, Double.BYTES) : text;
    }

    private static @Nullable Object data(Path file, YamlNode node) {
        if (node instanceof YamlNode.Scalar scalar) {
            try {
                return scalar.isEmpty() ? null : scalar.quoted() ? scalar.text() : word(scalar.text());
            } catch (FormatException e) {
                throw new IllegalArgumentException(file + ":" + scalar.line() + ": " + e.getMessage(), e);
            }
        }
        if (node instanceof YamlNode.Items items) {
            List<@Nullable Object> list = new ArrayList<>();
            items.items().forEach(item -> list.add(data(file, item)));
            return list;
        }
        return data(file, (YamlNode.Fields) node);
    }

    private static Map<String, @Nullable Object> data(Path file, YamlNode.Fields fields) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (YamlNode.Field field : fields.fields()) {
            if (map.containsKey(field.key())) {
                throw new IllegalArgumentException(
                        file + ":" + field.line() + ": " + field.key() + " stands here a second time; remove one");
            }
            map.put(field.key(), data(file, field.value()));
        }
        return map;
    }
}
