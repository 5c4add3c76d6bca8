package org.tamanoir.node.director;

import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.node.cli.TextTable;
import org.tamanoir.node.ctl.JsonTable;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** A director's status as lines for people. Any thread may call. */
final class DirectorTables {
    private static final String NONE = "-";

    private DirectorTables() {}

    static void status(JsonNode status, Consumer<String> lines) {
        boolean ready = status.path("ready").asBoolean(false);
        lines.accept("director " + text(status, "name") + ": "
                + (ready ? "ready" : "not ready: " + text(status, "problem"))
                + (status.path("active").asBoolean(false)
                        ? ", active"
                        : ", stand-by: the virtual addresses are not here"));
        lines.accept("");
        services(status).lines().forEach(lines);
        lines.accept("");
        backEnds(status, lines);
        for (JsonNode backEnd : status.path("backEnds")) {
            for (JsonNode finding : backEnd.path("findings")) {
                lines.accept(text(backEnd, "name") + ": " + OneLine.of(finding.asString()));
            }
        }
    }

    private static TextTable services(JsonNode status) {
        TextTable table = new TextTable(
                "SERVICE",
                "ADDRESS",
                "HOW",
                "BACK-END",
                "WEIGHT",
                "ACTIVE",
                "INACTIVE",
                "CONNECTIONS",
                "CONN/S",
                "PACKETS/S",
                "MB/S");
        for (JsonNode service : status.path("services")) {
            String how = text(service, "forwarding") + ", " + text(service, "scheduler");
            row(table, text(service, "name"), text(service, "at"), how, NONE, NONE, service);
            for (JsonNode server : service.path("servers")) {
                row(
                        table,
                        "",
                        "",
                        "",
                        text(server, "backEnd"),
                        server.path("weight").asLong(0),
                        server);
            }
        }
        return table;
    }

    private static void row(
            TextTable table, String name, String at, String how, String backEnd, Object weight, JsonNode counted) {
        JsonNode counters = counted.path("counters");
        table.row(
                name,
                at,
                how,
                backEnd,
                weight,
                count(counters, "active"),
                count(counters, "inactive"),
                count(counters, "connections"),
                count(counters, "connectionsPerSecond"),
                count(counters, "packetsInPerSecond"),
                decimal(counters.path("bytesInPerSecond").asDouble(0) / 1e6, "%8.2f"));
    }

    private static void backEnds(JsonNode status, Consumer<String> lines) {
        JsonTable.print(
                status.path("backEnds"),
                lines,
                text("BACK-END", "name"),
                text("HOST", "address"),
                text("STATE", "state"),
                text("WEIGHT", "weight"),
                number("STREAMS", "load/streams"),
                new Column("BUSY", DirectorTables::busy),
                new Column("FROM", backEnd -> backEnd.path("listed").asBoolean(false) ? "file" : "registration"),
                new Column("WHY", DirectorTables::why));
    }

    private static String busy(JsonNode backEnd) {
        JsonNode busy = backEnd.path("busy");
        return busy.isNumber() ? decimal(busy.asDouble() * 100, "%.0f") + " %" : NONE;
    }

    private static String why(JsonNode backEnd) {
        String reason = text(backEnd, "reason");
        @Nullable JsonNode ends = backEnd.get("drainEnds");
        return ends == null || ends.isNull() ? reason : reason + "; drained by " + text(backEnd, "drainEnds");
    }

    private static long count(JsonNode counters, String name) {
        return counters.path(name).asLong(0);
    }

    private static String decimal(double value, String format) {
        return String.format(Locale.ROOT, format, value);
    }
}
