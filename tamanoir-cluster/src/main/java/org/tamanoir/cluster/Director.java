package org.tamanoir.cluster;

import java.net.InetAddress;
import java.time.Duration;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.Plan;

/**
 * The front-end's control: asks back-ends for their health and load, and keeps the kernel's table as it follows from
 * that. The kernel forwards; nothing of a packet passes here, and when the director ends or dies streams go on.
 *
 * <p>Thread contract: any thread. One thread of its own decides and changes the table; a few ask the back-ends.
 */
public final class Director implements AutoCloseable {
    /** A director that is not started; opens nothing. */
    public Director(DirectorConfig config, Ipvs ipvs) {
        throw new UnsupportedOperationException();
    }

    /**
     * What a start with this configuration would change, taking listed back-ends as they answer now and those that
     * registered as the state folder remembers them. Changes nothing.
     */
    public static Plan plan(DirectorConfig config, Ipvs ipvs) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Removes the virtual services, and the addresses, that the director of this configuration has made. */
    public static Plan remove(DirectorConfig config, Ipvs ipvs) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes the state folder, sets the host up and brings the table up to date, before it returns; running connections
     * are not touched.
     *
     * @throws ClusterException if something is missing or another's; nothing is changed then
     */
    public void start() throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /**
     * A node registers, or says that it is still there.
     *
     * @param from the address that the request comes from
     * @throws ClusterException if it is refused
     */
    public Welcome register(String name, Registration registration, InetAddress from) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /**
     * Gives a back-end no new streams; it leaves the table when it has none any more, or at the deadline. Returns at once.
     *
     * @throws ClusterException if there is none of this name
     */
    public void drain(String name, Duration deadline) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Takes a drained or held back-end in again, once it answers. */
    public void join(String name) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Forgets a registered back-end; one that is listed stays drained. Its streams are cut. */
    public void leave(String name) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Adds to what every node deploys at once, and remembers it; a name without version takes the newest. */
    public void deploy(String service) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Takes that back: nodes that register later do not deploy it any more. What runs goes on. */
    public void undeploy(String service) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    public DirectorStatus status() {
        throw new UnsupportedOperationException();
    }

    public DirectorStatus.Totals totals() {
        throw new UnsupportedOperationException();
    }

    /** Ends; the table stays as it is unless the configuration says otherwise. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
