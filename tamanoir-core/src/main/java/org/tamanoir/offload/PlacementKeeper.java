package org.tamanoir.offload;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;

/**
 * Keeps the UDP packets of a service where its operator wants them, as far as levels can.
 *
 * <p>Thread contract: the service's thread.
 */
final class PlacementKeeper {
    /** Between attempts: what hinders may pass, as a former version that still has the flow. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private static final String TRIED_AGAIN = "; the node tries again each second";

    /** Levels that can send all packets of a flow up. */
    private static final Set<Level> SEND_UP = Set.of(Level.TC, Level.MODULE);

    private final ServiceDefinition definition;
    private final Placement placement;
    private final Offloads offloads;
    private int version;
    private @Nullable Policy policy;
    private @Nullable KeyedOffload placed;
    /** Why it is in the JVM in place of where it is wanted; null when it is wanted there. */
    private @Nullable String whyInJvm;

    private boolean isHindered;
    private long triedNs;
    /** As of the last attempt. */
    private long packetsBefore = -1;

    PlacementKeeper(ServiceDefinition definition, Offloads offloads) {
        this.definition = definition;
        this.placement = definition.placement();
        this.offloads = offloads;
    }

    /** The instance. */
    interface Instance {
        /** Asks the service for what a level can do in its place. */
        @Nullable
        Policy policy() throws LevelException;

        /** Packets that have come to it so far; -1 while some may wait for it. */
        long packets();

        /** Tells the service what levels have done, before the next packet. */
        void tell();
    }

    /** Returns whether it has to be tried again. */
    boolean isPending() {
        return isHindered;
    }

    /** Looks whether something is to be done, and does it. */
    void look(Instance instance) {
        int wanted = placement.version();
        if (wanted != version) {
            version = wanted;
            replace(instance);
        } else if (placed != null && placed.isClosed()) {
            placed = null;
            tryAgain(instance); // Its level has gone, and perhaps come again.
        } else if (isHindered && System.nanoTime() - triedNs >= RETRY.toNanos()) {
            tryAgain(instance);
        }
    }

    private void replace(Instance instance) {
        boolean isOrdered = !placement.isCalm();
        isHindered = false;
        policy = null;
        packetsBefore = instance.packets();
        Set<Level> levels = placement.wantedBelow();
        if (placement.wantsJvm()) {
            stayInJvm(null);
        } else if (levels.isEmpty()) {
            stayInJvm(placement.notAllowed());
        } else {
            try {
                policy = instance.policy();
                if (policy == null) {
                    stayInJvm("with its settings only the JVM can do what it does");
                } else {
                    begin(policy, levels, isOrdered);
                }
            } catch (LevelException e) {
                stayInJvm(String.valueOf(e.getMessage()));
            }
        }
        instance.tell();
    }

    private void tryAgain(Instance instance) {
        long packets = instance.packets();
        boolean isIdle = packets >= 0 && packets == packetsBefore;
        packetsBefore = packets;
        if (policy != null) {
            // A level that cannot wait for packets on their way up can begin when there are none.
            begin(policy, placement.wantedBelow(), !isIdle);
        } else {
            isHindered = false;
            stayInJvm(whyInJvm);
        }
    }

    private void begin(Policy policy, Set<Level> levels, boolean isOrdered) {
        triedNs = System.nanoTime();
        try {
            isHindered = false;
            tell(put(policy, levels, isOrdered), null);
        } catch (LevelException e) {
            isHindered = true;
            stayInJvm(e.getMessage() + TRIED_AGAIN);
        } catch (RuntimeException e) {
            isHindered = true; // Else nobody would try again.
            stayInJvm("by a fault of the level: " + e + TRIED_AGAIN);
        }
    }

    /** Puts a policy to work, in the place of the one that is; returns where. */
    private Level put(Policy policy, Set<Level> levels, boolean isOrdered) throws LevelException {
        KeyedOffload at = placed;
        if (at == null || at.isClosed()) {
            at = offloads.begin(Flow.ANY, policy, levels, isOrdered);
            placed = at;
        } else {
            at.move(policy, levels, isOrdered);
        }
        return at.level();
    }

    /** Takes the policy away, so that packets come up; where they would pass the service by then, one that sends them up stays. */
    private void stayInJvm(@Nullable String reason) {
        whyInJvm = reason;
        if (offloads.passesUnknown() && placement.isWished()) {
            sendUp(reason);
            return;
        }
        if (placed != null) {
            placed.close();
            placed = null;
        }
        tell(Level.JVM, reason);
    }

    private void sendUp(@Nullable String reason) {
        KeyedOffload at = placed != null && !placed.isClosed() ? placed : null;
        if (at != null && at.policy().equals(Policy.up())) {
            tell(Level.JVM, reason);
            return;
        }
        try {
            put(Policy.up(), SEND_UP, false);
            tell(Level.JVM, reason);
        } catch (LevelException | RuntimeException e) {
            isHindered = true;
            triedNs = System.nanoTime();
            String instead = at == null
                    ? "packets in transit pass it by, since levels.unknown is on: "
                    : "the policy of before stays, since packets cannot be sent up: ";
            tell(at == null ? Level.JVM : at.level(), (reason == null ? "" : reason + "; ") + instead + e.getMessage());
        }
    }

    private void tell(Level actual, @Nullable String reason) {
        placement.tried(this, definition.label(), version, actual, reason);
    }

    /** Takes note that the instance ends. Any thread. */
    void end() {
        placement.left(this);
    }
}
