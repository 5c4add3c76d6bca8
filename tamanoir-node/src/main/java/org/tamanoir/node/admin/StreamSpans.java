package org.tamanoir.node.admin;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.routing.Addresses;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * Sends a span for each TCP stream that has ended to a collector of OpenTelemetry, by OTLP over HTTP. The library is
 * loaded with this class alone, which is used where an operator names a collector.
 *
 * <p>Each span that is sampled is sent, missed or waits: one that finds {@value #MAX_WAITING} others waiting, that the
 * collector does not take, or that waits when the time to close is up, is missed.
 *
 * <p>Thread contract: any number of threads call {@link #accept}, which does not block. One thread closes.
 */
public final class StreamSpans implements Consumer<StreamRecord>, AutoCloseable {
    /** Spans that may wait or be on their way, of some 2 KiB each. */
    static final int MAX_WAITING = 2048;

    private static final int MAX_BATCH = 512;
    private static final Duration BATCH_DELAY = Duration.ofSeconds(1);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    /** For one batch, repetitions included. */
    private static final Duration BATCH_TIMEOUT = Duration.ofSeconds(5);

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    /** Between complaints about missed spans. */
    private static final long COMPLAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private static final Logger LOG = LoggerFactory.getLogger(StreamSpans.class);

    /** Held, for its level goes with it: the library would write of each failure to standard error. */
    private static final java.util.logging.Logger LIBRARY = java.util.logging.Logger.getLogger("io.opentelemetry");

    private static final AttributeKey<String> TRANSPORT = AttributeKey.stringKey("network.transport");
    private static final AttributeKey<String> PEER = AttributeKey.stringKey("network.peer.address");
    private static final AttributeKey<Long> PEER_PORT = AttributeKey.longKey("network.peer.port");
    private static final AttributeKey<String> LOCAL = AttributeKey.stringKey("network.local.address");
    private static final AttributeKey<Long> LOCAL_PORT = AttributeKey.longKey("network.local.port");
    private static final AttributeKey<List<String>> SERVICES = AttributeKey.stringArrayKey("tamanoir.services");
    private static final AttributeKey<Long> PACKETS_IN = AttributeKey.longKey("tamanoir.packets.in");
    private static final AttributeKey<Long> PACKETS_MADE = AttributeKey.longKey("tamanoir.packets.made");
    private static final AttributeKey<Long> PACKETS_OUT = AttributeKey.longKey("tamanoir.packets.out");
    private static final AttributeKey<Long> BYTES_IN = AttributeKey.longKey("tamanoir.bytes.in");
    private static final AttributeKey<Long> BYTES_OUT = AttributeKey.longKey("tamanoir.bytes.out");
    private static final AttributeKey<String> NEXT_HOP = AttributeKey.stringKey("tamanoir.next_hop");
    private static final AttributeKey<String> END = AttributeKey.stringKey("tamanoir.end");

    private final URI endpoint;
    private final SdkTracerProvider provider;
    private final Tracer tracer;
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder missed = new LongAdder();
    private volatile boolean closed;
    private String lastFailure = "";
    private long complainedOf;
    private long complainedNs = System.nanoTime() - COMPLAIN_NS;

    /**
     * Begins; nothing is sent before a stream ends.
     *
     * @param endpoint where the collector takes spans
     * @param sample share of the streams that get one, 0 to 1
     */
    public StreamSpans(URI endpoint, double sample) {
        this.endpoint = endpoint;
        LIBRARY.setLevel(Level.OFF);
        OtlpHttpSpanExporter exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(endpoint.toString())
                .setConnectTimeout(CONNECT_TIMEOUT)
                .setTimeout(BATCH_TIMEOUT)
                .build();
        Attributes node = Attributes.builder()
                .put("service.name", "tamanoir")
                .put("service.version", Queries.version())
                .build();
        provider = SdkTracerProvider.builder()
                .setResource(Resource.getDefault().merge(Resource.create(node)))
                .setSampler(Sampler.traceIdRatioBased(sample))
                .addSpanProcessor(BatchSpanProcessor.builder(new Counted(exporter))
                        .setMaxQueueSize(MAX_WAITING)
                        .setMaxExportBatchSize(MAX_BATCH)
                        .setScheduleDelay(BATCH_DELAY)
                        .setExporterTimeout(BATCH_TIMEOUT)
                        .build())
                .build();
        tracer = provider.get("org.tamanoir.streams");
    }

    /** Takes note of a stream that has ended. */
    @Override
    public void accept(StreamRecord record) {
        Span span = tracer.spanBuilder(record.service())
                .setNoParent()
                .setSpanKind(SpanKind.SERVER)
                .setStartTimestamp(record.started())
                .startSpan();
        if (!span.isRecording()) {
            return; // It is not sampled.
        }
        if (waiting.getAndUpdate(count -> Math.min(count + 1, MAX_WAITING)) == MAX_WAITING) {
            missed.increment();
            return;
        }
        describe(record, span);
        span.end(record.started().plus(record.duration()));
    }

    private static void describe(StreamRecord record, Span span) {
        span.setAttribute(TRANSPORT, "tcp");
        address(span, PEER, PEER_PORT, record.stream().peer());
        address(span, LOCAL, LOCAL_PORT, record.stream().local());
        List<String> services = new ArrayList<>(List.of(record.service()));
        services.addAll(record.branches());
        span.setAttribute(SERVICES, services);
        TrafficSnapshot traffic = record.traffic();
        span.setAttribute(PACKETS_IN, traffic.packetsIn());
        span.setAttribute(PACKETS_MADE, traffic.packetsMade());
        span.setAttribute(PACKETS_OUT, traffic.packetsOut());
        span.setAttribute(BYTES_IN, traffic.bytesIn());
        span.setAttribute(BYTES_OUT, traffic.bytesOut());
        traffic.drops().forEach((reason, count) -> span.setAttribute("tamanoir.drops." + reason, count));
        InetSocketAddress nextHop = record.nextHop();
        if (nextHop != null) {
            span.setAttribute(NEXT_HOP, Endpoint.toString(nextHop));
        }
        span.setAttribute(END, record.end());
        if (!record.end().equals(StreamRecord.FINISHED)) {
            span.setStatus(StatusCode.ERROR, record.end());
        }
    }

    private static void address(
            Span span, AttributeKey<String> host, AttributeKey<Long> port, @Nullable InetSocketAddress address) {
        if (address != null) {
            span.setAttribute(host, Addresses.host(address.getAddress()));
            span.setAttribute(port, address.getPort());
        }
    }

    /** Returns how many spans were not sent, or not taken. */
    public long missed() {
        return missed.sum() + (closed ? waiting.get() : 0);
    }

    /** Sends what waits, {@code PATIENCE} long at most. */
    @Override
    public void close() {
        provider.shutdown().join(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        closed = true;
        complain(true);
    }

    /** Says that spans were missed, once in {@code COMPLAIN_NS} and at the end. Any thread. */
    private synchronized void complain(boolean last) {
        long now = System.nanoTime();
        long count = missed();
        if (count > complainedOf && (last || (!closed && now - complainedNs >= COMPLAIN_NS))) {
            LOG.warn(
                    "tracing: spans of streams missed so far: {}{}; does a collector listen at {}, and is it fast enough?",
                    count,
                    lastFailure,
                    endpoint);
            complainedOf = count;
            complainedNs = now;
        }
    }

    private synchronized void failed(@Nullable Throwable why) {
        Throwable cause = why;
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        lastFailure = cause == null ? "" : ", the last for " + cause;
    }

    /**
     * Passes batches on, and counts what becomes of them.
     *
     * <p>Thread contract: the processor's thread, and those of the sender for the outcome.
     */
    private final class Counted implements SpanExporter {
        private final SpanExporter exporter;

        Counted(SpanExporter exporter) {
            this.exporter = exporter;
        }

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            int size = spans.size();
            CompletableResultCode result = exporter.export(spans);
            return result.whenComplete(() -> {
                if (!result.isSuccess()) {
                    failed(result.getFailureThrowable());
                    missed.add(size);
                }
                waiting.addAndGet(-size);
                complain(false);
            });
        }

        @Override
        public CompletableResultCode flush() {
            return exporter.flush();
        }

        @Override
        public CompletableResultCode shutdown() {
            return exporter.shutdown();
        }
    }
}
