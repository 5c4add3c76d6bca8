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
import org.tamanoir.manager.ActiveNodeManager;

/**
 * The node's metrics in Prometheus' text format: what Micrometer knows of the JVM, and the node's own figures, which
 * are read when they are asked for; a service that is gone is gone from them too. Any thread may call.
 */
final class NodeMetrics implements AutoCloseable {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();

    NodeMetrics(ActiveNodeManager manager) {
        new JvmMemoryMetrics().bindTo(registry);
        collections.bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        registry.getPrometheusRegistry().register((MultiCollector) () -> collect(manager));
    }

    private static MetricSnapshots collect(ActiveNodeManager manager) {
        Figures figures = new Figures();
        NodeFigures.add(figures, manager);
        ServiceFigures.add(figures, manager.services());
        return figures.snapshots();
    }

    byte[] scrape() {
        return AdminServer.octets(registry.scrape(CONTENT_TYPE));
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
