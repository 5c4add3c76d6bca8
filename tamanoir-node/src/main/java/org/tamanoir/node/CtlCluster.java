package org.tamanoir.node;

import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** What a node knows as a back-end of a cluster, as lines for people. Any thread may call. */
final class CtlCluster {
    private CtlCluster() {}

    static void cluster(JsonNode answer, Consumer<String> lines) {
        lines.accept("back-end " + CtlTables.text(answer, "name")
                + (answer.get("leaving").asBoolean() ? ", leaving" : ""));
        directors(answer, lines);
        if (!answer.get("services").isEmpty()) {
            services(answer, lines);
        }
        if (!answer.get("wanted").isEmpty()) {
            wanted(answer, lines);
        }
        host(answer.get("setUp"), lines);
        JsonNode code = answer.get("code");
        if (!code.get("repositories").isEmpty() || !code.get("publishers").isEmpty()) {
            lines.accept("code from " + CtlTables.join(code.get("repositories")) + " by publishers "
                    + CtlTables.join(code.get("publishers"))
                    + (code.get("remembered").asBoolean() ? ", remembered from before the start" : ""));
        }
        answer.get("problems").forEach(problem -> lines.accept("problem: " + problem.asString()));
    }

    private static void directors(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("DIRECTOR", "NAME", "STATE", "SINCE", "CONNECTIONS", "PROBLEM");
        for (JsonNode director : answer.get("directors")) {
            table.row(
                    CtlTables.text(director, "url"),
                    CtlTables.text(director, "name"),
                    CtlTables.text(director, "state"),
                    CtlTables.text(director, "since"),
                    director.get("connections").asLong(),
                    CtlTables.text(director, "problem"));
        }
        table.lines().forEach(lines);
    }

    private static void services(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("SERVES", "ADDRESS", "PORT", "NODE'S PORT", "PROTOCOLS", "FORWARDING");
        for (JsonNode service : answer.get("services")) {
            table.row(
                    CtlTables.text(service, "name"),
                    CtlTables.text(service, "address"),
                    service.get("port").asLong(),
                    service.get("backEndPort").asLong(),
                    CtlTables.join(service.get("protocols")),
                    CtlTables.text(service, "forwarding"));
        }
        table.lines().forEach(lines);
    }

    private static void wanted(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("WANTED", "DEPLOYED", "PROBLEM");
        for (JsonNode service : answer.get("wanted")) {
            table.row(
                    CtlTables.text(service, "service"),
                    CtlTables.text(service, "deployed"),
                    CtlTables.text(service, "problem"));
        }
        table.lines().forEach(lines);
    }

    private static void host(JsonNode host, Consumer<String> lines) {
        boolean applied = host.get("applied").asBoolean();
        lines.accept("host: set-up " + CtlTables.text(host, "mode") + ", interface "
                + CtlTables.text(host, "networkInterface")
                + (applied ? ", done by the node" : ", not done by the node"));
        if (!applied && !host.get("commands").isEmpty()) {
            lines.accept("as root, run:");
            host.get("commands").forEach(command -> lines.accept("  " + command.asString()));
            lines.accept("and to take it back:");
            host.get("undoCommands").forEach(command -> lines.accept("  " + command.asString()));
        }
    }
}
