package org.tamanoir.node;

import java.io.StringWriter;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * One object on one line: records, maps, lists, texts, numbers and booleans. Written here so
 * that the jar does without a library's data binding, 2 MB of 8.
 */
final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    static String of(Object value) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
            write(json, value);
        }
        return text.toString();
    }

    private static void write(JsonGenerator json, @Nullable Object value) {
        if (value == null) {
            json.writeNull();
        } else if (value instanceof Record fields) {
            json.writeStartObject();
            for (RecordComponent field : value.getClass().getRecordComponents()) {
                json.writeName(field.getName());
                write(json, read(field, fields));
            }
            json.writeEndObject();
        } else if (value instanceof Map<?, ?> fields) {
            json.writeStartObject();
            fields.forEach((name, field) -> {
                json.writeName(String.valueOf(name));
                write(json, field);
            });
            json.writeEndObject();
        } else if (value instanceof List<?> items) {
            json.writeStartArray();
            items.forEach(item -> write(json, item));
            json.writeEndArray();
        } else if (value instanceof Boolean truth) {
            json.writeBoolean(truth);
        } else if (value instanceof Double number) {
            json.writeNumber(number);
        } else if (value instanceof Number number) {
            json.writeNumber(number.longValue());
        } else {
            json.writeString(value.toString());
        }
    }

    private static @Nullable Object read(RecordComponent field, Record fields) {
        try {
            return field.getAccessor().invoke(fields);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot read " + field, e);
        }
    }
}
