package org.tamanoir.cluster.lvs;

import java.util.Set;
import java.util.SortedMap;
import org.tamanoir.cluster.ClusterException;

/**
 * The kernel's table, in the network namespace of the calling thread, through ipvsadm (Debian's 1.31). Every program that
 * it starts is given a bounded time.
 *
 * <p>Thread contract: any thread; one call changes at a time.
 */
public final class Ipvs {
    private Ipvs() {}

    /**
     * Looks whether the table can be read and changed.
     *
     * @throws ClusterException if ipvsadm is missing, the kernel has no IPVS, or this process may not
     */
    public static Ipvs open() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** The table as it is. */
    public LvsTable read() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /**
     * Makes all changes or none: what was made is taken back when one fails, or when the table is not the plan's
     * {@code before} any more, or not the wanted one afterwards.
     *
     * @throws ClusterException with the line that failed, and what ipvsadm said
     */
    public void apply(Plan plan) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** The kernel's counters, at one moment as near as several questions come. */
    public LvsCounters counters() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Values of settings under {@code net.ipv4.vs.}, by their last names; those that the kernel lacks are left out. */
    public SortedMap<String, String> settings(Set<String> names) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Sets one of them. */
    public void set(String name, String value) throws ClusterException {
        throw new UnsupportedOperationException();
    }
}
