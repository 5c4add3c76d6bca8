package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** Levels below the JVM as lines for people. Any thread may call. */
final class CtlLevels {
    private CtlLevels() {}

    static void levels(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("levels"),
                lines,
                text("LEVEL", "level"),
                new Column("THERE", level -> level.get("there").asBoolean() ? "yes" : "no"),
                text("DETAIL", "detail"));
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
            lines.accept(text(level, "level") + " met: " + String.join(", ", met));
        }
    }

    private static void offloads(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("offloads"),
                lines,
                text("KEY", "serviceKey"),
                text("LEVEL", "level"),
                new Column("FLOW", CtlLevels::flow),
                text("SHARE", "policy/share"),
                text("MARK", "policy/mark"),
                new Column("RULES", offload -> offload.at("/policy/rules").size()),
                text("FATE", "policy/fate"),
                number("PACKETS", "counters/packets"),
                number("UP", "counters/up"),
                number("ON", "counters/on"),
                number("DROPPED", "counters/dropped"),
                number("BYTES", "counters/bytes"));
    }

    private static String flow(JsonNode offload) {
        StringBuilder flow = new StringBuilder(text(offload, "protocol"));
        for (String part : List.of("source", "destination", "stream")) {
            if (!offload.get(part).isNull()) {
                flow.append(' ').append(part).append(' ').append(text(offload, part));
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

    /** Returns how many of these services are elsewhere than they are wanted. */
    static long misplaced(JsonNode answer) {
        long misplaced = 0;
        for (JsonNode service : answer.get("services")) {
            misplaced += service.at("/placement/reason").isNull() ? 0 : 1;
        }
        return misplaced;
    }

    private static String placement(JsonNode service) {
        JsonNode placement = service.get("placement");
        String level = text(placement, "level");
        return placement.get("reason").isNull()
                ? level
                : level + ", not " + text(placement, "wanted") + ": " + text(placement, "reason");
    }

    /** Services that are not where they are wanted, or got no level that they asked for. */
    static void hindered(JsonNode answer, Consumer<String> lines) {
        for (JsonNode service : answer.get("services")) {
            JsonNode placement = service.get("placement");
            if (!placement.get("reason").isNull()) {
                lines.accept(CtlTables.label(service) + " is at level " + placement(service));
            }
            if (!placement.get("refusal").isNull()) {
                lines.accept(
                        CtlTables.label(service) + " asked for a level below in vain: " + text(placement, "refusal"));
            }
        }
    }
}
