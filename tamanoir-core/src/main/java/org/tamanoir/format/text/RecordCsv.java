package org.tamanoir.format.text;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Structure;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes records of one format as comma-separated values (RFC 4180): a column for each field, those of structures inside
 * as {@code outer.inner}; null is an empty cell, {@code ""} where it is a row's only one, since readers drop empty lines;
 * what is no number and no text is its JSON.
 *
 * <p>Thread contract: one thread.
 */
public final class RecordCsv {
    private final JsonMapper mapper = JsonMapper.builder(RecordJson.factory()).build();
    private final RecordJson json = new RecordJson();
    private final Writer out;

    /** Makes a writer; the caller closes what it writes to. */
    public RecordCsv(Writer out) {
        this.out = out;
    }

    /**
     * Writes the names of the columns.
     *
     * @throws FormatException if two fields would be one column
     */
    public void header(Format format) {
        Map<String, String> names = new LinkedHashMap<>();
        columns("", format.top(), names);
        row(names.keySet().iterator());
    }

    private static void columns(String before, Structure structure, Map<String, String> names) {
        for (Field field : structure.fields()) {
            Structure inner = field.type().isLeaf() ? field.type().structure() : null;
            if (inner != null) {
                columns(before + field.name() + ".", inner, names);
            } else if (names.put(before + field.name(), field.typeText()) != null) {
                throw new FormatException(
                        FormatFault.VALUE, "two fields are the column '" + before + field.name() + "': take JSON");
            }
        }
    }

    /** Writes a record as a row. */
    public void record(RecordView record) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = mapper.createGenerator(text)) {
            json.write(record, generator);
        }
        Map<String, String> cells = new LinkedHashMap<>();
        cells("", record.format().top(), mapper.readTree(text.toString()), cells);
        row(cells.values().iterator());
    }

    private static void cells(String before, Structure structure, JsonNode values, Map<String, String> cells) {
        for (Field field : structure.fields()) {
            JsonNode value = values.get(field.name());
            Structure inner = field.type().isLeaf() ? field.type().structure() : null;
            if (inner != null) {
                cells(before + field.name() + ".", inner, value, cells);
            } else {
                cells.put(
                        before + field.name(),
                        value.isNull() ? "" : value.isString() ? value.asString() : value.toString());
            }
        }
    }

    private void row(Iterator<String> cells) {
        try {
            for (boolean isFirst = true; cells.hasNext(); isFirst = false) {
                String cell = cells.next();
                boolean isLine = isFirst && cell.isEmpty() && !cells.hasNext();
                boolean quoted = isLine || cell.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
                out.write(quoted ? '"' + cell.replace("\"", "\"\"") + '"' : cell);
                out.write(cells.hasNext() ? "," : "\r\n");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
