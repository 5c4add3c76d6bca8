package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** Sources of RTP as lines for people. Any thread may call. */
final class CtlRtp {
    private CtlRtp() {}

    static void rtp(JsonNode answer, Consumer<String> lines) {
        sources(answer, lines);
        JsonNode others = answer.get("companions");
        List<String> counts = others.propertyNames().stream()
                .filter(protocol -> others.get(protocol).asLong() > 0)
                .map(protocol -> protocol.toUpperCase(Locale.ROOT) + " "
                        + others.get(protocol).asLong())
                .toList();
        if (!counts.isEmpty()) {
            lines.accept("datagrams of other protocols: " + String.join(", ", counts));
        }
    }

    private static void sources(JsonNode answer, Consumer<String> lines) {
        if (answer.get("sources").isEmpty()) {
            lines.accept("no RTP crosses a gateway for it");
            return;
        }
        JsonTable.print(
                answer.get("sources"),
                lines,
                text("SSRC", "ssrc"),
                text("SENDER", "sender"),
                text("RECEIVER", "receiver"),
                number("TYPE", "payloadType"),
                number("RECEIVED", "received"),
                number("LOST", "lost"),
                number("MISORDERED", "misordered"),
                number("JITTER-MS", "jitterMs"),
                new Column("REPORTED", CtlRtp::reported),
                new Column("ENDED", source -> source.get("ended").asBoolean() ? "yes" : "no"));
    }

    private static String reported(JsonNode source) {
        JsonNode report = source.get("report");
        return report.isNull()
                ? "-"
                : "lost " + text(report, "lost") + ", " + text(report, "fractionLost") + " of the last";
    }
}
