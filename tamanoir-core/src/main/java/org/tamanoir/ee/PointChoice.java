package org.tamanoir.ee;

import java.util.Collections;
import java.util.Locale;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.QosPoints;
import org.tamanoir.sched.QualityOfService;
import org.tamanoir.service.SizeEffect;

/**
 * Schedules traffic as it is asked to, and chooses between the points before services and after them where that is left
 * to the node: after them from the first instance on of a service that changes sizes, since only there it is known what a
 * link has to carry, and before them else, where no processor time goes into packets that are dropped then. Whether such
 * a service is still there is asked when the configuration changes, so that the choice does not go to and fro.
 *
 * <p>Thread contract: any thread.
 */
final class PointChoice {
    private static final Logger LOG = LoggerFactory.getLogger(PointChoice.class);

    private final QualityOfService quality;
    private final ServiceCatalog services;
    /** Services that change sizes, and have had an instance. */
    private final Set<ServiceDefinition> resizing = Collections.newSetFromMap(new WeakHashMap<>());

    private QosConfig asked = QosConfig.OFF;

    PointChoice(QualityOfService quality, ServiceCatalog services) {
        this.quality = quality;
        this.services = services;
    }

    /**
     * Schedules so from now on.
     *
     * @throws IllegalArgumentException with all problems, each in a line; nothing is changed then
     */
    synchronized void change(QosConfig config) {
        resizing.removeIf(definition -> !services.has(definition));
        if (config.points() == QosPoints.AUTO && config.problems().isEmpty()) {
            schedule(config);
        } else {
            quality.change(config);
        }
        asked = config;
    }

    /** Returns what was asked for. */
    synchronized QosConfig asked() {
        return asked;
    }

    /** An instance of the service was made, and is about to process packets. */
    void made(ServiceDefinition definition) {
        if (definition.traits().sizes() != SizeEffect.KEEPS) {
            resizes(definition);
        }
    }

    private synchronized void resizes(ServiceDefinition definition) {
        boolean isFirst = resizing.isEmpty();
        resizing.add(definition);
        if (isFirst && asked.points() == QosPoints.AUTO) {
            schedule(asked);
        }
    }

    private void schedule(QosConfig config) {
        quality.change(resizing.isEmpty() ? config.before() : config.after());
        if (resizing.isEmpty()) {
            LOG.info("qos: points auto: scheduled before processing, since no service that runs changes sizes");
        } else {
            LOG.info("qos: points auto: scheduled after processing, on links, since {}", reasons());
        }
    }

    private String reasons() {
        return resizing.stream()
                .map(definition -> definition.label() + " "
                        + definition.traits().sizes().name().toLowerCase(Locale.ROOT) + " packets")
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
