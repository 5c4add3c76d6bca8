package org.tamanoir.services.morph.handler;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.format.text.StrictUtf8;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads a table from a file: CSV (RFC 4180) whose first line names the columns, or a JSON list of objects, both strict
 * UTF-8 with a byte order mark or without. An empty cell is one that is not there, an empty line is passed over. Numbers
 * of JSON are texts here, as they were written; columns in which a text stands are known.
 */
final class TableFile {
    /** Bytes of a file. */
    static final int LIMIT_BYTES = 1 << 26;

    private static final int MAX_COLUMNS = 1_000;
    private static final String LINE_ENDS = "\r\n";
    private static final String CELL_ENDS = ",\r\n\uD800";
    /** Stands behind a text for the bytes that are not UTF-8: half of a character, which no UTF-8 has. */
    private static final char BROKEN = '\uD800';

    private static final JsonFactory FACTORY = new JsonFactory();

    private final Set<String> columns = new LinkedHashSet<>();
    /** Columns of JSON with a value in quotation marks. */
    private final Set<String> texts = new HashSet<>();

    private final List<Line> rows = new ArrayList<>();

    /** A row, and the line of the file on which it begins, from 1. */
    record Line(int number, Map<String, String> cells) {}

    private final boolean isJson;

    private TableFile(boolean isJson) {
        this.isJson = isJson;
    }

    /**
     * Reads a file; {@code .json} says that it is JSON.
     *
     * @throws IOException if it cannot be read, is too large, or is no table: one line
     */
    static TableFile read(Path file) throws IOException {
        byte[] bytes;
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("it is no regular file: name one; a pipe or a device may never end");
        }
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(LIMIT_BYTES + 1);
        }
        if (bytes.length > LIMIT_BYTES) {
            throw new IOException("it has more than " + LIMIT_BYTES + " bytes: take a smaller table");
        }
        return parse(bytes, file.toString().endsWith(".json"));
    }

    /** Reads the bytes of a file. */
    static TableFile parse(byte[] bytes, boolean isJson) throws IOException {
        TableFile table = new TableFile(isJson);
        try (StrictUtf8 in = new StrictUtf8(new ByteArrayInputStream(bytes))) {
            if (isJson) {
                table.json(in);
            } else {
                new Csv(table).read(in);
            }
        }
        return table;
    }

    Set<String> columns() {
        return columns;
    }

    List<Line> rows() {
        return rows;
    }

    /** Returns whether values without quotation marks are numbers, which 1.10 and 1.1 say in two ways. */
    boolean isJson() {
        return isJson;
    }

    /** Returns whether a value of the column is a text by its quotation marks. */
    boolean isText(String column) {
        return texts.contains(column);
    }

    private void json(Reader text) throws IOException {
        try (JsonParser in = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            try {
                json(in);
            } catch (JacksonException e) {
                String name = in.currentName();
                throw new IOException(
                        "line " + in.currentLocation().getLineNr() + ": "
                                + (name == null ? "" : "field '" + name + "': ") + "it is no JSON: "
                                + JsonFaults.why(e),
                        e);
            }
        }
    }

    private void json(JsonParser in) throws IOException {
        if (in.nextToken() != JsonToken.START_ARRAY) {
            throw noList(in);
        }
        while (in.nextToken() != JsonToken.END_ARRAY) {
            if (in.currentToken() != JsonToken.START_OBJECT) {
                throw noList(in);
            }
            rows.add(new Line(in.currentTokenLocation().getLineNr(), object(in)));
            if (columns.size() > MAX_COLUMNS) {
                throw noList(in);
            }
        }
        if (in.nextToken() != null) {
            throw new IOException(place(in) + "something stands behind the list: remove it");
        }
    }

    private Map<String, String> object(JsonParser in) throws IOException {
        Map<String, String> row = new LinkedHashMap<>();
        Set<String> names = new HashSet<>();
        while (in.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = in.currentName();
            if (!names.add(name)) {
                throw new IOException(place(in) + "'" + name + "' stands twice in one object: remove one");
            }
            if (name.isEmpty()) {
                throw new IOException(place(in) + "a field has no name: name it or remove it");
            }
            JsonToken value = in.nextToken();
            if (value == JsonToken.VALUE_STRING) {
                texts.add(name);
            }
            if (value != JsonToken.VALUE_NULL) {
                row.put(name, value.isScalarValue() ? in.getString() : nested(in));
            }
        }
        columns.addAll(row.keySet());
        return row;
    }

    /** Returns a list or an object as JSON, with its numbers as they were written. */
    private static String nested(JsonParser in) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
            out.copyCurrentStructureExact(in);
        }
        return text.toString();
    }

    private static IOException noList(JsonParser in) {
        return new IOException(place(in) + "a list of objects is wanted, as in [{\"hub\": \"ATL\"}], of at most "
                + MAX_COLUMNS + " names");
    }

    private static String place(JsonParser in) {
        return "line " + in.currentTokenLocation().getLineNr() + ": ";
    }

    /** Reads the lines of CSV. */
    private static final class Csv {
        private final TableFile table;
        private final List<String> names = new ArrayList<>();
        private final List<String> cells = new ArrayList<>();
        /** Line of the file on which the row begins. */
        private int line = 1;

        private String refused = "";

        Csv(TableFile table) {
            this.table = table;
        }

        void read(Reader in) throws IOException {
            StringWriter text = new StringWriter();
            try {
                in.transferTo(text);
            } catch (CharacterCodingException e) {
                refused = Causes.text(e);
                text.append(BROKEN);
            }
            read(text.toString());
        }

        private void read(String text) throws IOException {
            for (int at = 0; at < text.length(); ) {
                cells.clear();
                int end = row(text, at);
                if (LINE_ENDS.indexOf(text.charAt(at)) >= 0) {
                    // Nothing stands there.
                } else if (names.isEmpty()) {
                    head();
                } else {
                    row();
                }
                line += lineEnds(text, at, end);
                at = end;
            }
        }

        private void head() throws IOException {
            names.addAll(cells);
            table.columns.addAll(cells);
            if (table.columns.size() < names.size() || names.size() > MAX_COLUMNS) {
                throw new IOException("the first line has " + names.size() + " names: different ones, at most "
                        + MAX_COLUMNS + ", are wanted");
            }
            if (table.columns.contains("")) {
                throw new IOException(
                        "line " + line + ": column " + (1 + names.indexOf("")) + " has no name: name it or remove it");
            }
        }

        private void row() throws IOException {
            if (cells.size() != names.size()) {
                boolean lacks = cells.size() < names.size();
                throw problem(
                        Math.min(cells.size(), names.size() - 1),
                        (lacks ? "its cell lacks" : "more cells stand behind it") + ": the row has " + cells.size()
                                + ", the first line " + names.size());
            }
            Map<String, String> row = new LinkedHashMap<>();
            for (int i = 0; i < cells.size(); i++) {
                if (!cells.get(i).isEmpty()) {
                    row.put(names.get(i), cells.get(i));
                }
            }
            table.rows.add(new Line(line, row));
        }

        private IOException problem(int cell, String what) {
            String field = cell < names.size() ? "field '" + names.get(cell) + "': " : "";
            return new IOException("line " + line + ": " + field + what);
        }

        /** Counts ends of lines: CR LF, LF or CR. */
        private static int lineEnds(String text, int from, int to) {
            int ends = 0;
            for (int at = from; at < to; at++) {
                char one = text.charAt(at);
                ends += one == '\n' || one == '\r' && (at + 1 == to || text.charAt(at + 1) != '\n') ? 1 : 0;
            }
            return ends;
        }

        /** Reads the cells of a row, in which quoted ones may have line ends, and returns where the next begins. */
        private int row(String text, int from) throws IOException {
            int at = from;
            while (true) {
                StringBuilder cell = new StringBuilder();
                boolean quoted = at < text.length() && text.charAt(at) == '"';
                if (quoted) {
                    at = quoted(text, at + 1, cell);
                } else {
                    while (at < text.length() && CELL_ENDS.indexOf(text.charAt(at)) < 0) {
                        cell.append(text.charAt(at++));
                    }
                }
                if (at < text.length() && text.charAt(at) == BROKEN) {
                    throw problem(cells.size(), refused);
                }
                cells.add(cell.toString());
                if (at == text.length()) {
                    return at;
                }
                char end = text.charAt(at++);
                if (end == '\r' && at < text.length() && text.charAt(at) == '\n') {
                    at++;
                } else if (end != ',' && end != '\n' && end != '\r') {
                    throw problem(cells.size() - 1, "'" + end + "' stands behind a closing quote");
                }
                if (end != ',') {
                    return at;
                }
            }
        }

        private int quoted(String text, int from, StringBuilder cell) throws IOException {
            for (int at = from; at < text.length(); at++) {
                if (text.charAt(at) == BROKEN) {
                    return at;
                } else if (text.charAt(at) != '"') {
                    cell.append(text.charAt(at));
                } else if (at + 1 < text.length() && text.charAt(at + 1) == '"') {
                    cell.append(text.charAt(at++));
                } else {
                    return at + 1;
                }
            }
            throw problem(cells.size(), "a quote is not closed");
        }
    }
}
