package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.UdpSocket;

/**
 * The instances that run services on UDP, and the packets that wait for one: while a service's code is fetched, or
 * its instance is made, packets for its key are copied into a bounded store, and go to the instance before any later
 * packet of that key.
 *
 * <p>Thread contract: any thread. While nothing is held {@link #running} takes no lock.
 */
final class UdpServices {
    /** Packets held at once. */
    private static final int MAX_PACKETS = 4096;
    /** Keys that packets are held for at once. */
    private static final int MAX_KEYS = 64;
    /** Between attempts to start a service that could not be started. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ExecutionEnvironment environment;
    private final InstanceMaker maker;
    private final MissingServices missing;
    private final Map<ServiceDefinition, UdpService> running = new ConcurrentHashMap<>();
    /** When a service could not be started, in ns, so that not every packet tries. */
    private final Map<ServiceDefinition, Long> failures = new WeakHashMap<>();

    private final Map<Long, Wait> waits = new HashMap<>();
    private final Traffic traffic;
    private final Settling settling = new Settling();
    private int packetsHeld;
    private int octetsHeld;
    private boolean closed;
    /** Keys that packets are held for. */
    private volatile int keysHeld;
    /** Packets held for these keys; those that an instance has got and not yet handled are not among them. */
    private volatile int packetsWaiting;

    UdpServices(ExecutionEnvironment environment, InstanceMaker maker, MissingServices missing) {
        this.environment = environment;
        this.maker = maker;
        this.missing = missing;
        this.traffic = new Traffic(environment.tap(), "reception");
    }

    /** A packet that waits: a copy, and where it came from. */
    record Held(byte[] octets, Arrival from) {}

    /** The packets that wait for one key. Guarded by the lock. */
    private static final class Wait {
        final long key;
        final Queue<Held> packets = new ArrayDeque<>();

        Wait(long key) {
            this.key = key;
        }
    }

    /** The counts of packets that ended while they were held; the lock's holder publishes. */
    Traffic traffic() {
        return traffic;
    }

    /** Packets that wait for a service now. */
    int packetsWaiting() {
        return packetsWaiting;
    }

    /** Whether packets are held for any key. */
    boolean isHolding() {
        return keysHeld > 0;
    }

    /** The instance that packets of this key can be offered to at once; null: {@link #deliver} them. */
    @Nullable
    UdpService running(long key) {
        if (keysHeld > 0) {
            return null;
        }
        ServiceDefinition definition = definition(key);
        return definition == null ? null : running.get(definition);
    }

    private @Nullable ServiceDefinition definition(long key) {
        if (key == ServiceKey.NONE) {
            return Transit.DEFINITION;
        }
        ServiceDefinition found = environment.services().find(key);
        return found == null ? null : ExecutionEnvironment.entrance(found);
    }

    /**
     * Gives a packet to the instance that runs the service of {@code key}, or holds it until there is one.
     *
     * @return null when it was taken, else why not
     */
    @Nullable
    DropReason deliver(long key, Packet packet, Arrival from) {
        UdpSocket arrival = from.socket();
        ServiceDefinition definition;
        Wait wait;
        synchronized (this) {
            wait = waits.get(key);
            if (wait != null) {
                return hold(wait, packet, from);
            }
            definition = definition(key);
            if (definition != null) {
                UdpService service = instance(definition, arrival);
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
                            ? missing.refusal(key)
                            : failedLately(definition) ? DropReason.NO_INSTANCE : null;
            if (reason == null) {
                wait = new Wait(key);
                reason = waits.size() < MAX_KEYS ? hold(wait, packet, from) : DropReason.DEPLOYMENT_HOLD_FULL;
            }
            if (reason != null || wait == null) {
                return reason;
            }
            waits.put(key, wait);
            keysHeld = waits.size();
        }
        Wait waiting = wait;
        if (definition != null) {
            make(waiting, definition, arrival);
        } else {
            Origin origin = new Origin(Forwarder.toAddress(from.high(), from.low()), packet.previousNode());
            missing.request(key, origin, answer -> answered(waiting, answer, arrival));
        }
        return null;
    }

    private @Nullable DropReason hold(Wait wait, Packet packet, Arrival from) {
        int octets = packet.length();
        if (packetsHeld == MAX_PACKETS
                || octetsHeld + octets > environment.config().holdOctets()) {
            // With its code there it is the instance alone that they wait for.
            return definition(wait.key) == null ? DropReason.DEPLOYMENT_HOLD_FULL : DropReason.INBOX_FULL;
        }
        byte[] copy = new byte[octets];
        packet.buffer().get(packet.offset(), copy);
        wait.packets.add(new Held(copy, from.copy()));
        packetsHeld++;
        packetsWaiting = packetsWaiting + 1;
        octetsHeld += octets;
        return null;
    }

    private boolean failedLately(ServiceDefinition definition) {
        Long failedNs = failures.get(definition);
        return failedNs != null && System.nanoTime() - failedNs < RETRY.toNanos();
    }

    /** The instance of a service; that of packets for no service is made at once. */
    private @Nullable UdpService instance(ServiceDefinition definition, UdpSocket arrival) {
        UdpService known = running.get(definition);
        boolean startNow = known == null && definition == Transit.DEFINITION && !closed && !failedLately(definition);
        return startNow ? start(definition, new Transit(), arrival) : known;
    }

    private void answered(Wait wait, ServiceSource.Answer answer, UdpSocket arrival) {
        ServiceDefinition definition = answer.service();
        if (definition != null) {
            make(wait, definition, arrival);
        } else {
            refused(wait, answer.refusal() == null ? DropReason.UNKNOWN_SERVICE : answer.refusal());
        }
    }

    private void make(Wait wait, ServiceDefinition definition, UdpSocket arrival) {
        synchronized (this) {
            UdpService known = running.get(definition);
            if (known != null && handOn(wait, known)) { // Another key means the same service.
                return;
            }
        }
        maker.make(definition, (service, failure) -> made(wait, definition, arrival, service, failure));
    }

    private void made(
            Wait wait,
            ServiceDefinition definition,
            UdpSocket arrival,
            @Nullable Service service,
            @Nullable Throwable failure) {
        if (failure != null) {
            environment.incidents().failed(definition, "its constructor", failure, "packet dropped");
        }
        ServiceDefinition current;
        synchronized (this) {
            current = definition(wait.key);
            if (current == null) {
                refused(wait, DropReason.UNKNOWN_SERVICE);
            } else if (current == definition) {
                begin(wait, definition, arrival, service);
            }
        }
        if (current != null && current != definition) {
            make(wait, current, arrival); // Replaced meanwhile.
        }
    }

    private void begin(Wait wait, ServiceDefinition definition, UdpSocket arrival, @Nullable Service service) {
        definition.placement().disturb();
        UdpService instance = running.get(definition);
        if (instance == null && service != null && !closed) {
            instance = start(definition, service, arrival);
        }
        if (instance == null) {
            failures.put(definition, System.nanoTime());
        }
        if (instance == null || !handOn(wait, instance)) {
            drop(wait, closed ? DropReason.SHUTDOWN : DropReason.NO_INSTANCE);
        }
    }

    private synchronized @Nullable UdpService start(ServiceDefinition definition, Service service, UdpSocket arrival) {
        StreamInfo info = new StreamInfo(StreamInfo.Transport.UDP, null, arrival.localAddress());
        try {
            UdpService instance = new UdpService(environment, definition, service, info, arrival);
            if (environment.running().begin(instance)) {
                running.put(definition, instance);
                failures.remove(definition);
                return instance;
            }
        } catch (RuntimeException | Error e) {
            environment.failures().failed(definition.name(), "its start", e, "packet dropped");
        }
        failures.put(definition, System.nanoTime());
        return null;
    }

    /**
     * Sees to it that a service is handled where its placement says: has its instance look, or makes that without
     * waiting for a packet.
     */
    void place(ServiceDefinition definition, UdpSocket arrival) {
        UdpService known = running.get(definition);
        if (known != null) {
            known.placeAgain();
        } else if (definition.placement().wantsJvm()) {
            definition.placement().failed(definition.label(), ""); // There is nothing to take back.
        } else {
            maker.make(definition, (service, failure) -> place(definition, arrival, service, failure));
        }
    }

    private synchronized void place(
            ServiceDefinition definition, UdpSocket arrival, @Nullable Service service, @Nullable Throwable failure) {
        UdpService known = running.get(definition);
        if (known != null) {
            known.placeAgain(); // A packet has come meanwhile.
        } else if (failure != null) {
            environment.incidents().failed(definition, "its constructor", failure, "not placed");
            definition.placement().failed(definition.label(), "its constructor failed: " + failure);
        } else if (service != null && !closed && environment.services().has(definition)) {
            if (start(definition, service, arrival) == null) {
                definition.placement().failed(definition.label(), "its instance could not be started");
            }
        } else {
            definition.placement().failed(definition.label(), "the service is being taken away");
        }
    }

    /** Later packets of this key go to the instance behind those that were held. */
    private synchronized boolean handOn(Wait wait, UdpService instance) {
        if (waits.get(wait.key) != wait) {
            return true; // All was dropped when the node began to stop.
        }
        if (!instance.takeHeld(List.copyOf(wait.packets))) {
            return false;
        }
        end(wait);
        return true;
    }

    private void end(Wait wait) {
        waits.remove(wait.key, wait);
        packetsWaiting = packetsWaiting - wait.packets.size();
        keysHeld = waits.size();
    }

    private synchronized void refused(Wait wait, DropReason reason) {
        if (environment.config().unknownService() == FailurePolicy.PASS && !wait.packets.isEmpty()) {
            UdpService transit =
                    instance(Transit.DEFINITION, wait.packets.element().from().socket());
            if (transit != null && handOn(wait, transit)) {
                return;
            }
        }
        drop(wait, reason);
    }

    private void drop(Wait wait, DropReason reason) {
        if (waits.get(wait.key) != wait) {
            return;
        }
        end(wait);
        for (Held held : wait.packets) {
            packetsHeld--;
            octetsHeld -= held.octets.length;
            traffic.taken();
            traffic.drop(reason, held.from.peer(), wait.key, held.octets.length);
            settling.add(held.from.slot());
        }
        settling.settle(environment.levels());
        traffic.publish();
    }

    /** An instance has handled or dropped a packet that was held. */
    synchronized void handled(Held held) {
        packetsHeld--;
        octetsHeld -= held.octets.length;
    }

    /** An instance has ended. */
    void ended(UdpService instance) {
        running.remove(instance.definition(), instance);
    }

    /** Ends the instance of a service when it has handled what has reached it; no packet goes to it any more. */
    synchronized void retire(ServiceDefinition definition) {
        UdpService instance = running.remove(definition);
        if (instance != null) {
            instance.retire();
        }
    }

    /** Drops what is held and makes no more instances. */
    synchronized void close() {
        closed = true;
        for (Wait wait : List.copyOf(waits.values())) {
            drop(wait, DropReason.SHUTDOWN);
        }
    }
}
