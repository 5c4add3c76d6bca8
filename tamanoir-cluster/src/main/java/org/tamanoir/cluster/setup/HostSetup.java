package org.tamanoir.cluster.setup;

import java.nio.file.Path;
import java.util.List;
import org.tamanoir.cluster.ClusterException;
import org.tamanoir.cluster.DirectorConfig;
import org.tamanoir.cluster.Welcome;

/**
 * What a host needs to be a back-end or a director: addresses, a tunnel device, settings of the kernel. Each step can be
 * looked at, made and taken back; what was right before is left as it was, also when it is taken back.
 *
 * <p>Works on the network namespace of the calling thread. Thread contract: one thread at a time.
 */
public final class HostSetup {
    private HostSetup() {}

    /**
     * For a back-end.
     *
     * @param services of the cluster
     * @param networkInterface that packets come in by; the one that leads to the director
     * @param stateFile where it is written what was changed, so that a killed node's successor can take it back
     */
    public static HostSetup backEnd(List<Welcome.Served> services, String networkInterface, Path stateFile)
            throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** For a director: the virtual addresses, forwarding for NAT. */
    public static HostSetup director(DirectorConfig config) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** What is missing, one line each with the remedy as a command; empty = all is right. Changes nothing. */
    public List<String> findings() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** All steps as shell commands that root can run, whether they are needed now or not. */
    public List<String> commands() {
        throw new UnsupportedOperationException();
    }

    /** The commands that take it back. */
    public List<String> undoCommands() {
        throw new UnsupportedOperationException();
    }

    /**
     * Does what is missing, all or nothing.
     *
     * @throws ClusterException if a step fails; those made before it are taken back
     */
    public void apply() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Takes back what {@link #apply} did. */
    public void undo() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Whether this process may do all that: root, or CAP_NET_ADMIN in the namespace's user namespace. */
    public static boolean isPrivileged() {
        throw new UnsupportedOperationException();
    }
}
