package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.NONE;
import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.function.Consumer;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** Gateways as lines for people. Any thread may call. */
final class CtlGateways {
    private CtlGateways() {}

    static void gateways(JsonNode answer, Consumer<String> lines) {
        if (answer.get("gateways").isEmpty()) {
            lines.accept("no gateway: listen.gateways, or --gateway, makes one");
            return;
        }
        JsonTable.print(
                answer.get("gateways"),
                lines,
                text("TRANSPORT", "transport"),
                text("LISTEN", "listen"),
                text("TO", "to"),
                text("FORMAT", "format"),
                new Column("SERVICE", CtlGateways::service),
                number("CLASS", "classOfService"),
                number("OPEN", "open"),
                number("BEGUN", "begun"),
                number("IN", "traffic/packetsIn"),
                number("BYTES-IN", "traffic/bytesIn"),
                number("OUT", "traffic/packetsOut"),
                number("BYTES-OUT", "traffic/bytesOut"),
                number("DROPPED", "traffic/dropped"));
    }

    private static String service(JsonNode gateway) {
        if (gateway.get("serviceKey").isNull()) {
            return NONE;
        }
        return gateway.get("service").isNull()
                ? "not here: key " + text(gateway, "serviceKey")
                : text(gateway, "service");
    }
}
