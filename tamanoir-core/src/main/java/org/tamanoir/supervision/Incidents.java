package org.tamanoir.supervision;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.service.StreamInfo.Transport;

/**
 * Brings what services do wrong to their accounts, and tells an operator what follows from it.
 *
 * <p>Thread contract: any thread.
 */
public final class Incidents {
    private static final Logger LOG = LoggerFactory.getLogger(Incidents.class);

    /** Where a service fails whose constructor throws. */
    public static final String CONSTRUCTOR = "its constructor";
    /** Where a service fails whose {@code init} throws. */
    public static final String INIT = "init";

    private final FailureLog failures;
    private volatile Consumer<Incident> log = incident -> {};

    public Incidents(FailureLog failures) {
        this.failures = failures;
    }

    public void to(Consumer<Incident> log) {
        this.log = log;
    }

    /** Reads what a service has thrown, which is its code, as {@link ForeignFailure#of}; the thread that may be held up. */
    public static Throwable read(Throwable thrown) {
        return ForeignFailure.of(thrown);
    }

    /** Counts that a service has thrown, as one failure. */
    public void failed(
            ServiceDefinition definition, Transport transport, String where, Throwable thrown, String consequence) {
        failed(definition, transport, where, thrown, consequence, 1);
    }

    /**
     * Counts that a service has thrown, and logs it as {@link ForeignFailure#of} says it.
     *
     * @param transport what its instance serves
     * @param weight in failures
     */
    public void failed(
            ServiceDefinition definition,
            Transport transport,
            String where,
            Throwable thrown,
            String consequence,
            int weight) {
        ForeignFailure failure = ForeignFailure.of(thrown);
        failures.failed(definition.name(), where, failure, consequence);
        if (where.equals(INIT) || where.equals(CONSTRUCTOR)) {
            faulty(definition, transport, where + ": " + failure);
        }
        String why = "failed too often, last in " + where + ": " + failure;
        quarantinedFor(definition, definition.health().failed(weight, why));
    }

    private void faulty(ServiceDefinition definition, Transport transport, String fault) {
        if (definition.health().began(transport, fault)) {
            record( // The log has a line of the failure.
                    Incident.Kind.FAULT,
                    definition,
                    "service " + definition.label() + " does not begin: " + fault + "; failure policy "
                            + definition.failurePolicy());
        }
    }

    /**
     * An instance was given up.
     *
     * @param meetsTheSame whether the next instance would soon meet the same packets, as on UDP
     */
    public void leftBehind(Supervision instance, boolean meetsTheSame, DropReason reason) {
        ServiceDefinition definition = instance.definition();
        ServiceHealth life = definition.health();
        tell(
                Incident.Kind.STUCK,
                definition,
                instance.name() + ": service " + definition.label()
                        + (instance.isDead()
                                ? ": its thread ended by a fault of the node"
                                : " does not return; given up, its thread is left behind"));
        if (instance.isDead()) {
            return;
        }
        if (reason != DropReason.SHUTDOWN) {
            String why = "an instance does not return";
            quarantinedFor(
                    definition, meetsTheSame ? life.quarantineAnew(why) : life.failed(ServiceHealth.STUCK_WEIGHT, why));
        }
        life.leftBehind();
    }

    private void quarantinedFor(ServiceDefinition definition, @Nullable Duration time) {
        if (time != null) {
            quarantined(definition, time);
        }
    }

    /** Tells that a service has been put into quarantine. */
    void quarantined(ServiceDefinition definition, Duration time) {
        tell(
                Incident.Kind.QUARANTINED,
                definition,
                "service " + definition.label() + " is in quarantine for " + time.toSeconds() + " s: "
                        + definition.health().quarantineReason() + "; failure policy " + definition.failurePolicy());
    }

    void tell(Incident.Kind kind, ServiceDefinition definition, String text) {
        LOG.warn("{}", text);
        record(kind, definition, text);
    }

    private void record(Incident.Kind kind, ServiceDefinition definition, String text) {
        try {
            log.accept(new Incident(kind, definition, text));
        } catch (RuntimeException e) {
            LOG.error("the log of incidents failed", e);
        }
    }
}
