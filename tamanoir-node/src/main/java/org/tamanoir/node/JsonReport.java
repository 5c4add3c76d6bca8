package org.tamanoir.node;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.TrafficSnapshot;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** One JSON object per line, for programs; {@code event} says which. Figures of packets and octets are totals. */
final class JsonReport implements NodeReport {
    private final JsonFactory factory = new JsonFactory();
    private final PrintWriter out;

    JsonReport(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void started(
            List<String> tcp, List<String> udp, String transport, Collection<ServiceDefinition> services, int routes) {
        line("started", json -> {
            strings(json, "tcp", tcp);
            strings(json, "udp", udp);
            json.writeStringProperty("transport", transport);
            strings(
                    json,
                    "services",
                    services.stream().map(ServiceDefinition::name).sorted().toList());
            json.writeNumberProperty("routes", routes);
        });
    }

    @Override
    public void rates(Interval interval) {
        line("stats", json -> {
            json.writeNumberProperty("seconds", interval.seconds());
            json.writeNumberProperty("packetsInPerSecond", Math.round(interval.packetsInPerSecond()));
            json.writeNumberProperty("packetsOutPerSecond", Math.round(interval.packetsOutPerSecond()));
            json.writeNumberProperty("octetsInPerSecond", Math.round(interval.octetsInPerSecond()));
            json.writeNumberProperty("octetsOutPerSecond", Math.round(interval.octetsOutPerSecond()));
            json.writeNumberProperty("streams", interval.streams());
            total(json, interval.to());
        });
    }

    @Override
    public void stopping(int streams, Duration drainTimeout) {
        line("stopping", json -> {
            json.writeNumberProperty("streams", streams);
            json.writeNumberProperty("drainTimeoutMs", drainTimeout.toMillis());
        });
    }

    @Override
    public void stopped(TrafficSnapshot total, int cutStreams) {
        line("stopped", json -> {
            json.writeNumberProperty("streamsCut", cutStreams);
            json.writeNumberProperty("unaccounted", NodeReport.unaccounted(total));
            total(json, total);
        });
    }

    private static void total(JsonGenerator json, TrafficSnapshot total) {
        json.writeNumberProperty("packetsIn", total.packetsIn());
        json.writeNumberProperty("packetsMade", total.packetsMade());
        json.writeNumberProperty("packetsOut", total.packetsOut());
        json.writeNumberProperty("octetsIn", total.octetsIn());
        json.writeNumberProperty("octetsOut", total.octetsOut());
        json.writeNumberProperty("held", total.held());
        json.writeNumberProperty("dropped", total.dropped());
        json.writeObjectPropertyStart("drops");
        new TreeMap<>(total.drops()).forEach((reason, count) -> json.writeNumberProperty(reason.name(), count));
        json.writeEndObject();
        json.writeNumberProperty("anomalies", total.anomalies());
    }

    private static void strings(JsonGenerator json, String name, List<String> values) {
        json.writeArrayPropertyStart(name);
        values.forEach(json::writeString);
        json.writeEndArray();
    }

    private void line(String event, Consumer<JsonGenerator> fields) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = factory.createGenerator(ObjectWriteContext.empty(), text)) {
            json.writeStartObject();
            json.writeStringProperty("event", event);
            json.writeNumberProperty("timeMs", System.currentTimeMillis());
            fields.accept(json);
            json.writeEndObject();
        }
        out.println(text);
        out.flush();
    }
}
