package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.NONE;
import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.node.cli.TextTable;
import org.tamanoir.node.ctl.JsonTable.Column;
import tools.jackson.databind.JsonNode;

/** Answers of the admin API as lines for people. Any thread may call. */
final class CtlTables {
    private CtlTables() {}

    static void services(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("services"),
                lines,
                text("SERVICE", "name"),
                new Column(
                        "VERSION",
                        service -> version(service) + (service.get("current").asBoolean() ? " *" : "")),
                new Column("STATE", CtlTables::state),
                number("STREAMS", "tcpStreams"),
                new Column("UDP", service -> service.get("udp").asBoolean() ? "yes" : "no"),
                text("LEVEL", "placement/level"),
                new Column("IN", service -> all(service, "packetsIn", "packets", "up")),
                new Column("OUT", service -> all(service, "packetsOut", "on", null)),
                new Column("DROPPED", service -> all(service, "dropped", "dropped", null)),
                number("FAILED", "failures"),
                new Column("CPU-S", CtlTables::seconds),
                text("SOURCE", "source"));
        for (JsonNode service : answer.get("services")) {
            if (service.hasNonNull("fault")) {
                lines.accept(label(service) + ": " + text(service, "fault"));
            }
            if (!service.get("holders").isEmpty()) {
                lines.accept(label(service) + " stays in memory: " + join(service.get("holders")));
            }
        }
        CtlLevels.hindered(answer, lines);
        more(answer, "services", lines);
    }

    static void settings(JsonNode answer, Consumer<String> lines) {
        if (answer.get("settings").isEmpty()) {
            lines.accept(label(answer)
                    + (answer.get("declared").asBoolean()
                            ? " takes no settings"
                            : " does not say which settings it takes"));
            return;
        }
        JsonTable.print(
                answer.get("settings"),
                lines,
                text("SETTING", "name"),
                text("DEFAULT", "standard"),
                text("ALLOWED", "allowed"),
                text("MEANING", "text"));
    }

    /** Returns packets of the JVM and those that a level below has handled, without those that came up from there. */
    private static String all(JsonNode service, String inJvm, String below, @Nullable String up) {
        JsonNode traffic = service.get("traffic");
        if (traffic.isNull()) {
            return NONE;
        }
        JsonNode counters = service.at("/placement/counters");
        long cameUp = up == null ? 0 : counters.get(up).asLong();
        return String.valueOf(traffic.get(inJvm).asLong() + counters.get(below).asLong() - cameUp);
    }

    /** The versions of one service, with what they have counted. */
    static void service(JsonNode answer, Consumer<String> lines) {
        services(answer, lines);
        for (JsonNode service : answer.get("services")) {
            JsonNode below = service.at("/placement/counters");
            if (below.get("packets").asLong() > 0) {
                lines.accept(label(service) + " below the JVM: " + text(below, "packets") + " packets, of which "
                        + text(below, "up") + " came up, " + text(below, "on") + " went on, " + text(below, "dropped")
                        + " dropped");
            }
            counts(label(service) + " counted: ", service.get("counters"), lines);
            counts(label(service) + " dropped: ", service.get("dropReasons"), lines);
        }
    }

    private static void counts(String whose, JsonNode counts, Consumer<String> lines) {
        List<String> texts = new ArrayList<>();
        counts.properties()
                .forEach(count ->
                        texts.add(count.getKey() + " " + count.getValue().asLong()));
        if (!texts.isEmpty()) {
            lines.accept(whose + String.join(", ", texts));
        }
    }

    private static String state(JsonNode service) {
        JsonNode until = service.get("quarantinedUntil");
        return text(service, "state") + (until == null || until.isNull() ? "" : " until " + until.asString());
    }

    static void streams(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("streams"),
                lines,
                text("PEER", "peer"),
                text("LOCAL", "local"),
                text("SINCE", "startedAt"),
                number("IN", "packetsIn"),
                number("BYTES-IN", "bytesIn"),
                number("OUT", "packetsOut"),
                number("BYTES-OUT", "bytesOut"),
                number("DROPPED", "dropped"),
                new Column("SERVICES", stream -> join(stream.get("services"))));
        more(answer, "streams", lines);
        lines.accept(text(answer, "open") + " open, " + text(answer, "accepted") + " accepted, "
                + text(answer, "refused") + " refused, " + text(answer, "waitingForCode") + " waiting for code");
    }

    static void threads(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("threads"),
                lines,
                number("ID", "id"),
                text("STATE", "state"),
                new Column("CPU-S", CtlTables::seconds),
                number("ALLOCATED", "allocatedBytes"),
                text("NAME", "name"));
        more(answer, "threads", lines);
    }

    static void routes(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("routes"),
                lines,
                text("PREFIX", "prefix"),
                new Column("NEXT-HOP", CtlTables::nextHop),
                text("TRANSPORT", "transport"),
                text("KIND", "kind"),
                text("ORIGIN", "origin"));
        if (!answer.get("next").isNull()) {
            lines.accept("there are more: --after " + text(answer, "next") + " goes on");
        }
        JsonNode feed = answer.get("feed");
        if (!feed.isNull()) {
            feed(feed, lines);
        }
    }

    private static void feed(JsonNode feed, Consumer<String> lines) {
        lines.accept("feed: " + number(feed, "routes") + " routes, " + number(feed, "changes") + " changes, "
                + feed.get("changesPerSecond").asDouble() + " a second now"
                + (feed.get("lastChange").isNull() ? "" : ", the last at " + text(feed, "lastChange")) + "; "
                + number(feed, "resyncs") + " times read");
        feed.get("unmappedGateways")
                .properties()
                .forEach(gateway -> lines.accept("feed: " + gateway.getValue().asInt() + " routes without a next hop: "
                        + gateway.getKey() + " is not in routing.feed.via"));
        if (feed.get("leftOut").asLong() > 0) {
            lines.accept("feed: " + number(feed, "leftOut") + " routes left out, as " + text(feed, "leftOutWhy"));
        }
        if (!feed.get("fault").isNull()) {
            lines.accept("feed: behind: " + text(feed, "fault"));
        }
    }

    /** One route, without heads. */
    static String route(JsonNode route) {
        return String.join(
                "  ",
                text(route, "prefix"),
                nextHop(route),
                text(route, "transport"),
                text(route, "kind"),
                text(route, "origin"));
    }

    private static String nextHop(JsonNode route) {
        String address = !route.get("name").isNull()
                ? text(route, "name")
                : route.get("address").isNull() ? "destination" : text(route, "address");
        int port = route.get("port").asInt();
        String host = address.indexOf(':') < 0 ? address : "[" + address + "]";
        return port == 0 ? host : host + ":" + port;
    }

    static void traffic(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("", "PACKETS", "BYTES");
        table.row("in", number(answer, "packetsIn"), number(answer, "bytesIn"));
        table.row("made", number(answer, "packetsMade"), "");
        table.row("out", number(answer, "packetsOut"), number(answer, "bytesOut"));
        table.row("held", number(answer, "held"), "");
        table.row("dropped", number(answer, "dropped"), "");
        answer.get("drops")
                .properties()
                .forEach(drop -> table.row("  " + drop.getKey(), drop.getValue().asLong(), ""));
        table.lines().forEach(lines);
    }

    static void deployments(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("OUTCOME", "DEPLOYMENTS", "SECONDS");
        answer.get("outcomes")
                .properties()
                .forEach(outcome -> table.row(
                        OneLine.of(outcome.getKey()),
                        outcome.getValue().asLong(),
                        String.format(
                                Locale.ROOT,
                                "%7.3f",
                                answer.get("seconds").path(outcome.getKey()).asDouble(0))));
        table.lines().forEach(lines);
        lines.accept(text(answer, "running") + " running, " + text(answer, "waitingForCode") + " waiting for code");
    }

    static void events(JsonNode answer, Consumer<String> lines) {
        answer.get("events").forEach(event -> lines.accept(event(event)));
    }

    static String event(JsonNode event) {
        return text(event, "time") + "  " + text(event, "kind") + "  " + text(event, "text");
    }

    static String drop(JsonNode drop) {
        long packets = drop.get("packets").asLong();
        return text(drop, "time") + "  dropped  " + text(drop, "reason") + "  "
                + (packets == 1 ? text(drop, "bytes") + " bytes" : packets + " packets") + " from "
                + text(drop, "peer") + ", service " + text(drop, "service") + ", key " + text(drop, "serviceKey");
    }

    /** {@code name:version}. */
    static String label(JsonNode service) {
        String version = text(service, "version");
        return text(service, "name") + (version.isEmpty() || version.equals(NONE) ? "" : ":" + version);
    }

    private static String version(JsonNode service) {
        String version = text(service, "version");
        return version.isEmpty() ? NONE : version;
    }

    /** Right-aligned, because the heads' column is one of texts. */
    private static String seconds(JsonNode node) {
        return String.format(Locale.ROOT, "%9.3f", node.get("processorSeconds").asDouble());
    }

    static String join(JsonNode texts) {
        List<String> all = new ArrayList<>();
        texts.forEach(text -> all.add(OneLine.of(text.asString())));
        return all.isEmpty() ? NONE : String.join(", ", all);
    }

    private static void more(JsonNode answer, String list, Consumer<String> lines) {
        long hidden = answer.get("total").asLong() - answer.get(list).size();
        if (hidden > 0) {
            lines.accept("and " + hidden + " more");
        }
    }
}
