package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** Plain IP as lines for people. Any thread may call. */
final class CtlPlain {
    private CtlPlain() {}

    static void plain(JsonNode answer, Consumer<String> lines) {
        lines.accept(
                "plain IP: " + (answer.get("there").asBoolean() ? "there: " : "not there: ") + text(answer, "detail"));
        if (!answer.get("rules").isEmpty()) {
            JsonTable.print(
                    answer.get("rules"),
                    lines,
                    number("RULE", "rule"),
                    new Column("MATCH", CtlPlain::match),
                    text("SERVICE", "service"),
                    text("ON-FAILURE", "onFailure"),
                    number("FITS", "fits"),
                    number("UP", "up"));
        }
        List<String> met = new ArrayList<>();
        answer.get("met").properties().forEach(each -> {
            if (each.getValue().asLong() > 0) {
                met.add(each.getKey() + " " + each.getValue().asLong());
            }
        });
        if (!met.isEmpty()) {
            lines.accept("met: " + String.join(", ", met) + "; lost " + text(answer, "lost"));
        }
    }

    private static String match(JsonNode rule) {
        StringBuilder match = new StringBuilder(rule.get("protocol").asString());
        for (String part : List.of("source", "destination", "ports", "types", "dscp", "fwmark", "routerAlert")) {
            JsonNode value = rule.get(part);
            if (!value.isNull() && !value.asString().equals("0-65535")) {
                match.append(' ').append(part).append(' ').append(value.asString());
            }
        }
        return match.toString();
    }

    static void explained(JsonNode answer, Consumer<String> lines) {
        answer.get("rules").forEach(line -> lines.accept(line.asString()));
        lines.accept((answer.get("up").asBoolean() ? "up: " : "on: ") + text(answer, "because"));
    }
}
