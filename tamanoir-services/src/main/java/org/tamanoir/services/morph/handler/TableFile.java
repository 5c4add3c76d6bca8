package org.tamanoir.services.morph.handler;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Reads a table from a file: CSV (RFC 4180, UTF-8) whose first line names the columns, or a JSON list of objects. An empty
 * cell is one that is not there.
 */
final class TableFile {
    /** Bytes of a file. */
    static final int LIMIT_BYTES = 1 << 26;

    private static final int MAX_COLUMNS = 1_000;

    private final Set<String> columns = new LinkedHashSet<>();
    private final List<Map<String, String>> rows = new ArrayList<>();

    private TableFile() {}

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
        TableFile table = new TableFile();
        if (file.toString().endsWith(".json")) {
            table.json(bytes);
        } else {
            table.csv(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        }
        return table;
    }

    Set<String> columns() {
        return columns;
    }

    List<Map<String, String>> rows() {
        return rows;
    }

    private void json(byte[] bytes) throws IOException {
        try {
            JsonNode list = new ObjectMapper().readTree(bytes);
            for (JsonNode one : list) {
                Map<String, String> row = new LinkedHashMap<>();
                one.forEachEntry((name, value) -> {
                    if (!value.isNull()) {
                        row.put(name, value.isValueNode() ? value.asString() : value.toString());
                    }
                });
                columns.addAll(row.keySet());
                if (!list.isArray() || !one.isObject() || columns.size() > MAX_COLUMNS) {
                    throw new IOException("row " + (rows.size() + 1) + ": a list of objects is wanted, as in"
                            + " [{\"hub\": \"ATL\"}], of at most " + MAX_COLUMNS + " names");
                }
                rows.add(row);
            }
        } catch (JacksonException e) {
            throw new IOException("it is no JSON: " + e.getOriginalMessage(), e);
        }
    }

    private void csv(String text) throws IOException {
        List<String> names = new ArrayList<>();
        List<String> cells = new ArrayList<>();
        int line = 0;
        for (int at = 0; at < text.length(); ) {
            line++;
            cells.clear();
            at = line(text, at, cells, line);
            if (line == 1) {
                names.addAll(cells);
                columns.addAll(cells);
                if (columns.size() < names.size() || names.size() > MAX_COLUMNS) {
                    throw new IOException("the first line has " + names.size() + " names: different ones, at most "
                            + MAX_COLUMNS + ", are wanted");
                }
            } else if (cells.size() == names.size()) {
                Map<String, String> row = new LinkedHashMap<>();
                for (int i = 0; i < cells.size(); i++) {
                    if (!cells.get(i).isEmpty()) {
                        row.put(names.get(i), cells.get(i));
                    }
                }
                rows.add(row);
            } else {
                throw new IOException("row " + line + " has " + cells.size() + " cells, the first has " + names.size());
            }
        }
    }

    /** Reads the cells of a line, in which quoted ones may have line ends, and returns where the next begins. */
    private static int line(String text, int from, List<String> cells, int line) throws IOException {
        int at = from;
        while (true) {
            StringBuilder cell = new StringBuilder();
            boolean quoted = at < text.length() && text.charAt(at) == '"';
            if (quoted) {
                at = quoted(text, at + 1, cell, line);
            } else {
                while (at < text.length() && ",\r\n".indexOf(text.charAt(at)) < 0) {
                    cell.append(text.charAt(at++));
                }
            }
            cells.add(cell.toString());
            if (at == text.length()) {
                return at;
            }
            char end = text.charAt(at++);
            if (end == '\r' && at < text.length() && text.charAt(at) == '\n') {
                at++;
            } else if (end != ',' && end != '\n' && end != '\r') {
                throw new IOException("row " + line + ": '" + end + "' stands behind a closing quote");
            }
            if (end != ',') {
                return at;
            }
        }
    }

    private static int quoted(String text, int from, StringBuilder cell, int line) throws IOException {
        for (int at = from; at < text.length(); at++) {
            if (text.charAt(at) != '"') {
                cell.append(text.charAt(at));
            } else if (at + 1 < text.length() && text.charAt(at + 1) == '"') {
                cell.append(text.charAt(at++));
            } else {
                return at + 1;
            }
        }
        throw new IOException("row " + line + ": a quote is not closed");
    }
}
