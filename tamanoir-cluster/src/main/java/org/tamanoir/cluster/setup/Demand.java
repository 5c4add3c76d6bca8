package org.tamanoir.cluster.setup;

import java.util.List;
import org.tamanoir.cluster.lvs.ClusterException;

/**
 * What a host is to have.
 *
 * @param steps in their order: settings that keep an address quiet come before the address
 * @param obstacles what must be right before any step is made
 * @param advice what no step mends
 */
record Demand(List<Step> steps, Check obstacles, Check advice) {
    /** Looks at a host and tells what is wrong with it, one line each with the remedy. */
    @FunctionalInterface
    interface Check {
        List<String> look(Host host) throws ClusterException;
    }

    Demand {
        steps = List.copyOf(steps);
    }
}
