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
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.ServiceStatus;

/**
 * The node's metrics in Prometheus' text format: what Micrometer knows of the JVM, and the node's own figures, which
 * are read when they are asked for; a service that is gone is gone from them too. Made at the first question: a node
 * whose metrics nobody asks for does not load them at its start. Any thread may call.
 */
final class NodeMetrics implements AutoCloseable {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final ActiveNodeManager manager;
    private @Nullable JvmGcMetrics collections;
    private @Nullable PrometheusMeterRegistry registry;

    NodeMetrics(ActiveNodeManager manager) {
        this.manager = manager;
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
            known.getPrometheusRegistry().register((MultiCollector) () -> collect(manager));
            registry = known;
        }
        return known;
    }

    private static MetricSnapshots collect(ActiveNodeManager manager) {
        Figures figures = new Figures();
        NodeFigures.add(figures, manager);
        List<ServiceStatus> services = manager.services();
        ServiceFigures.add(figures, services);
        LevelFigures.add(figures, manager.environment().levels(), services);
        QosFigures.add(figures, manager.qosStatus());
        return figures.snapshots();
    }

    byte[] scrape() {
        return Api.octets(registry().scrape(CONTENT_TYPE));
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
