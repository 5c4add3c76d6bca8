package org.tamanoir.offload;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * Keeps the UDP packets of a service where its operator wants them, as far as levels can.
 *
 * <p>Thread contract: the service's thread.
 */
final class PlacementKeeper {
    /** Between attempts: what hinders may pass, as a former version that still has the flow. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ServiceDefinition definition;
    private final Placement placement;
    private final Offloads offloads;
    private int version;
    private @Nullable Policy policy;
    private @Nullable Offload placed;
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
        if (placed != null) {
            placed.close(); // Packets come up from here on; the next policy waits for them.
            placed = null;
            instance.tell();
        }
        isHindered = false;
        packetsBefore = instance.packets();
        Set<Level> levels = placement.wantedBelow();
        if (placement.wantsJvm()) {
            tell(Level.JVM, null);
        } else if (levels.isEmpty()) {
            tell(Level.JVM, placement.notAllowed());
        } else {
            try {
                policy = instance.policy();
                if (policy == null) {
                    tell(Level.JVM, "with its settings only the JVM can do what it does");
                } else {
                    begin(policy, levels, isOrdered);
                }
            } catch (LevelException e) {
                tell(Level.JVM, String.valueOf(e.getMessage()));
            }
        }
    }

    private void tryAgain(Instance instance) {
        long packets = instance.packets();
        boolean isIdle = packets >= 0 && packets == packetsBefore;
        packetsBefore = packets;
        if (policy != null) {
            // A level that cannot wait for packets on their way up can begin when there are none.
            begin(policy, placement.wantedBelow(), !isIdle);
        }
    }

    private void begin(Policy policy, Set<Level> levels, boolean isOrdered) {
        triedNs = System.nanoTime();
        try {
            Offload offload = offloads.begin(Flow.ANY, policy, levels, isOrdered);
            placed = offload;
            isHindered = false;
            tell(offload.level(), null);
        } catch (LevelException e) {
            isHindered = true;
            tell(Level.JVM, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            isHindered = true; // Else nobody would try again.
            tell(Level.JVM, "by a fault of the level: " + e);
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
