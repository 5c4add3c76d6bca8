package org.tamanoir.service;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * A program that a node runs on packets in transit. Users extend this class and write {@link #process}; one class
 * serves TCP and UDP.
 *
 * <p>A service <em>is</em> a thread, as in the Tamanoir paper (2003): each TCP stream has an instance and thread of
 * its own, and all UDP traffic of a service shares one. Every method below that the node calls is called on that
 * thread, so an instance needs no locks; what instances share (static fields) does.
 *
 * <pre>{@code
 * public final class Shout extends Service {
 *     public Verdict process(Packet packet) {
 *         ByteBuffer payload = packet.payload();
 *         for (int i = payload.position(); i < payload.limit(); i++) {
 *             payload.put(i, (byte) Character.toUpperCase(payload.get(i)));
 *         }
 *         return Verdict.FORWARD;
 *     }
 * }
 * }</pre>
 *
 * <p>An exception from any of these methods is counted and logged once per kind and follows the service's
 * {@link FailurePolicy}; it does not reach other streams.
 */
public abstract class Service extends Thread {
    private @Nullable ServiceHost host;

    /** For the node; instances are made with no arguments. */
    protected Service() {}

    // ---- what a service does --------------------------------------------------------------------------------

    /**
     * Before the first packet.
     *
     * @throws Exception if the settings do not fit; the stream then follows the failure policy
     */
    public void init(ServiceConfig config) throws Exception {}

    /**
     * Handles one packet: reads it, marks it in place, replaces its payload, and says what becomes of it.
     *
     * @param packet valid until this method returns; {@link Packet#copy} keeps it
     */
    public abstract Verdict process(Packet packet) throws Exception;

    /** TCP: the sender has ended the stream, and packets can still be {@linkplain #emit sent}. UDP: at shutdown. */
    public void endOfStream() throws Exception {}

    /** Last call: free what {@link #init} took. Packets can no longer be sent. */
    public void close() throws Exception {}

    // ---- what becomes of a packet ---------------------------------------------------------------------------

    /** Sends the packet along the route of {@code destination} in place of its own; routes still decide. */
    protected final Verdict forwardTo(InetAddress destination, int port) {
        host().elsewhere(new InetSocketAddress(destination, port));
        return Verdict.FORWARD_ELSEWHERE;
    }

    /**
     * Drops the packet.
     *
     * @param reason a few words that stay the same for the same cause: drops are counted by them
     */
    protected final Verdict drop(String reason) {
        host().dropping(reason);
        return Verdict.DROP;
    }

    /**
     * Sends a packet of the service's own along its route, behind what was sent before. May wait for the next hop
     * to take it. The packet is the caller's again when this returns.
     */
    protected final void emit(Packet packet) {
        host().emit(packet);
    }

    // ---- levels below the Java virtual machine ----------------------------------------------------------------

    /**
     * What a level below can do in place of {@link #process}, octet for octet; asked after {@link #init}. The node places
     * services by it that an operator wants on another level.
     *
     * @return null, the default, if nothing can
     * @throws LevelException if nothing can, with the reason for the operator: what of the settings, and what would help
     */
    public @Nullable Policy policy() throws LevelException {
        return null;
    }

    /**
     * What levels below have done with UDP packets under this instance's policies since the last call, for the service's
     * own counters: called between packets, at least twice a second while it grows, and once before {@link #close}.
     * Policies for TCP, which count connections, are asked for theirs by {@link Offload#counters}.
     *
     * @param since counts of now less those of the last call; smallest and largest are of now
     */
    public void counted(LevelCounters since) {}

    /**
     * Has a level below handle packets of this service from now on, as far as the policy says; what goes up still
     * comes here. At most 64 at once; they end with the instance.
     *
     * @throws LevelException why no level can; the packets come here as before
     */
    protected final Offload offload(Flow flow, Policy policy) throws LevelException {
        return host().offload(flow, policy);
    }

    /**
     * Whether a level below may handle packets of this service now, so that this instance sees only part of them. From
     * the first packet after that ended it sees all again.
     */
    protected final boolean isOffloaded() {
        return host().isOffloaded();
    }

    /** Counts packets that a level below has dropped for this reason; see {@link #drop}. */
    protected final void droppedBelow(String reason, long packets) {
        host().droppedBelow(reason, packets);
    }

    // ---- time, counters, context ----------------------------------------------------------------------------

    /** Runs {@code task} on this service's thread, once, after {@code delay}. */
    protected final void after(Duration delay, Runnable task) {
        host().schedule(delay, task);
    }

    /** Runs {@code task} on this service's thread every {@code period}, until the instance ends. */
    protected final void every(Duration period, Runnable task) {
        if (period.isZero() || period.isNegative()) {
            throw new IllegalArgumentException("period " + period + ": must be positive");
        }
        host().schedule(period, () -> {
            try {
                task.run();
            } finally {
                every(period, task);
            }
        });
    }

    /** A count under this name that operators see; the same counter each time. At most 64 a service. */
    protected final Counter counter(String name) {
        return host().counter(name);
    }

    /** What this instance serves. */
    protected final StreamInfo stream() {
        return host().stream();
    }

    // ---- for the node ---------------------------------------------------------------------------------------

    /**
     * Gives the instance to the environment that runs it, once, before {@link #start}.
     *
     * @throws IllegalStateException if it has one
     */
    public final void attach(ServiceHost host) {
        if (this.host != null) {
            throw new IllegalStateException(getName() + " is attached already: make an instance for each stream");
        }
        this.host = host;
    }

    /** The thread's body; the node starts it. */
    @Override
    public final void run() {
        host().run(this);
    }

    private ServiceHost host() {
        ServiceHost attached = host;
        if (attached == null) {
            throw new IllegalStateException("a service runs in a node: it is not attached to one");
        }
        return attached;
    }
}
