package org.tamanoir.ee;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;

/**
 * Brings what services do wrong to their accounts, and tells an operator what follows from it.
 *
 * <p>Thread contract: any thread.
 */
final class Incidents {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);

    private final FailureLog failures;
    private volatile Consumer<Incident> log = incident -> {};

    Incidents(FailureLog failures) {
        this.failures = failures;
    }

    void to(Consumer<Incident> log) {
        this.log = log;
    }

    /** A service has thrown. */
    void failed(ServiceDefinition definition, String where, Throwable failure, String consequence) {
        failures.failed(definition.name(), where, failure, consequence);
        String why = "failed too often, last in " + where + ": " + failure;
        quarantinedFor(definition, definition.life().failed(1, why));
    }

    /** An instance was given up. */
    void leftBehind(ServiceInstance instance, DropReason reason) {
        ServiceDefinition definition = instance.definition();
        ServiceLife life = definition.life();
        tell(
                Incident.Kind.STUCK,
                definition,
                instance.thread().getName() + ": service " + definition.label()
                        + " does not return; given up, its thread is left behind");
        if (reason != DropReason.SHUTDOWN) {
            String why = "an instance does not return";
            // On UDP the next instance would soon meet the same packets.
            quarantinedFor(
                    definition,
                    instance instanceof UdpService
                            ? life.quarantineAnew(why)
                            : life.failed(ServiceLife.STUCK_WEIGHT, why));
        }
        life.leftBehind();
    }

    private void quarantinedFor(ServiceDefinition definition, @Nullable Duration time) {
        if (time != null) {
            quarantined(definition, time);
        }
    }

    /** A service has been put into quarantine. */
    void quarantined(ServiceDefinition definition, Duration time) {
        tell(
                Incident.Kind.QUARANTINED,
                definition,
                "service " + definition.label() + " is in quarantine for " + time.toSeconds() + " s: "
                        + definition.life().quarantineReason() + "; failure policy " + definition.failurePolicy());
    }

    void tell(Incident.Kind kind, ServiceDefinition definition, String text) {
        LOG.warn("{}", text);
        try {
            log.accept(new Incident(Instant.now(), kind, definition, text));
        } catch (RuntimeException e) {
            LOG.error("the log of incidents failed", e);
        }
    }
}
