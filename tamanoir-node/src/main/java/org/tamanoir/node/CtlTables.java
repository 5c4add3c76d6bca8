package org.tamanoir.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Answers of the admin API as lines for people. Any thread may call. */
final class CtlTables {
    private static final String NONE = "-";

    private CtlTables() {}

    static void services(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable(
                "SERVICE", "VERSION", "STATE", "STREAMS", "UDP", "LEVEL", "IN", "OUT", "DROPPED", "FAILED", "CPU-S",
                "SOURCE");
        for (JsonNode service : answer.get("services")) {
            JsonNode traffic = service.get("traffic");
            table.row(
                    text(service, "name"),
                    version(service) + (service.get("current").asBoolean() ? " *" : ""),
                    state(service),
                    number(service, "tcpStreams"),
                    service.get("udp").asBoolean() ? "yes" : "no",
                    text(service.get("placement"), "level"),
                    number(traffic, "packetsIn"),
                    number(traffic, "packetsOut"),
                    number(traffic, "dropped"),
                    number(service, "failures"),
                    seconds(service),
                    text(service, "source"));
        }
        table.lines().forEach(lines);
        for (JsonNode service : answer.get("services")) {
            if (!service.get("holders").isEmpty()) {
                lines.accept(label(service) + " stays in memory: " + join(service.get("holders")));
            }
        }
        CtlLevels.hindered(answer, lines);
        more(answer, "services", lines);
    }

    private static String state(JsonNode service) {
        JsonNode until = service.get("quarantinedUntil");
        return text(service, "state") + (until == null || until.isNull() ? "" : " until " + until.asString());
    }

    static void streams(JsonNode answer, Consumer<String> lines) {
        TextTable table =
                new TextTable("PEER", "LOCAL", "SINCE", "IN", "OCTETS-IN", "OUT", "OCTETS-OUT", "DROPPED", "SERVICES");
        for (JsonNode stream : answer.get("streams")) {
            table.row(
                    text(stream, "peer"),
                    text(stream, "local"),
                    text(stream, "startedAt"),
                    number(stream, "packetsIn"),
                    number(stream, "octetsIn"),
                    number(stream, "packetsOut"),
                    number(stream, "octetsOut"),
                    number(stream, "dropped"),
                    join(stream.get("services")));
        }
        table.lines().forEach(lines);
        more(answer, "streams", lines);
        lines.accept(text(answer, "open") + " open, " + text(answer, "accepted") + " accepted, "
                + text(answer, "refused") + " refused, " + text(answer, "waitingForCode") + " waiting for code");
    }

    static void threads(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("ID", "STATE", "CPU-S", "ALLOCATED", "NAME");
        for (JsonNode thread : answer.get("threads")) {
            table.row(
                    number(thread, "id"),
                    text(thread, "state"),
                    seconds(thread),
                    number(thread, "allocatedOctets"),
                    text(thread, "name"));
        }
        table.lines().forEach(lines);
        more(answer, "threads", lines);
    }

    static void routes(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("PREFIX", "NEXT-HOP", "TRANSPORT", "KIND");
        for (JsonNode route : answer.get("routes")) {
            route(table, route);
        }
        table.lines().forEach(lines);
        more(answer, "routes", lines);
    }

    /** One route, without heads. */
    static String route(JsonNode route) {
        TextTable table = new TextTable("", "", "", "");
        route(table, route);
        return table.lines().get(1);
    }

    private static void route(TextTable table, JsonNode route) {
        String address = route.get("address").isNull() ? "destination" : text(route, "address");
        int port = route.get("port").asInt();
        String host = address.indexOf(':') < 0 ? address : "[" + address + "]";
        table.row(
                text(route, "prefix"),
                port == 0 ? host : host + ":" + port,
                text(route, "transport"),
                text(route, "kind"));
    }

    static void traffic(JsonNode answer, Consumer<String> lines) {
        TextTable table = new TextTable("", "PACKETS", "OCTETS");
        table.row("in", number(answer, "packetsIn"), number(answer, "octetsIn"));
        table.row("made", number(answer, "packetsMade"), "");
        table.row("out", number(answer, "packetsOut"), number(answer, "octetsOut"));
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
                        printable(outcome.getKey()),
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
                + (packets == 1 ? text(drop, "octets") + " octets" : packets + " packets") + " from "
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

    /** A field as text of one line, which cannot steer a terminal; a hyphen for null. */
    static String text(JsonNode node, String name) {
        @Nullable JsonNode value = node.get(name);
        return value == null || value.isNull() ? NONE : printable(value.asString());
    }

    /** A text of one line, which cannot steer a terminal. */
    static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    private static Object number(@Nullable JsonNode node, String name) {
        JsonNode value = node == null || node.isNull() ? null : node.get(name);
        return value == null || value.isNull() ? NONE : (Object) value.asLong();
    }

    /** Right-aligned, because the heads' column is one of texts. */
    private static String seconds(JsonNode node) {
        return String.format(Locale.ROOT, "%9.3f", node.get("processorSeconds").asDouble());
    }

    static String join(JsonNode texts) {
        List<String> all = new ArrayList<>();
        texts.forEach(text -> all.add(printable(text.asString())));
        return all.isEmpty() ? NONE : String.join(", ", all);
    }

    private static void more(JsonNode answer, String list, Consumer<String> lines) {
        long hidden = answer.get("total").asLong() - answer.get(list).size();
        if (hidden > 0) {
            lines.accept("and " + hidden + " more");
        }
    }
}
