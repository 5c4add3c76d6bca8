package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.TcpConnection;

/**
 * The instances of services that run on a node: begins them, knows them while they run, waits for their end, and keeps
 * the counts of those that have ended.
 *
 * <p>Thread contract: any thread.
 */
final class Instances {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** How long threads may take to notice that they are cut; a service that does not return takes longer. */
    static final Duration CUT_PATIENCE = Duration.ofSeconds(3);

    private final ExecutionEnvironment environment;
    private final Set<ServiceInstance> running = new LinkedHashSet<>();
    /** Instances given up whose threads still run. */
    private final Set<ServiceInstance> leftBehind = new LinkedHashSet<>();

    private final Traffic.Sum endedTraffic = new Traffic.Sum();
    /** Of services that exist, since the sums of those that are gone are of no use to anybody. */
    private final Map<ServiceDefinition, Traffic.Sum> endedByService = new WeakHashMap<>();

    private @Nullable Watchdog watchdog;
    private int streams;
    private long streamsRefused;
    private long streamsTotal;
    private boolean closed;

    Instances(ExecutionEnvironment environment) {
        this.environment = environment;
    }

    /** Wakes this watchdog when there is something to watch; null: there is none. */
    synchronized void watchedBy(@Nullable Watchdog watchdog) {
        this.watchdog = watchdog;
    }

    // ---- begin -----------------------------------------------------------------------------------------------------

    /** Counts a connection in; false when there are too many. */
    synchronized boolean admit() {
        if (closed || streams >= environment.config().maxStreams()) {
            streamsRefused++;
            return false;
        }
        streams++;
        streamsTotal++;
        return true;
    }

    /** Counts a connection out. */
    synchronized void leave() {
        streams--;
    }

    /** Admits no connection any more. */
    synchronized void close() {
        closed = true;
    }

    /**
     * Moves a connection onto a thread of its own, which runs this service. The reception's thread.
     *
     * @param key what its first packet names the service by
     * @param reception counts what the connection brought if it gets no thread
     * @return false when the service has been replaced or taken away since it was found
     */
    boolean openStream(
            TcpConnection connection, ServiceDefinition definition, long key, Service service, Traffic reception) {
        TcpStream stream;
        try {
            StreamInfo info =
                    new StreamInfo(StreamInfo.Transport.TCP, connection.remoteAddress(), connection.localAddress());
            stream = new TcpStream(environment, definition, service, connection, info);
        } catch (RuntimeException | Error e) {
            environment.failures().failed(definition.name(), "its start", e, "stream closed");
            TcpInput.drop(
                    connection,
                    reception,
                    DropReason.NO_INSTANCE,
                    environment.config().typeId());
            connection.reset();
            leave();
            return true;
        }
        if (definition != Transit.DEFINITION) {
            stream.keys().begin(key);
        }
        if (!registerIfCurrent(stream, key)) {
            stream.loop.own();
            stream.loop.close();
            return false;
        }
        connection.leave(() -> startOrEnd(stream));
        return true;
    }

    /** Who takes a service away finds every instance that was begun before. */
    private synchronized boolean registerIfCurrent(ServiceInstance instance, long key) {
        ServiceDefinition definition = instance.definition();
        if (definition != Transit.DEFINITION && environment.services().find(key) != definition) {
            return false;
        }
        register(instance);
        return true;
    }

    /** A second service for a stream; null when it cannot be started, or was taken away since it was found. */
    @Nullable
    TcpBranch openBranch(TcpStream trunk, ServiceDefinition definition, long key, Service service) {
        try {
            TcpBranch branch = new TcpBranch(environment, definition, service, trunk);
            if (!registerIfCurrent(branch, key)) {
                branch.loop.own();
                branch.loop.close();
                branch.free(trunk.traffic);
                return null;
            }
            return startOrEnd(branch) ? branch : null;
        } catch (RuntimeException | Error e) {
            environment.failures().failed(definition.name(), "its start", e, "packet dropped");
            return null;
        }
    }

    /** Starts an instance; false when there is no thread for it. */
    boolean begin(ServiceInstance instance) {
        register(instance);
        return startOrEnd(instance);
    }

    private boolean startOrEnd(ServiceInstance instance) {
        try {
            instance.start();
            return true;
        } catch (OutOfMemoryError e) {
            // No thread is to be had: the instance ends on this one, without having run.
            LOG.warn("{}: no thread to be had: {}", instance.thread().getName(), e.getMessage());
            instance.cut();
            instance.run(instance.service());
            return false;
        }
    }

    private synchronized void register(ServiceInstance instance) {
        running.add(instance);
        if (running.size() == 1 && watchdog != null) {
            watchdog.wake();
        }
    }

    // ---- while they run --------------------------------------------------------------------------------------------

    /** Those that run now. */
    synchronized List<ServiceInstance> all() {
        return List.copyOf(running);
    }

    /** Instances that run, and those given up that still do. */
    synchronized List<ServiceInstance> watched() {
        leftBehind.removeIf(instance -> !instance.isAlive());
        List<ServiceInstance> all = new ArrayList<>(running);
        all.addAll(leftBehind);
        return all;
    }

    /** TCP streams now, since the start, and refused for want of room. */
    synchronized StreamCounts streams() {
        return new StreamCounts(streams, streamsTotal, streamsRefused);
    }

    /** Adds what crossed all instances, those that ended included. */
    synchronized void addTo(Traffic.Sum sum) {
        sum.add(endedTraffic);
        running.forEach(instance -> instance.traffic.addTo(sum));
    }

    /** Adds what crossed the instances of one service. */
    synchronized void addTo(Traffic.Sum sum, ServiceDefinition definition) {
        Traffic.Sum ended = endedByService.get(definition);
        if (ended != null) {
            sum.add(ended);
        }
        for (ServiceInstance instance : running) {
            if (instance.definition().equals(definition)) {
                instance.traffic.addTo(sum);
            }
        }
    }

    // ---- end -------------------------------------------------------------------------------------------------------

    /** An instance does not return from its service's code. False when it has. */
    boolean abandon(ServiceInstance instance, DropReason reason) {
        if (!instance.abandon(reason)) {
            return false;
        }
        synchronized (this) {
            leftBehind.add(instance);
        }
        ended(instance);
        return true;
    }

    /** An instance has ended; its counts stay. */
    synchronized void ended(ServiceInstance instance) {
        if (running.remove(instance)) {
            instance.traffic.addTo(endedTraffic);
            instance.traffic.addTo(
                    endedByService.computeIfAbsent(instance.definition(), definition -> new Traffic.Sum()));
            if (instance instanceof TcpStream) {
                streams--;
            } else if (instance instanceof UdpService service) {
                environment.udp().ended(service);
            }
            notifyAll();
        }
    }

    /** Cuts the TCP streams that run a service until the deadline; returns how many. */
    synchronized int retire(ServiceDefinition definition, Duration deadline) {
        awaitEnd(instance -> instance.definition() == definition, deadline);
        Set<TcpStream> cut = new HashSet<>();
        for (ServiceInstance instance : running) {
            TcpStream stream = instance instanceof TcpStream trunk
                    ? trunk
                    : instance instanceof TcpBranch branch ? branch.trunk() : null;
            if (stream != null && instance.definition() == definition && cut.add(stream)) {
                LOG.info("{}: cut: its service is taken away", stream.thread().getName());
                stream.cut();
            }
        }
        awaitEnd(instance -> instance.definition() == definition, CUT_PATIENCE);
        running.stream().filter(instance -> instance.definition() == definition).forEach(ServiceInstance::cut);
        return cut.size();
    }

    /** Waits, bounded, until none is left. */
    void awaitEnd(Duration time) {
        awaitEnd(instance -> true, time);
    }

    private synchronized void awaitEnd(Predicate<ServiceInstance> which, Duration time) {
        long deadlineNs = System.nanoTime() + time.toNanos();
        boolean interrupted = false;
        while (!interrupted && running.stream().anyMatch(which)) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
            if (left <= 0) {
                break;
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits, bounded, until the threads of these instances have ended. */
    static void join(Collection<? extends ServiceInstance> ending) {
        long deadline = System.nanoTime() + CUT_PATIENCE.toNanos();
        for (ServiceInstance instance : ending) {
            if (instance.isAbandoned()) {
                continue;
            }
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            try {
                instance.thread().join(Math.max(1, left));
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
