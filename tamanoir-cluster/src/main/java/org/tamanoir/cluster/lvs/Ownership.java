package org.tamanoir.cluster.lvs;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import org.tamanoir.cluster.ClusterException;

/**
 * Which virtual services of this network namespace a director has made: kept in a file, so that it knows them after a
 * restart. The record belongs to one boot and one network namespace; another's is as good as none. One director at a time
 * holds it: the file is locked.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class Ownership implements AutoCloseable {
    private Ownership() {}

    /**
     * Opens or makes the record in a folder.
     *
     * @throws ClusterException if another process holds it, or the disk fails
     */
    public static Ownership open(Path folder) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Reads the record without taking it; empty if there is none of this boot and namespace. */
    public static Set<VirtualAddress> look(Path folder) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    public Set<VirtualAddress> owned() {
        throw new UnsupportedOperationException();
    }

    /** Writes down, on the disk before it returns, that these are owned and no others. */
    public void own(Collection<VirtualAddress> services) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
