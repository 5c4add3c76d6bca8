package org.tamanoir.offload;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.ServiceCall;

/**
 * What an instance has to do with levels below the JVM: where its operator wants it, the policies that its service asks
 * for, and what they have done, which the service is told between packets.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
public final class ServiceOffload implements PlacementKeeper.Instance {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceOffload.class);
    /** Between looks at what levels have done: a service is told at least twice a second. */
    private static final Duration INTERVAL = Duration.ofMillis(400);
    /** Between the first looks whether the node has caught up with packets from before a policy; later it takes longer. */
    private static final Duration CATCH_UP = Duration.ofMillis(5);

    private static final Duration MAX_CATCH_UP = Duration.ofMillis(80);

    private final Host host;
    private final Service service;
    private final ServiceDefinition definition;
    private final Offloads offloads;
    /** Null for what is not placed: TCP, and one of several workers, each of which would take the others' policies back. */
    private final @Nullable PlacementKeeper keeper;

    private final boolean isWorker;

    private boolean isOpen;
    private boolean looks;
    private boolean catchesUp;
    private Duration catchUp = CATCH_UP;

    /** The instance. */
    public interface Host {
        /** Runs a task between packets, after this delay. */
        void due(Duration delay, Runnable task);

        /** Calls the service's code; returns whether it did not throw. */
        boolean guard(String where, ServiceCall call);

        /** Returns how many packets have come to it so far; -1 while some may wait for it. */
        long packets();

        /** Returns whether packets wait in its queues. */
        boolean holdsBack();

        /** Makes an outflow of what its thread sends. */
        Outflow outflow();
    }

    public ServiceOffload(
            Host host,
            Service service,
            ServiceDefinition definition,
            ServiceCatalog services,
            NodeOs levels,
            StreamInfo.Transport transport) {
        this.host = host;
        this.service = service;
        this.definition = definition;
        this.offloads = new Offloads(services, levels, definition);
        boolean isUdp = transport == StreamInfo.Transport.UDP;
        this.isWorker = isUdp && definition.dispatch().perPacket();
        this.keeper = isUdp && !isWorker ? new PlacementKeeper(definition, offloads) : null;
    }

    /** Begins when the service is initialised, or ends when it cannot be. */
    public void begin(boolean isInitialised) {
        if (isInitialised) {
            isOpen = true;
            keepPlaced();
        } else {
            end();
        }
    }

    /** Tells the service the last counts; it is closed next. */
    public void finish() {
        end();
        if (isOpen) {
            isOpen = false;
            tellCounted();
        }
    }

    /** Gives all packets back to the JVM. Any thread. */
    public void end() {
        offloads.close();
        if (keeper != null) {
            keeper.end();
        }
    }

    /** Has it where its operator wants it. */
    public void keepPlaced() {
        if (keeper != null && isOpen) {
            try {
                keeper.look(this);
            } finally {
                lookAgain();
            }
        }
    }

    /** Goes on as long as there is something to look after. */
    private void lookAgain() {
        boolean isPending = keeper != null && keeper.isPending();
        if (!looks && (isPending || !offloads.isEmpty())) {
            host.due(INTERVAL, this::look);
            looks = true; // Now that it will: what throws before leaves it to the next call.
        }
        if (!catchesUp && offloads.isBehind()) {
            host.due(catchUp, this::catchUp);
            catchesUp = true;
            catchUp = catchUp.compareTo(MAX_CATCH_UP) < 0 ? catchUp.multipliedBy(2) : MAX_CATCH_UP;
        } else if (!catchesUp) {
            catchUp = CATCH_UP;
        }
    }

    private void catchUp() {
        catchesUp = false;
        try {
            offloads.catchUp(host.holdsBack(), host::outflow);
        } finally {
            lookAgain();
        }
    }

    private void look() {
        looks = false;
        try {
            offloads.follow();
            tellCounted();
            keepPlaced();
        } finally {
            lookAgain(); // Whatever a level did: the next look may find it well.
        }
    }

    /** Tells the service what levels have done since the last time, if they have. */
    private void tellCounted() {
        if (offloads.hasBegun()) {
            LevelCounters since = offloads.since();
            if (since.packets() > 0) {
                host.guard("counted", () -> service.counted(since));
            }
        }
    }

    @Override
    public long packets() {
        return host.packets();
    }

    @Override
    public void tell() {
        tellCounted();
    }

    @Override
    public @Nullable Policy policy() throws LevelException {
        Asked asked = new Asked();
        boolean answered = host.guard("policy", () -> asked.of(service));
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

    public Offload ask(Flow flow, Policy policy) throws LevelException {
        Placement placement = definition.placement();
        try {
            if (isWorker) {
                throw new LevelException(
                        "dispatch packet: workers are in the JVM, and a level works for one instance; take dispatch stream");
            }
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

    public boolean isActive() {
        return offloads.isActive();
    }

    /** Returns what the levels have done; any thread. */
    public LevelCounters counters() {
        return offloads.counters();
    }

    /** Has the service's totals keep what levels have done, which do nothing for it any more; any thread. */
    public void endCounts() {
        offloads.endCounts();
    }
}
