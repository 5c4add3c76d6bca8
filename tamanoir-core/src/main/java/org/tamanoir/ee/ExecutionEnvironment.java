package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.tamanoir.routing.RoutingTable;

/** Accepts ANEP streams over TCP and UDP, runs them through services and sends them on. */
public final class ExecutionEnvironment implements AutoCloseable {

    /** An environment that is not started. */
    public ExecutionEnvironment(EeConfig config, RoutingTable routes, ServiceCatalog services) {
        throw new UnsupportedOperationException();
    }

    /**
     * Opens the sockets and begins to accept.
     *
     * @throws IOException in one line, if an address cannot be had; nothing is left open then
     */
    public void start() throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Where TCP streams are accepted, with the real ports. */
    public List<InetSocketAddress> tcpAddresses() {
        throw new UnsupportedOperationException();
    }

    /** Where UDP packets are received, with the real ports. */
    public List<InetSocketAddress> udpAddresses() {
        throw new UnsupportedOperationException();
    }

    /** One line: which sockets are in use, and why if not the native ones. */
    public String transport() {
        throw new UnsupportedOperationException();
    }

    /** All that has crossed the node since its start. */
    public TrafficSnapshot traffic() {
        throw new UnsupportedOperationException();
    }

    /** Instances of services that run now. */
    public List<InstanceStatus> instances() {
        throw new UnsupportedOperationException();
    }

    /**
     * Stops accepting, lets streams finish until the deadline, then closes what is left. Returns when every
     * thread has ended.
     *
     * @return streams that had to be cut
     */
    public int stop(Duration deadline) {
        throw new UnsupportedOperationException();
    }

    /** {@link #stop} at once. */
    @Override
    public void close() {
        stop(Duration.ZERO);
    }
}
