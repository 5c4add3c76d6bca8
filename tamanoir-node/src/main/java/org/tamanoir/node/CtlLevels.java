package org.tamanoir.node;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** Levels below the JVM as lines for people. Any thread may call. */
final class CtlLevels {
    private CtlLevels() {}

    static void levels(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("LEVEL", "THERE", "DETAIL");
        for (JsonNode level : answer.get("levels")) {
            table.row(
                    CtlTables.text(level, "level"),
                    level.get("there").asBoolean() ? "yes" : "no",
                    CtlTables.text(level, "detail"));
        }
        table.lines().forEach(lines);
        answer.get("levels").forEach(level -> met(level, lines));
        if (!answer.get("offloads").isEmpty()) {
            offloads(answer, lines);
        }
    }

    /** What it met at all, in one line. */
    private static void met(JsonNode level, Consumer<String> lines) {
        List<String> met = new ArrayList<>();
        level.get("met").properties().forEach(each -> {
            if (each.getValue().asLong() > 0) {
                met.add(each.getKey() + " " + each.getValue().asLong());
            }
        });
        if (!met.isEmpty()) {
            lines.accept(CtlTables.text(level, "level") + " met: " + String.join(", ", met));
        }
    }

    private static void offloads(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable(
                "KEY", "LEVEL", "FLOW", "SHARE", "MARK", "RULES", "FATE", "PACKETS", "UP", "ON", "DROPPED", "OCTETS");
        for (JsonNode offload : answer.get("offloads")) {
            JsonNode policy = offload.get("policy");
            JsonNode counters = offload.get("counters");
            table.row(
                    CtlTables.text(offload, "serviceKey"),
                    CtlTables.text(offload, "level"),
                    flow(offload),
                    CtlTables.text(policy, "share"),
                    CtlTables.text(policy, "mark"),
                    (long) policy.get("rules").size(),
                    CtlTables.text(policy, "fate"),
                    counters.get("packets").asLong(),
                    counters.get("up").asLong(),
                    counters.get("on").asLong(),
                    counters.get("dropped").asLong(),
                    counters.get("octets").asLong());
        }
        table.lines().forEach(lines);
    }

    private static String flow(JsonNode offload) {
        StringBuilder flow = new StringBuilder(CtlTables.text(offload, "protocol"));
        for (String part : List.of("source", "destination", "stream")) {
            if (!offload.get(part).isNull()) {
                flow.append(' ').append(part).append(' ').append(CtlTables.text(offload, part));
            }
        }
        return flow.toString();
    }

    /** What came of a change of placement. */
    static void placed(JsonNode answer, Consumer<String> lines) {
        for (JsonNode service : answer.get("services")) {
            lines.accept(CtlTables.label(service) + ": " + placement(service));
        }
    }

    private static String placement(JsonNode service) {
        JsonNode placement = service.get("placement");
        String level = CtlTables.text(placement, "level");
        return placement.get("reason").isNull()
                ? level
                : level + ", not " + CtlTables.text(placement, "wanted") + ": " + CtlTables.text(placement, "reason");
    }

    /** Services that are not where they are wanted, or got no level that they asked for. */
    static void hindered(JsonNode answer, Consumer<String> lines) {
        for (JsonNode service : answer.get("services")) {
            JsonNode placement = service.get("placement");
            if (!placement.get("reason").isNull()) {
                lines.accept(CtlTables.label(service) + " is at level " + placement(service));
            }
            if (!placement.get("refusal").isNull()) {
                lines.accept(CtlTables.label(service) + " asked for a level below in vain: "
                        + CtlTables.text(placement, "refusal"));
            }
        }
    }
}
