package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.function.Consumer;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** What a node knows as a back-end of a cluster, as lines for people. Any thread may call. */
final class CtlCluster {
    private CtlCluster() {}

    static void cluster(JsonNode answer, Consumer<String> lines) {
        lines.accept("back-end " + text(answer, "name") + (answer.get("leaving").asBoolean() ? ", leaving" : ""));
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
        JsonTable.print(
                answer.get("directors"),
                lines,
                text("DIRECTOR", "url"),
                text("NAME", "name"),
                text("STATE", "state"),
                text("SINCE", "since"),
                number("CONNECTIONS", "connections"),
                text("PROBLEM", "problem"));
    }

    private static void services(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("services"),
                lines,
                text("SERVES", "name"),
                text("ADDRESS", "address"),
                number("PORT", "port"),
                number("NODE'S PORT", "backEndPort"),
                new Column("PROTOCOLS", service -> CtlTables.join(service.get("protocols"))),
                text("FORWARDING", "forwarding"));
    }

    private static void wanted(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("wanted"),
                lines,
                text("WANTED", "service"),
                text("DEPLOYED", "deployed"),
                text("PROBLEM", "problem"));
    }

    private static void host(JsonNode host, Consumer<String> lines) {
        boolean applied = host.get("applied").asBoolean();
        lines.accept("host: set-up " + text(host, "mode") + ", interface "
                + text(host, "networkInterface")
                + (applied ? ", done by the node" : ", not done by the node"));
        if (!applied && !host.get("commands").isEmpty()) {
            lines.accept("as root, run:");
            host.get("commands").forEach(command -> lines.accept("  " + command.asString()));
            lines.accept("and to take it back:");
            host.get("undoCommands").forEach(command -> lines.accept("  " + command.asString()));
        }
    }
}
