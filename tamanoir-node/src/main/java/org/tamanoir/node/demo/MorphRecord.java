package org.tamanoir.node.demo;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.RecordView;

/**
 * A record that was sent or has come, with its values: maps, lists, {@link Long}, {@link Double} and texts.
 *
 * @param encoded not to be changed
 */
record MorphRecord(Format format, byte[] encoded, Map<String, @Nullable Object> values) {
    /** Reads a record. */
    static MorphRecord of(Format format, byte[] encoded) {
        RecordView view = new RecordView().wrap(format, ByteBuffer.wrap(encoded), 0, encoded.length);
        return new MorphRecord(format, encoded, texts(RecordTree.read(view)));
    }

    /** Returns a whole number. */
    static long number(Map<String, @Nullable Object> values, String field) {
        return values.get(field) instanceof Long number ? number : 0;
    }

    /** Returns a text. */
    static String text(Map<String, @Nullable Object> values, String field) {
        return String.valueOf(values.get(field));
    }

    /** Returns some of the fields. */
    static Map<String, @Nullable Object> some(Map<String, @Nullable Object> values, String... fields) {
        Map<String, @Nullable Object> some = new LinkedHashMap<>();
        for (String field : fields) {
            some.put(field, values.get(field));
        }
        return some;
    }

    /** Returns the structures of an array, each changed. */
    static List<Map<String, @Nullable Object>> each(
            Map<String, @Nullable Object> values, String field, UnaryOperator<Map<String, @Nullable Object>> change) {
        return values.get(field) instanceof List<?> list
                ? list.stream().map(element -> change.apply(map(element))).toList()
                : List.of();
    }

    @SuppressWarnings("unchecked") // Of a record's values, which have names of fields as keys.
    private static Map<String, @Nullable Object> map(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
    }

    private static Map<String, @Nullable Object> texts(Map<String, @Nullable Object> values) {
        values.replaceAll((field, value) -> readable(value));
        return values;
    }

    private static @Nullable Object readable(@Nullable Object value) {
        if (value instanceof byte[] text) {
            return new String(text, StandardCharsets.UTF_8);
        }
        if (value instanceof List<?> list) {
            return list.stream().map(MorphRecord::readable).toList();
        }
        return value instanceof Map<?, ?> ? texts(map(value)) : value;
    }
}
