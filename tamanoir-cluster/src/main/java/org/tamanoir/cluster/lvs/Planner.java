package org.tamanoir.cluster.lvs;

import java.util.Set;
import org.tamanoir.cluster.ClusterException;

/** Finds what has to be changed. Pure: no process, no clock. */
public final class Planner {
    private Planner() {}

    /**
     * The difference. Virtual services that are neither wanted nor owned are not touched.
     *
     * @param owned those that this director has made
     * @throws ClusterException if a wanted service is there already and is not owned
     */
    public static Plan plan(LvsTable wanted, LvsTable actual, Set<VirtualAddress> owned) throws ClusterException {
        throw new UnsupportedOperationException();
    }
}
