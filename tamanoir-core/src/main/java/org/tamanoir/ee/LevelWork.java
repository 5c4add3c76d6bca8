package org.tamanoir.ee;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;

/**
 * What an instance has to do with levels below the JVM: where its operator wants it, the policies that its service asks
 * for, and what they have done, which the service is told between packets.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
final class LevelWork implements PlacementKeeper.Instance {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Between looks at what levels have done: a service is told at least twice a second. */
    private static final Duration INTERVAL = Duration.ofMillis(400);

    private final HostedService host;
    private final ServiceDefinition definition;
    private final Offloads offloads;
    /** Null for TCP, which is not placed. */
    private final @Nullable PlacementKeeper keeper;

    private boolean isOpen;
    private boolean looks;

    LevelWork(HostedService host, ServiceDefinition definition, ExecutionEnvironment environment, StreamInfo stream) {
        this.host = host;
        this.definition = definition;
        this.offloads = new Offloads(environment, definition);
        this.keeper = stream.transport() == StreamInfo.Transport.UDP ? new PlacementKeeper(definition, offloads) : null;
    }

    // ---- life ------------------------------------------------------------------------------------------------------

    /** The service is initialised, or cannot be. */
    void begin(boolean isInitialised) {
        if (isInitialised) {
            isOpen = true;
            keepPlaced();
        } else {
            end();
        }
    }

    /** The service is closed next: tells it the last counts. */
    void finish() {
        end();
        if (isOpen) {
            isOpen = false;
            tellCounted();
        }
    }

    /** Gives all packets back to the JVM. Any thread. */
    void end() {
        offloads.close();
        if (keeper != null) {
            keeper.end();
        }
    }

    // ---- between packets -------------------------------------------------------------------------------------------

    /** Has it where its operator wants it. */
    void keepPlaced() {
        if (keeper != null && isOpen) {
            keeper.look(this);
            lookAgain();
        }
    }

    /** Goes on as long as there is something to look after. */
    private void lookAgain() {
        boolean isPending = keeper != null && keeper.isPending();
        if (!looks && (isPending || !offloads.isEmpty())) {
            looks = true;
            host.due(INTERVAL, this::look);
        }
    }

    private void look() {
        looks = false;
        offloads.follow();
        tellCounted();
        keepPlaced();
        lookAgain();
    }

    /** Tells the service what levels have done since the last time, if they have. */
    private void tellCounted() {
        if (offloads.hasBegun()) {
            LevelCounters since = offloads.since();
            if (since.packets() > 0) {
                host.guard("counted", () -> host.service().counted(since));
            }
        }
    }

    @Override
    public long packets() {
        return host.isPaused() ? -1 : host.status().traffic().packetsIn();
    }

    @Override
    public void tell() {
        tellCounted();
    }

    @Override
    public @Nullable Policy policy() throws LevelException {
        Asked asked = new Asked();
        boolean answered = host.guard("policy", () -> asked.of(host.service()));
        if (asked.refusal != null) {
            throw asked.refusal;
        }
        if (!answered) {
            throw new LevelException("its policy() failed; the log says how");
        }
        return asked.policy;
    }

    /** What a service says of its policy; that a level cannot do it is no failure. */
    private static final class Asked {
        private @Nullable Policy policy;
        private @Nullable LevelException refusal;

        void of(Service service) {
            try {
                policy = service.policy();
            } catch (LevelException e) {
                refusal = e;
            }
        }
    }

    // ---- the service's side ----------------------------------------------------------------------------------------

    Offload ask(Flow flow, Policy policy) throws LevelException {
        Placement placement = definition.placement();
        try {
            Offload offload = offloads.begin(flow, policy, placement.allowed(), true);
            placement.asked(null);
            lookAgain();
            return offload;
        } catch (LevelException e) {
            if (placement.asked(e.getMessage())) {
                LOG.info(
                        "service {} asked for a level below and stays in the JVM: {}",
                        definition.label(),
                        e.getMessage());
            }
            throw e;
        }
    }

    boolean isActive() {
        return offloads.isActive();
    }

    /** Any thread. */
    LevelCounters counters() {
        return offloads.counters();
    }
}
