package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.services.Monitor;
import org.tamanoir.support.Ports;

/** Spans of real streams, as a collector of OpenTelemetry gets them. */
@Tag("process")
@Timeout(120)
@SuppressWarnings("try") // The node runs until it is closed.
class SpansNodeTest {
    private static final String MONITOR = Monitor.class.getName();
    private static final String SECOND = "org.example.Second";

    @TempDir
    Path folder;

    /** A collector that keeps what it gets. Any thread. */
    private static final class Collector implements AutoCloseable {
        final List<ExportTraceServiceRequest> requests = new CopyOnWriteArrayList<>();
        private final HttpServer server = HttpServer.create(loopback(), 0);

        Collector() throws IOException {
            server.createContext("/v1/traces", exchange -> {
                InputStream body = exchange.getRequestBody();
                boolean gzip = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
                requests.add(ExportTraceServiceRequest.parseFrom(gzip ? new GZIPInputStream(body) : body));
                exchange.sendResponseHeaders(200, -1);
                exchange.close();
            });
            server.start();
        }

        String tracing() {
            return SpansNodeTest.tracing(server.getAddress().getPort());
        }

        List<Span> spans() {
            return requests.stream()
                    .flatMap(request -> request.getResourceSpansList().stream())
                    .flatMap(resource -> resource.getScopeSpansList().stream())
                    .flatMap(scope -> scope.getSpansList().stream())
                    .toList();
        }

        List<Span> awaitSpans(int count) {
            eventually().until(() -> spans().size() >= count);
            return spans();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static String tracing(int port) {
        return "tracing: {endpoint: \"http://127.0.0.1:" + port + "/v1/traces\"}\n";
    }

    private static Map<String, Object> attributes(Span span) {
        Map<String, Object> attributes = new TreeMap<>();
        span.getAttributesList().forEach(each -> attributes.put(each.getKey(), value(each.getValue())));
        return attributes;
    }

    private static Object value(AnyValue value) {
        return switch (value.getValueCase()) {
            case INT_VALUE -> value.getIntValue();
            case ARRAY_VALUE ->
                value.getArrayValue().getValuesList().stream()
                        .map(SpansNodeTest::value)
                        .toList();
            default -> value.getStringValue();
        };
    }

    private static void stream(LiveNode node, int packets) throws IOException {
        try (AnepSender sender = AnepSender.tcp(node.tcp())) {
            LiveSink.send(sender, LiveSink.packets(MONITOR), 0, packets);
        }
    }

    @Test
    void aStreamThatFinishedIsOneSpanWithAllThatCrossedIt() throws Exception {
        try (Collector collector = new Collector();
                LiveSink sink = new LiveSink();
                LiveNode node = LiveNode.start(
                        folder,
                        collector.tracing()
                                + LiveNode.route(sink.address(), true)
                                + "services: [{name: " + SECOND + ", class: " + MONITOR + "}]\n")) {
            Instant before = Instant.now();
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                LiveSink.send(sender, LiveSink.packets(MONITOR), 0, 3);
                LiveSink.send(sender, LiveSink.packets(SECOND), 3, 5);
                sink.await(5);
            }
            Span span = collector.awaitSpans(1).get(0);
            long bytes = node.node.environment().traffic().bytesIn();
            Map<String, Object> attributes = attributes(span);
            assertThat(attributes.remove("network.peer.port")).isInstanceOf(Long.class);
            Map<String, Object> expected = new TreeMap<>(Map.of(
                    "network.transport",
                    "tcp",
                    "network.peer.address",
                    "127.0.0.1",
                    "network.local.address",
                    "127.0.0.1",
                    "network.local.port",
                    (long) node.tcp().getPort(),
                    "tamanoir.services",
                    List.of(MONITOR, SECOND),
                    "tamanoir.packets.in",
                    5L,
                    "tamanoir.packets.made",
                    0L,
                    "tamanoir.packets.out",
                    5L,
                    "tamanoir.next_hop",
                    Endpoint.toString(sink.address()),
                    "tamanoir.end",
                    "finished"));
            expected.put("tamanoir.bytes.in", bytes);
            expected.put("tamanoir.bytes.out", node.node.environment().traffic().bytesOut());
            assertThat(attributes).isEqualTo(expected);
            assertThat(span.getName()).isEqualTo(MONITOR);
            assertThat(span.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_UNSET);
            assertThat(span.getParentSpanId()).isEmpty();
            assertThat(span.getStartTimeUnixNano()).isGreaterThanOrEqualTo(before.toEpochMilli() * 1_000_000);
            assertThat(span.getEndTimeUnixNano()).isGreaterThan(span.getStartTimeUnixNano());
            assertThat(collector
                            .requests
                            .get(0)
                            .getResourceSpans(0)
                            .getResource()
                            .getAttributesList())
                    .anyMatch(each -> each.getKey().equals("service.name")
                            && each.getValue().getStringValue().equals("tamanoir"));
            assertThat(node.text("/metrics")).contains("tamanoir_spans_missed_total 0.0");
        }
    }

    @Test
    void aStreamThatWasAbortedIsAnErrorWithWhatItDropped() throws Exception {
        try (Collector collector = new Collector();
                LiveNode node = LiveNode.start(folder, collector.tracing())) {
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                LiveSink.send(sender, LiveSink.packets(MONITOR), 0, 2);
                eventually().until(() -> node.node.environment().traffic().dropped() == 2);
                node.node.stop(Duration.ZERO); // It flushes, too.
            }
            Span span = collector.spans().get(0);
            assertThat(attributes(span))
                    .containsEntry("tamanoir.drops.NO_ROUTE", 2L)
                    .containsEntry("tamanoir.end", "cut at shutdown")
                    .doesNotContainKey("tamanoir.next_hop");
            assertThat(span.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_ERROR);
            assertThat(span.getStatus().getMessage()).isEqualTo("cut at shutdown");
        }
    }

    @Test
    void ofStreamsThatAreNotSampledThereIsNoSpanAndNoneIsMissed() throws Exception {
        try (Collector collector = new Collector();
                LiveNode node = LiveNode.start(folder, collector.tracing().replace("}", ", sample: 0}"))) {
            stream(node, 3);
            eventually().until(() -> node.node.environment().streams().open() == 0);
            node.node.stop(Duration.ZERO);
            assertThat(collector.requests).isEmpty();
        }
    }

    @Test
    void aCollectorThatIsNotThereCostsSpansAndNothingElse() throws Exception {
        int port = Ports.free();
        try (LiveSink sink = new LiveSink();
                LiveNode node = LiveNode.start(folder, tracing(port) + LiveNode.route(sink.address(), true))) {
            stream(node, 3);
            eventually().until(() -> node.text("/metrics").contains("tamanoir_spans_missed_total 1.0"));
            stream(node, 3);
            sink.await(6);
        }
    }

    /** Its {@code Timeout} is the bound of the stop: the collector would keep the node for ever. */
    @Test
    void aCollectorThatNeverAnswersHoldsUpNeitherStreamsNorTheStop() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                LiveSink sink = new LiveSink();
                LiveNode node =
                        LiveNode.start(folder, tracing(silent.getLocalPort()) + LiveNode.route(sink.address(), true))) {
            stream(node, 3);
            try (Socket asked = silent.accept()) {
                stream(node, 3);
                sink.await(6);
                node.node.stop(Duration.ZERO);
            }
        }
    }

    @Test
    @Tag("once")
    void aNodeWithoutACollectorLoadsNothingOfTheLibrary() throws Exception {
        assertThat(loaded("")).noneMatch(line -> line.contains("io.opentelemetry"));
        assertThat(loaded(tracing(9))).anyMatch(line -> line.contains("io.opentelemetry"));
    }

    private List<String> loaded(String yaml) throws Exception {
        Path log = folder.resolve("classes");
        Path config = Files.writeString(
                folder.resolve("node.yaml"), "listen: {tcp: [0], udp: []}\nadmin: {listen: \"127.0.0.1:0\"}\n" + yaml);
        ProcessBuilder program = LiveProcess.program(config);
        program.environment().put("JAVA_TOOL_OPTIONS", "-Xlog:class+load:file=" + log);
        try (LiveProcess node = new LiveProcess(program, folder.resolve("log"))) {
            node.terminate();
            node.stopped();
        }
        return Files.readAllLines(log);
    }
}
