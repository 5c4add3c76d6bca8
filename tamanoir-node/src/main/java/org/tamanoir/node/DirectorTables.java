package org.tamanoir.node;

import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A director's status as lines for people. Any thread may call. */
final class DirectorTables {
    private static final String NONE = "-";

    private DirectorTables() {}

    static void status(JsonNode status, Consumer<String> lines) {
        boolean ready = status.path("ready").asBoolean(false);
        lines.accept("director " + CtlTables.text(status, "name") + ": "
                + (ready ? "ready" : "not ready: " + CtlTables.text(status, "problem"))
                + (status.path("active").asBoolean(false)
                        ? ", active"
                        : ", stand-by: the virtual addresses are not here"));
        lines.accept("");
        services(status).lines().forEach(lines);
        lines.accept("");
        backEnds(status).lines().forEach(lines);
        for (JsonNode backEnd : status.path("backEnds")) {
            for (JsonNode finding : backEnd.path("findings")) {
                lines.accept(CtlTables.text(backEnd, "name") + ": " + CtlTables.printable(finding.asString()));
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
            String how = CtlTables.text(service, "forwarding") + ", " + CtlTables.text(service, "scheduler");
            row(table, CtlTables.text(service, "name"), CtlTables.text(service, "at"), how, NONE, NONE, service);
            for (JsonNode server : service.path("servers")) {
                row(
                        table,
                        "",
                        "",
                        "",
                        CtlTables.text(server, "backEnd"),
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
                number(counters, "active"),
                number(counters, "inactive"),
                number(counters, "connections"),
                number(counters, "connectionsPerSecond"),
                number(counters, "packetsInPerSecond"),
                decimal(counters.path("octetsInPerSecond").asDouble(0) / 1e6, "%8.2f"));
    }

    private static TextTable backEnds(JsonNode status) {
        TextTable table = new TextTable("BACK-END", "HOST", "STATE", "WEIGHT", "STREAMS", "BUSY", "FROM", "WHY");
        for (JsonNode backEnd : status.path("backEnds")) {
            JsonNode busy = backEnd.path("busy");
            JsonNode streams = backEnd.path("load").path("streams");
            table.row(
                    CtlTables.text(backEnd, "name"),
                    CtlTables.text(backEnd, "address"),
                    CtlTables.text(backEnd, "state"),
                    CtlTables.text(backEnd, "weight"),
                    streams.isNumber() ? (Object) streams.asLong() : NONE,
                    busy.isNumber() ? decimal(busy.asDouble() * 100, "%.0f") + " %" : NONE,
                    backEnd.path("listed").asBoolean(false) ? "file" : "registration",
                    why(backEnd));
        }
        return table;
    }

    private static String why(JsonNode backEnd) {
        String reason = CtlTables.text(backEnd, "reason");
        @Nullable JsonNode ends = backEnd.get("drainEnds");
        return ends == null || ends.isNull() ? reason : reason + "; drained by " + CtlTables.text(backEnd, "drainEnds");
    }

    private static long number(JsonNode counters, String name) {
        return counters.path(name).asLong(0);
    }

    private static String decimal(double value, String format) {
        return String.format(Locale.ROOT, format, value);
    }
}
