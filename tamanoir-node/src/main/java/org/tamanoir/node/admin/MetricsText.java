package org.tamanoir.node.admin;

import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Metrics in Prometheus' text format: what Micrometer knows of the JVM, and own metrics, which are read when they are
 * asked for; what is gone is gone from them too. Made at the first question: a process whose metrics nobody asks for
 * does not load them at its start. Any thread may call.
 */
final class MetricsText implements AutoCloseable {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final Consumer<Metrics> source;
    private @Nullable JvmGcMetrics collections;
    private @Nullable PrometheusMeterRegistry registry;

    /**
     * Metrics of a process.
     *
     * @param source puts its own metrics in, at each question
     */
    MetricsText(Consumer<Metrics> source) {
        this.source = source;
    }

    private synchronized PrometheusMeterRegistry registry() {
        PrometheusMeterRegistry known = registry;
        if (known == null) {
            known = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            new JvmMemoryMetrics().bindTo(known);
            JvmGcMetrics listening = new JvmGcMetrics();
            listening.bindTo(known);
            collections = listening;
            new JvmThreadMetrics().bindTo(known);
            new ClassLoaderMetrics().bindTo(known);
            new ProcessorMetrics().bindTo(known);
            new FileDescriptorMetrics().bindTo(known);
            new UptimeMetrics().bindTo(known);
            known.getPrometheusRegistry().register((MultiCollector) this::collect);
            registry = known;
        }
        return known;
    }

    private MetricSnapshots collect() {
        Metrics metrics = new Metrics();
        source.accept(metrics);
        return metrics.snapshots();
    }

    byte[] scrape() {
        return Api.bytes(registry().scrape(CONTENT_TYPE));
    }

    @Override
    public synchronized void close() {
        if (collections != null) {
            collections.close();
        }
        if (registry != null) {
            registry.close();
        }
    }
}
