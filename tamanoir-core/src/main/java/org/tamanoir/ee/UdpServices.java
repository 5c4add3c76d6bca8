package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.catalog.Transit;
import org.tamanoir.offload.UpcallCompletions;
import org.tamanoir.routing.Addresses;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.Incidents;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The instances that run services on UDP, and the packets that wait for one: while a service's code is fetched, or
 * its instance is made, packets for its keys are copied into a bounded store, and go to the instance in order of arrival,
 * before any later packet of these keys.
 *
 * <p>Thread contract: any thread. While nothing is held {@link #running} takes no lock.
 */
final class UdpServices implements UdpIntake {
    private static final Logger LOG = LoggerFactory.getLogger(UdpServices.class);
    private static final String NOT_OFFERED = "it amplifies, so it is not offered on UDP, where sources can be forged; "
            + "add it to limits.udp-amplifiers to offer it";
    /** Packets held at once. */
    private static final int MAX_PACKETS = 4096;
    /** Keys that packets are held for at once. */
    private static final int MAX_KEYS = 64;
    /** Between attempts to start a service that could not be started. */
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** A later version waits no longer for the one before. */
    private static final Duration LEAVING_PATIENCE = Duration.ofSeconds(10);

    private final NodeContext context;
    private final Instances instances;
    private final InstanceFactory maker;
    private final ServiceFetches missing;
    private final Map<ServiceDefinition, UdpTaker> running = new ConcurrentHashMap<>();
    /** By key. Guarded by the lock. */
    private final Map<Long, Leaving> leaving = new HashMap<>();
    /** When a service could not be started, in ns, so that not every packet tries. */
    private final Map<ServiceDefinition, Long> failures = new WeakHashMap<>();

    /** Services that amplify and are not configured to do so over UDP, as an instance of each has shown. */
    private final Set<ServiceDefinition> notOffered = Collections.newSetFromMap(new WeakHashMap<>());

    private final Map<Long, Waiting> waits = new HashMap<>();
    /** What waits for the answer about a key that was asked for; no more than were held when it was. Guarded by the lock. */
    private final Map<Long, List<Runnable>> asked = new HashMap<>();

    private final Traffic traffic;
    private final UpcallCompletions completions = new UpcallCompletions();
    /** Packets that were ever held: the next one's place among those of all keys. */
    private long arrivals;

    private int packetsHeld;
    private int bytesHeld;
    private boolean closed;
    private volatile @Nullable Consumer<UdpPort> shared;
    /** Keys that packets are held for. */
    private volatile int keysHeld;
    /** Packets held for these keys; those that an instance has got and not yet handled are not among them. */
    private volatile int packetsWaiting;

    UdpServices(NodeContext context, Instances instances, InstanceFactory maker, ServiceFetches missing) {
        this.context = context;
        this.instances = instances;
        this.maker = maker;
        this.missing = missing;
        this.traffic = new Traffic(context.tap(), "reception");
    }

    /** The packets that wait for one key. Guarded by the lock. */
    private record Waiting(long key, Queue<Held> packets) {}

    /**
     * What runs a service that was replaced or taken away, and handles what it has in the order of its streams.
     *
     * @param sinceNs when it was replaced
     * @param then what waits for their end: no more than keys are held, and a call for each time the service is placed
     */
    private record Leaving(ServiceDefinition definition, UdpTaker taker, long sinceNs, List<Runnable> then) {}

    /** Returns the counts of packets that ended while they were held; the lock's holder publishes. */
    Traffic traffic() {
        return traffic;
    }

    /** Returns how many packets wait for a service now. */
    int packetsWaiting() {
        return packetsWaiting;
    }

    /** Returns whether packets are held for any key. */
    @Override
    public boolean isHolding() {
        return keysHeld > 0;
    }

    /** Returns the instance that packets of this key can be offered to at once; null: {@link #deliver} them. */
    @Nullable
    UdpTaker running(long key) {
        if (keysHeld > 0) {
            return null;
        }
        ServiceDefinition definition = definition(key);
        return definition == null ? null : running.get(definition);
    }

    /** Returns whether the service has an instance. */
    boolean isRunning(ServiceDefinition definition) {
        return running.containsKey(definition.entrance());
    }

    private @Nullable ServiceDefinition definition(long key) {
        if (key == ServiceKey.NONE) {
            return Transit.DEFINITION;
        }
        ServiceDefinition found = context.services().find(key);
        return found == null ? null : found.entrance();
    }

    /**
     * Gives a packet to the instance that runs the service of {@code key}, or holds it until there is one.
     *
     * @return null when it was taken, else why not
     */
    @Override
    public @Nullable DropReason deliver(long key, Packet packet, Arrival from) {
        UdpSocket arrival = from.socket();
        ServiceDefinition definition;
        Waiting wait;
        synchronized (this) {
            wait = waits.get(key);
            if (wait != null) {
                return hold(wait, packet, from);
            }
            definition = definition(key);
            if (definition != null) {
                UdpTaker service = instance(definition, arrival);
                if (service != null) {
                    DropReason reason = service.offer(packet, from);
                    if (reason != DropReason.SHUTDOWN || closed) {
                        return reason;
                    }
                    running.remove(definition, service); // It ended since.
                }
            }
            DropReason reason = closed
                    ? DropReason.SHUTDOWN
                    : definition == null
                            ? missing.refusal(key, null)
                            : notOffered.contains(definition)
                                    ? DropReason.AMPLIFICATION
                                    : failedLately(definition) ? DropReason.NO_INSTANCE : null;
            if (reason == null) {
                wait = new Waiting(key, new ArrayDeque<>());
                reason = waits.size() < MAX_KEYS ? hold(wait, packet, from) : full(key);
            }
            if (reason != null || wait == null) {
                return reason;
            }
            waits.put(key, wait);
            keysHeld = waits.size();
            if (definition == null) {
                asked.putIfAbsent(key, new ArrayList<>());
            }
        }
        Waiting waiting = wait;
        try {
            if (definition != null) {
                makeInOrder(waiting, definition, arrival);
            } else {
                Origin origin = new Origin(Addresses.of(from.high(), from.low()), packet.previousNode(), false);
                missing.request(key, origin, answer -> answered(waiting, answer, arrival));
            }
        } catch (Throwable e) {
            faulty(waiting, e); // For want of memory, for instance. The key's next packet asks again.
            goOnBehind(key);
        }
        return null;
    }

    private @Nullable DropReason hold(Waiting wait, Packet packet, Arrival from) {
        int bytes = packet.length();
        if (packetsHeld == MAX_PACKETS || bytesHeld + bytes > context.config().holdBytes()) {
            return full(wait.key());
        }
        byte[] copy = new byte[bytes];
        packet.buffer().get(packet.offset(), copy);
        wait.packets().add(new Held(copy, from.copy(), arrivals++));
        packetsHeld++;
        packetsWaiting = packetsWaiting + 1;
        bytesHeld += bytes;
        return null;
    }

    /** Returns why a packet is not held: where the code is there, its service's instance alone is to be waited for. */
    private DropReason full(long key) {
        return definition(key) == null ? DropReason.DEPLOYMENT_HOLD_FULL : DropReason.INBOX_FULL;
    }

    private boolean failedLately(ServiceDefinition definition) {
        Long failedNs = failures.get(definition);
        return failedNs != null && context.platform().nanoTime() - failedNs < RETRY.toNanos();
    }

    /** Returns the instance of a service; that of packets for no service is made at once. */
    private @Nullable UdpTaker instance(ServiceDefinition definition, UdpSocket arrival) {
        UdpTaker known = running.get(definition);
        boolean startNow = known == null && definition == Transit.DEFINITION && !closed && !failedLately(definition);
        return startNow ? start(definition, new Transit(), arrival) : known;
    }

    private void answered(Waiting wait, ServiceSource.Answer answer, UdpSocket arrival) {
        ServiceDefinition definition = answer.service();
        try {
            if (definition != null) {
                makeInOrder(wait, definition, arrival);
            } else {
                refused(wait, null, answer.refusal() == null ? DropReason.UNKNOWN_SERVICE : answer.refusal());
            }
        } catch (RuntimeException e) {
            faulty(wait, e);
        } finally {
            goOnBehind(wait.key());
        }
    }

    private void goOnBehind(long key) {
        List<Runnable> behind;
        synchronized (this) {
            behind = asked.remove(key);
        }
        if (behind != null) {
            behind.forEach(Runnable::run);
        }
    }

    /**
     * Makes an instance for packets that wait. Where packets that name the service without a version wait for its code, too,
     * it is made when that has been answered: they may mean the same service, and have come before others.
     */
    private void makeInOrder(Waiting wait, ServiceDefinition definition, UdpSocket arrival) {
        synchronized (this) {
            List<Runnable> behind = asked.get(definition.key());
            if (behind != null
                    && wait.key() != definition.key()
                    && context.services().find(definition.key()) == null
                    && !running.containsKey(definition)) {
                behind.add(() -> {
                    try {
                        make(wait, definition, arrival);
                    } catch (Throwable e) {
                        faulty(wait, e);
                    }
                });
                return;
            }
        }
        make(wait, definition, arrival);
    }

    private void make(Waiting wait, ServiceDefinition definition, UdpSocket arrival) {
        synchronized (this) {
            UdpTaker known = running.get(definition);
            List<Waiting> together = together(wait, definition);
            if (together.isEmpty() || known != null && handOn(together, known)) { // Another key means the same service.
                return;
            }
            if (comesAfter(definition, () -> make(wait, definition, arrival))) {
                return;
            }
        }
        maker.make(definition, (service, failure) -> made(wait, definition, arrival, service, failure));
    }

    /** Has this done when the version before, if it is still at work, has handled what it has; false when there is none. */
    private synchronized boolean comesAfter(ServiceDefinition definition, Runnable then) {
        for (ServiceDefinition other : running.keySet()) {
            if (other != definition
                    && other.key() == definition.key()
                    && context.services().find(other.key()) != other) {
                retire(other); // Replaced a moment ago: who did that has not come so far yet.
            }
        }
        Leaving before = leaving.get(definition.key());
        if (before != null) {
            before.then().add(then);
        }
        return before != null;
    }

    private void drained(ServiceDefinition definition, UdpTaker taker) {
        Leaving done;
        synchronized (this) {
            done = leaving.get(definition.key());
            if (done == null || done.taker() != taker) {
                return;
            }
            leaving.remove(definition.key());
        }
        for (Runnable then : done.then()) {
            try {
                then.run();
            } catch (Throwable e) {
                context.threads().survived("UDP packets for a later version", 1, e);
            }
        }
    }

    /**
     * Lets later versions begin though those before them have not handled all: their service may not return, or a next hop
     * may not read. To be called regularly.
     */
    void sweep() {
        List<Leaving> late;
        synchronized (this) {
            long nowNs = context.platform().nanoTime();
            late = leaving.values().stream()
                    .filter(each -> nowNs - each.sinceNs() >= LEAVING_PATIENCE.toNanos())
                    .toList();
        }
        for (Leaving each : late) {
            LOG.warn(
                    "service {}: the instance before has not sent all in {} s: the next one begins, and may overtake it",
                    each.definition().label(),
                    LEAVING_PATIENCE.toSeconds());
            drained(each.definition(), each.taker());
        }
    }

    /** A fault of the node: packets must not wait for ever for what nobody tells any more. */
    private synchronized void faulty(Waiting wait, Throwable fault) {
        context.threads().survived("UDP packets for an instance", 1, fault);
        drop(wait, DropReason.NO_INSTANCE);
    }

    private void made(
            Waiting wait,
            ServiceDefinition definition,
            UdpSocket arrival,
            @Nullable Service service,
            @Nullable Throwable failure) {
        try {
            made(wait, definition, arrival, service);
        } catch (RuntimeException e) {
            faulty(wait, e);
        } finally {
            dismissUnlessAttached(service);
            if (failure != null) { // Last: its text is a service's, and may throw; packets must not wait for ever then.
                failedConstructor(definition, failure, "packet dropped");
            }
        }
    }

    private void failedConstructor(ServiceDefinition definition, Throwable failure, String consequence) {
        context.incidents().failed(definition, StreamInfo.Transport.UDP, Incidents.CONSTRUCTOR, failure, consequence);
    }

    private void made(Waiting wait, ServiceDefinition definition, UdpSocket arrival, @Nullable Service service) {
        ServiceDefinition current;
        synchronized (this) {
            current = definition(wait.key());
            if (current == null) {
                refused(wait, null, DropReason.UNKNOWN_SERVICE);
            } else if (current == definition) {
                begin(wait, definition, arrival, service);
            }
        }
        if (current != null && current != definition) {
            make(wait, current, arrival); // Replaced meanwhile.
        }
    }

    private void begin(Waiting wait, ServiceDefinition definition, UdpSocket arrival, @Nullable Service service) {
        definition.placement().disturb();
        if (service != null && !offers(definition, service)) {
            refused(wait, definition, DropReason.AMPLIFICATION);
            return;
        }
        String misfit = service == null
                ? ""
                : definition.dispatch().whyNot(service.getClass().getName(), definition.traits());
        if (!misfit.isEmpty()) {
            LOG.warn("service {}: {}", definition.label(), misfit);
            failures.put(definition, context.platform().nanoTime());
            refused(wait, definition, DropReason.NO_INSTANCE);
            return;
        }
        UdpTaker instance = running.get(definition);
        if (instance == null && service != null && !closed) {
            instance = start(definition, service, arrival);
        }
        if (instance == null) {
            failures.put(definition, context.platform().nanoTime());
        }
        if (instance == null || !handOn(together(wait, definition), instance)) {
            refused(wait, definition, closed ? DropReason.SHUTDOWN : DropReason.NO_INSTANCE);
        }
    }

    /** Returns whether the service may run on UDP; of one that may not no further instance is made. */
    private boolean offers(ServiceDefinition definition, Service instance) {
        if (context.config().udpBounds().offers(definition, instance)) {
            return true;
        }
        if (notOffered.add(definition)) {
            LOG.warn("service {}: {}", definition.label(), NOT_OFFERED);
        }
        return false;
    }

    private synchronized @Nullable UdpTaker start(ServiceDefinition definition, Service service, UdpSocket arrival) {
        StreamInfo info = new StreamInfo(StreamInfo.Transport.UDP, null, arrival.localAddress());
        try {
            UdpTaker taker = definition.dispatch().perPacket()
                    ? startWorkers(definition, service, info, arrival)
                    : startThread(definition, service, info, arrival);
            if (taker != null) {
                running.put(definition, taker);
                failures.remove(definition);
                return taker;
            }
        } catch (RuntimeException | Error e) {
            context.failures().failed(definition.name(), "its start", e, "packet dropped");
        }
        failures.put(definition, context.platform().nanoTime());
        return null;
    }

    private @Nullable UdpTaker startThread(
            ServiceDefinition definition, Service service, StreamInfo info, UdpSocket arrival) {
        UdpService instance = UdpService.alone(context, this, definition, service, info, arrival);
        instance.onDrained(() -> drained(definition, instance));
        instance.onRenewal(() -> renew(definition, instance, arrival));
        return instances.begin(instance.handle, () -> running.remove(definition, instance)) ? instance : null;
    }

    /** Has another instance tried now, where the last one of a service did not begin. */
    void renew(ServiceDefinition definition, UdpSocket arrival) {
        UdpTaker known = running.get(definition);
        if (known != null) {
            known.renew();
        } else if (definition.health().isFaulty(StreamInfo.Transport.UDP)) {
            tryAgain(definition, arrival);
        }
    }

    /** Has another instance take the place of one that did not begin; packets that come meanwhile are held for it. */
    private void renew(ServiceDefinition definition, UdpTaker faulty, UdpSocket arrival) {
        synchronized (this) {
            if (closed || running.get(definition) != faulty) {
                return;
            }
            retire(definition);
        }
        tryAgain(definition, arrival);
    }

    private void tryAgain(ServiceDefinition definition, UdpSocket arrival) {
        Waiting wait = new Waiting(definition.key(), new ArrayDeque<>());
        synchronized (this) {
            if (closed || definition(wait.key()) != definition || waits.putIfAbsent(wait.key(), wait) != null) {
                return; // Its packets see to that, or to what has replaced it.
            }
            keysHeld = waits.size();
        }
        try {
            make(wait, definition, arrival);
        } catch (Throwable e) {
            faulty(wait, e);
        }
    }

    /** Starts the first of several workers; the others come when their instances have been made. */
    private @Nullable UdpTaker startWorkers(
            ServiceDefinition definition, Service service, StreamInfo info, UdpSocket arrival) {
        PacketWorkers workers = new PacketWorkers(
                context, instances, maker, this, definition, info, arrival, new WorkersOwner(definition));
        boolean begun = false;
        try {
            begun = workers.add(service);
        } finally {
            if (!begun) {
                workers.forsake(DropReason.NO_INSTANCE);
            }
        }
        workers.hire();
        return begun ? workers : null;
    }

    /** Sees what becomes of the workers of one service. */
    private final class WorkersOwner implements PacketWorkers.Owner {
        private final ServiceDefinition definition;

        WorkersOwner(ServiceDefinition definition) {
            this.definition = definition;
        }

        @Override
        public void drained(PacketWorkers workers) {
            UdpServices.this.drained(definition, workers);
        }

        @Override
        public void ended(PacketWorkers workers) {
            running.remove(definition, workers);
        }

        @Override
        public void drop(DropReason reason, Arrival from, int bytes) {
            synchronized (UdpServices.this) {
                UdpServices.this.drop(reason, from, definition.key(), bytes);
                completions.report(context.levels().os());
                traffic.publish();
            }
        }
    }

    /**
     * Sees to it that a service is handled where its placement says: has its instance look, or makes that without
     * waiting for a packet.
     */
    void place(ServiceDefinition definition, UdpSocket arrival) {
        String misfit = definition.dispatch().whyNot(definition.placement().wanted());
        UdpTaker known = running.get(definition);
        if (definition.dispatch().perPacket()) {
            definition.placement().failed(definition.label(), misfit);
        } else if (known != null) {
            known.placeAgain();
        } else if (definition.placement().wantsJvm()
                && !(definition.placement().isWished() && context.levels().os().passesUnknown())) {
            definition.placement().failed(definition.label(), ""); // There is nothing to take back.
        } else if (!comesAfter(definition, () -> place(definition, arrival))) {
            maker.make(definition, (service, failure) -> {
                try {
                    place(definition, arrival, service, failure);
                } finally {
                    dismissUnlessAttached(service);
                }
            });
        }
    }

    private static void dismissUnlessAttached(@Nullable Service service) {
        if (service != null) {
            service.dismiss();
        }
    }

    private synchronized void place(
            ServiceDefinition definition, UdpSocket arrival, @Nullable Service service, @Nullable Throwable failure) {
        UdpTaker known = running.get(definition);
        if (known != null) {
            known.placeAgain(); // A packet has come meanwhile.
        } else if (failure != null) {
            failedConstructor(definition, failure, "not placed");
            definition.placement().failed(definition.label(), "its constructor failed: " + failure);
        } else if (service != null && !offers(definition, service)) {
            definition.placement().failed(definition.label(), NOT_OFFERED);
        } else if (service != null && !closed && context.services().has(definition)) {
            if (start(definition, service, arrival) == null) {
                definition.placement().failed(definition.label(), "its instance could not be started");
            }
        } else {
            definition.placement().failed(definition.label(), "the service is being taken away");
        }
    }

    /**
     * Returns this wait and those of other keys that mean the same service, if it is known; none when it has ended. Under
     * the lock.
     */
    private List<Waiting> together(Waiting wait, @Nullable ServiceDefinition service) {
        if (waits.get(wait.key()) != wait) {
            return List.of(); // Another key's instance took all, or the node began to stop.
        }
        return waits.values().stream()
                .filter(each -> each == wait || service != null && definition(each.key()) == service)
                .toList();
    }

    /** Has later packets of these keys go to the instance behind those that were held. Under the lock. */
    private boolean handOn(List<Waiting> together, UdpTaker instance) {
        List<Held> inOrder = together.stream()
                .flatMap(each -> each.packets().stream())
                .sorted(Comparator.comparingLong(Held::number))
                .toList();
        if (!inOrder.isEmpty() && !instance.takeHeld(inOrder)) {
            return false;
        }
        together.forEach(this::end);
        return true;
    }

    private void end(Waiting wait) {
        waits.remove(wait.key(), wait);
        packetsWaiting = packetsWaiting - wait.packets().size();
        keysHeld = waits.size();
    }

    /**
     * Returns whether a packet that no service takes goes on as it came: as the configuration says of those for unknown
     * services, and of a plain datagram its rule, whyever that is but for want of room.
     */
    boolean goesOn(DropReason reason, Arrival from) {
        if (from.isPlain()) {
            return from.passesOnFailure() && reason != DropReason.INBOX_FULL && reason != DropReason.SHUTDOWN;
        }
        return ServiceFetches.isRefusal(reason) && context.config().unknownService() == FailurePolicy.PASS;
    }

    private synchronized void refused(Waiting wait, @Nullable ServiceDefinition service, DropReason reason) {
        List<Waiting> together = together(wait, service);
        together.forEach(each -> dropUnlessGoingOn(each, reason));
        for (Waiting each : together) {
            if (!each.packets().isEmpty()) {
                UdpTaker transit = instance(
                        Transit.DEFINITION, each.packets().element().from().socket());
                if (transit != null && handOn(together, transit)) {
                    return;
                }
            }
        }
        together.forEach(each -> drop(each, reason));
    }

    private void dropUnlessGoingOn(Waiting wait, DropReason reason) {
        for (Iterator<Held> each = wait.packets().iterator(); each.hasNext(); ) {
            Held held = each.next();
            if (!goesOn(reason, held.from())) {
                each.remove();
                packetsWaiting = packetsWaiting - 1;
                drop(held, reason, wait.key());
            }
        }
    }

    private void drop(Held held, DropReason reason, long key) {
        packetsHeld--;
        bytesHeld -= held.bytes().length;
        drop(reason, held.from(), key, held.bytes().length);
    }

    private void drop(Waiting wait, DropReason reason) {
        if (waits.get(wait.key()) != wait) {
            return;
        }
        end(wait);
        wait.packets().forEach(held -> drop(held, reason, wait.key()));
        completions.report(context.levels().os());
        traffic.publish();
    }

    private void drop(DropReason reason, Arrival from, long key, int bytes) {
        context.traces().ended(from.trace(), reason, "while it waited for its service or its thread");
        traffic.taken();
        traffic.drop(reason, from.peer(), key, bytes);
        completions.add(from.slot());
    }

    /** Takes note that an instance has handled or dropped a packet that was held. */
    @Override
    public synchronized void handled(Held held) {
        packetsHeld--;
        bytesHeld -= held.bytes().length;
    }

    /**
     * Has ports that several services use read by this.
     *
     * @param reader null = nobody reads them any more: the node stops
     */
    void sharedPorts(@Nullable Consumer<UdpPort> reader) {
        shared = reader;
    }

    @Override
    public void readShared(UdpPort port) {
        Consumer<UdpPort> reader = shared;
        if (reader != null) {
            reader.accept(port);
        }
    }

    @Override
    public boolean isStopping() {
        return shared == null;
    }

    /** Ends the instance of a service when it has handled what has reached it; no packet goes to it any more. */
    synchronized void retire(ServiceDefinition definition) {
        UdpTaker instance = running.remove(definition);
        if (instance != null && instance.keepsOrder()) {
            leaving.put(
                    definition.key(),
                    new Leaving(definition, instance, context.platform().nanoTime(), new ArrayList<>()));
        }
        if (instance != null) {
            instance.retire();
        }
    }

    /** Drops what is held and makes no more instances. */
    synchronized void close() {
        closed = true;
        for (UdpTaker taker : running.values()) {
            taker.stop();
        }
        for (Waiting wait : List.copyOf(waits.values())) {
            drop(wait, DropReason.SHUTDOWN);
        }
    }
}
