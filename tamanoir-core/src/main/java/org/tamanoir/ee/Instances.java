package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.Transit;
import org.tamanoir.gateway.CountedGateway;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.Watchdog;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * The instances of services that run on a node: knows them while they run, waits for their end, and keeps
 * the counts of those that have ended.
 *
 * <p>Thread contract: any thread.
 */
public final class Instances implements Watchdog.Fleet<Instance> {
    private static final Logger LOG = LoggerFactory.getLogger(Instances.class);
    /** How long threads may take to notice that they are cut; a service that does not return takes longer. */
    static final Duration CUT_PATIENCE = Duration.ofSeconds(3);

    private final ServiceCatalog services;
    private final Platform platform;
    /** Instances, and what frees their places. */
    private final Map<Instance, Runnable> running = new LinkedHashMap<>();
    /** Instances given up whose threads still run. */
    private final Set<Instance> leftBehind = new LinkedHashSet<>();

    private final Traffic.Sum endedTraffic = new Traffic.Sum();
    /** Of services that exist, since the sums of those that are gone are of no use to anybody. */
    private final Map<ServiceDefinition, Traffic.Sum> endedByService = new WeakHashMap<>();

    private final GatewayStreams endedByGateway = new GatewayStreams();

    /** Threads that wait for an end. */
    private final Set<Thread> awaiting = new LinkedHashSet<>();

    private @Nullable Watchdog<Instance> watchdog;

    Instances(ServiceCatalog services, Platform platform) {
        this.services = services;
        this.platform = platform;
    }

    /** Wakes this watchdog when there is something to watch; null: there is none. */
    synchronized void watchedBy(@Nullable Watchdog<Instance> watchdog) {
        this.watchdog = watchdog;
    }

    /**
     * Takes note of an instance, unless its service was replaced or taken away since it was found: who takes it away
     * finds every instance that was begun before.
     *
     * @param key that the service was found by
     * @param atEnd frees the place that the instance has
     */
    synchronized boolean registerIfCurrent(Instance instance, long key, Runnable atEnd) {
        ServiceDefinition definition = instance.thread.definition();
        if (definition != Transit.DEFINITION && services.find(key) != definition) {
            return false;
        }
        try {
            register(instance, atEnd);
        } catch (RuntimeException | Error e) {
            running.remove(instance); // Its place is the caller's.
            throw e;
        }
        return true;
    }

    /** Starts an instance; false when there is no thread for it, or something else is wrong, and it has ended. */
    boolean begin(Instance instance, Runnable atEnd) {
        try {
            register(instance, atEnd);
        } catch (RuntimeException | Error e) {
            return end(instance, "not begun", e);
        }
        return startOrEnd(instance);
    }

    boolean startOrEnd(Instance instance) {
        try {
            instance.thread.start();
            return true;
        } catch (OutOfMemoryError | IllegalStateException e) {
            return end(instance, "no thread to be had", e);
        } catch (RuntimeException | Error e) {
            return end(instance, "not started by a fault of the node", e);
        }
    }

    /** Ends an instance on the calling thread, without having run: what it has is counted and given back. */
    private static boolean end(Instance instance, String why, Throwable e) {
        LOG.warn("{}: {}: {}", instance.thread.name(), why, String.valueOf(e.getMessage()));
        instance.thread.cut();
        instance.run();
        return false;
    }

    private synchronized void register(Instance instance, Runnable atEnd) {
        instance.thread.atEnd(() -> ended(instance));
        running.put(instance, atEnd);
        if (watchdog != null) {
            watchdog.wake(instance.thread.definition());
        }
    }

    /** Returns the instances that run now. */
    synchronized List<Instance> all() {
        return List.copyOf(running.keySet());
    }

    /** Instances that run, and those given up that still do. */
    @Override
    public synchronized List<Instance> watched() {
        leftBehind.removeIf(instance -> !instance.supervision().isAlive());
        List<Instance> all = new ArrayList<>(running.keySet());
        all.addAll(leftBehind);
        return all;
    }

    /** Adds what crossed all instances, those that ended included. */
    synchronized void addTo(Traffic.Sum sum) {
        sum.add(endedTraffic);
        running.keySet().forEach(instance -> instance.thread.traffic.addTo(sum));
    }

    /** Adds what crossed the instances of one service. */
    synchronized void addTo(Traffic.Sum sum, ServiceDefinition definition) {
        Traffic.Sum ended = endedByService.get(definition);
        if (ended != null) {
            sum.add(ended);
        }
        for (Instance instance : running.keySet()) {
            if (instance.thread.definition().equals(definition)) {
                instance.thread.traffic.addTo(sum);
            }
        }
    }

    /** Returns what the streams of a gateway have come to, and how many run. */
    synchronized GatewayStatus status(CountedGateway counted, InetSocketAddress address) {
        GatewayStreams.Tally all = endedByGateway.all(counted, running.keySet());
        TrafficSnapshot packets = all.traffic.ofInstance();
        Gateway gateway = counted.gateway();
        return new GatewayStatus(
                StreamInfo.Transport.TCP,
                address,
                gateway.to(),
                gateway.format().name(),
                gateway.serviceKey(),
                gateway.classOfService(),
                GatewayStreams.running(counted, running.keySet()).streams,
                all.streams,
                new TrafficSnapshot(
                        packets.packetsIn(),
                        counted.bytesIn(),
                        packets.packetsMade(),
                        packets.packetsOut(),
                        counted.bytesOut(),
                        packets.held(),
                        packets.drops(),
                        packets.anomalies()));
    }

    /** Returns what crossed the instances of each service that exists, in one look at all of them. */
    synchronized Map<ServiceDefinition, Traffic.Sum> sums() {
        Map<ServiceDefinition, Traffic.Sum> sums = new HashMap<>();
        endedByService.forEach((service, ended) -> sum(sums, service).add(ended));
        running.keySet().forEach(each -> each.thread.traffic.addTo(sum(sums, each.thread.definition())));
        return sums;
    }

    private static Traffic.Sum sum(Map<ServiceDefinition, Traffic.Sum> sums, ServiceDefinition service) {
        return sums.computeIfAbsent(service, definition -> new Traffic.Sum());
    }

    /** Gives up an instance that does not return from its service's code; false when it has returned. */
    @Override
    public boolean abandon(Instance instance, DropReason reason) {
        boolean abandoned = true;
        try {
            abandoned = instance.abandon(reason);
        } finally {
            if (abandoned) { // Or as far as that went: it is not looked at again.
                synchronized (this) {
                    leftBehind.add(instance);
                }
                ended(instance);
            }
        }
        return abandoned;
    }

    /** Returns whether the instance has not ended, as far as is known. */
    @Override
    public synchronized boolean isRunning(Instance instance) {
        return running.containsKey(instance);
    }

    /** Takes an instance out that has ended; its counts stay. */
    void ended(Instance instance) {
        try {
            instance.thread.endCounts(); // Not under the lock of all: levels below are asked.
        } finally {
            if (takeOut(instance)) {
                instance.over();
            }
        }
    }

    private synchronized boolean takeOut(Instance instance) {
        Runnable atEnd = running.remove(instance);
        if (atEnd != null) {
            instance.thread.traffic.addTo(endedTraffic);
            endedByGateway.ended(instance);
            instance.thread.traffic.addTo(
                    endedByService.computeIfAbsent(instance.thread.definition(), definition -> new Traffic.Sum()));
            atEnd.run();
            awaiting.forEach(platform::unpark);
        }
        return atEnd != null;
    }

    /** Cuts the TCP streams that run a service until the deadline; returns how many. */
    int retire(ServiceDefinition definition, Duration deadline) {
        awaitEnd(instance -> instance.thread.definition() == definition, deadline);
        Set<Instance> cut = new HashSet<>();
        for (Instance instance : all()) {
            Instance stream = instance.trunk();
            if (instance.isStream() && instance.thread.definition() == definition && cut.add(stream)) {
                LOG.info("{}: cut: its service is taken away", stream.thread.name());
                stream.thread.cut();
            }
        }
        awaitEnd(instance -> instance.thread.definition() == definition, CUT_PATIENCE);
        all().stream()
                .filter(instance -> instance.thread.definition() == definition)
                .forEach(each -> each.thread.cut());
        return cut.size();
    }

    /** Waits, bounded, until none is left. */
    void awaitEnd(Duration time) {
        awaitEnd(instance -> true, time);
    }

    private void awaitEnd(Predicate<Instance> which, Duration time) {
        Thread self = Thread.currentThread();
        long deadlineNs = platform.nanoTime() + time.toNanos();
        long leftNs;
        while (isAnyRunning(which, self) && (leftNs = deadlineNs - platform.nanoTime()) > 0 && !self.isInterrupted()) {
            platform.park(this, leftNs);
        }
        forget(self);
    }

    /** Tells a thread no more of instances that end. */
    synchronized void forget(Thread thread) {
        awaiting.remove(thread);
    }

    /** Returns which of these services have no instance that runs; this thread is told of the next that ends. */
    synchronized Set<ServiceDefinition> ended(Set<ServiceDefinition> services) {
        awaiting.add(Thread.currentThread());
        Set<ServiceDefinition> ended = new LinkedHashSet<>(services);
        running.keySet().forEach(instance -> ended.remove(instance.thread.definition()));
        return ended;
    }

    /** Returns whether one runs; then this thread is told of the next that ends. */
    private synchronized boolean isAnyRunning(Predicate<Instance> which, Thread asker) {
        awaiting.add(asker);
        return running.keySet().stream().anyMatch(which);
    }

    /** Waits, bounded, until the threads of these instances have ended. */
    void join(Collection<? extends Instance> ending) {
        long deadlineNs = platform.nanoTime() + CUT_PATIENCE.toNanos();
        for (Instance instance : ending) {
            if (!instance.thread.isAbandoned()) {
                platform.join(instance.supervision().thread(), deadlineNs - platform.nanoTime());
            }
        }
        boolean ignored = Thread.interrupted(); // By a service, perhaps: what is to be closed yet would close at once.
    }
}
