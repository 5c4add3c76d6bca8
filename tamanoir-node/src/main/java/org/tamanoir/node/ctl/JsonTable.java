package org.tamanoir.node.ctl;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Function;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.node.cli.TextTable;
import tools.jackson.databind.JsonNode;

/** A table for people of a list of JSON objects. Any thread may call. */
public final class JsonTable {
    static final String NONE = "-";

    private JsonTable() {}

    /** A column: its head, and what it has of each object. */
    public record Column(String head, Function<JsonNode, Object> value) {}

    /** Makes a column of a field, {@code inner/field} one within another: a hyphen stands for null. */
    public static Column text(String head, String field) {
        return new Column(head, object -> text(object, field));
    }

    /** Makes a column of numbers, as the JSON has them. */
    public static Column number(String head, String field) {
        return new Column(head, object -> number(object, field));
    }

    /** Writes the heads, and a line for each object. */
    public static void print(JsonNode objects, Consumer<String> lines, Column... columns) {
        TextTable table = new TextTable(Arrays.stream(columns).map(Column::head).toArray(String[]::new));
        objects.forEach(object -> table.row(
                Arrays.stream(columns).map(column -> column.value.apply(object)).toArray()));
        table.lines().forEach(lines);
    }

    /** Returns a field as text of one line, which cannot steer a terminal; a hyphen for null. */
    public static String text(JsonNode object, String field) {
        JsonNode value = object.at("/" + field);
        return value.isMissingNode() || value.isNull() ? NONE : OneLine.of(value.asString());
    }

    static Object number(JsonNode object, String field) {
        JsonNode value = object.at("/" + field);
        return value.isNumber() ? value.numberValue() : NONE;
    }
}
