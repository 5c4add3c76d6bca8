package org.tamanoir.cluster.element.ring;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A ring over UDP, the same for all of its parties.
 *
 * @param ringId that tells this ring from others
 * @param key 16 bytes that its parties share
 * @param units control address of each unit
 * @param distributor its control address; null = there is none, and units alone vote
 * @param plan the rest
 */
public record RingSettings(
        int ringId,
        byte[] key,
        Map<Integer, InetSocketAddress> units,
        @Nullable InetSocketAddress distributor,
        RingPlan plan) {
    public RingSettings {
        units = Map.copyOf(units);
        if (!units.keySet().equals(Set.copyOf(plan.units())) || plan.distributor() != (distributor != null)) {
            throw new IllegalArgumentException(
                    "control addresses are those of " + units.keySet() + ", but the ring has " + plan.voters()
                            + ": list the same (" + RingPlan.DISTRIBUTOR + " is the distributor)");
        }
    }

    /** Returns a ring with the times of the specification. */
    public static RingSettings of(
            int ringId, byte[] key, Map<Integer, InetSocketAddress> units, @Nullable InetSocketAddress distributor) {
        return new RingSettings(ringId, key, units, distributor, RingPlan.of(units.keySet(), distributor != null));
    }

    Map<Integer, InetSocketAddress> addresses() {
        Map<Integer, InetSocketAddress> all = new HashMap<>(units);
        if (distributor != null) {
            all.put(RingPlan.DISTRIBUTOR, distributor);
        }
        return all;
    }
}
