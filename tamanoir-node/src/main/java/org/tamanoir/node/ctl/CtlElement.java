package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** What a unit knows of its distributed element, as lines for people. Any thread may call. */
final class CtlElement {
    private CtlElement() {}

    static void element(JsonNode answer, Consumer<String> lines) {
        lines.accept("unit " + text(answer, "unit") + " of ring " + text(answer, "ring")
                + (answer.get("alone").asBoolean() ? ", alone: packets leave as they come" : ""));
        if (answer.get("epoch").asInt() >= 0) {
            lines.accept("ring: epoch " + text(answer, "epoch") + ", master " + text(answer, "master") + ", units "
                    + CtlTables.join(answer.get("members")));
        }
        lines.accept("token: round " + text(answer, "round") + ", turns " + text(answer, "turns") + ", round trip "
                + Math.round(answer.get("roundTripMicros").asDouble()) + " us, issued again "
                + text(answer, "reissued") + ", stale " + text(answer, "stale") + ", refused "
                + text(answer, "refused"));
        lines.accept("packets: waiting " + text(answer, "waiting") + ", sent " + text(answer, "sent") + ", LATE "
                + text(answer, "late") + ", RING_FINISH " + text(answer, "finished"));
    }
}
