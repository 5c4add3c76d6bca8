package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.tamanoir.catalog.ServiceHealth;

/** What simulations of whole environments need of this room. */
public final class SimulatedLife {
    private SimulatedLife() {}

    /** Returns a service's life by this clock. */
    public static ServiceHealth of(LongSupplier clock) {
        return new ServiceHealth(0, 0, clock);
    }

    /** Returns what scheduling still holds of an environment in which nothing runs. */
    public static List<String> grants(ExecutionEnvironment environment) {
        List<String> left = new ArrayList<>();
        environment
                .qosStatus()
                .points()
                .forEach(point -> point.classes().forEach(each -> {
                    if (each.waitingPackets() != 0 || each.waitingBytes() != 0 || each.waitingTurns() != 0) {
                        left.add(point.name() + " " + each.name() + ": " + each.waitingPackets() + " packets, "
                                + each.waitingBytes() + " bytes, " + each.waitingTurns() + " turns");
                    }
                }));
        return left;
    }
}
