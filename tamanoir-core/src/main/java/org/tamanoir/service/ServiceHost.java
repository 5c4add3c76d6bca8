package org.tamanoir.service;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;

/**
 * The execution environment as a service instance sees it. Services use the methods of {@link Service}; this is
 * for whoever runs services: the node, and test kits.
 */
public interface ServiceHost {
    /** The body of the service's thread: returns when the instance has ended. */
    void run(Service service);

    /** See {@link Service#stream}. */
    StreamInfo stream();

    /** See {@link Service#counter(String)}. */
    Counter counter(String name);

    /** See {@link Service#counter(String, Counter.Kind)}. */
    Counter counter(String name, Counter.Kind kind);

    /** Sends a packet of the service's own along the route of {@code destination}; null: of its own. False: it may not leave. */
    boolean emit(Packet packet, @Nullable InetSocketAddress destination);

    /** See {@link Service#allowance}. */
    default Allowance allowance() {
        return Allowance.FREE;
    }

    /** Remembers where the packet in hand goes, or why it ends; the verdict follows. */
    void elsewhere(InetSocketAddress destination);

    /** Counts the service's own reason for the drop that follows. */
    void dropping(String reason);

    /** See {@link Service#offload}. */
    Offload offload(Flow flow, Policy policy) throws LevelException;

    /** See {@link Service#isOffloaded}. */
    boolean isOffloaded();

    /** See {@link Service#hold}. */
    default Suspension hold(Packet packet, Duration atMost) {
        throw new UnsupportedOperationException(getClass().getName() + " holds no packets: a node does");
    }

    /** See {@link Service#allotment}. */
    default Allotment allotment() {
        throw new UnsupportedOperationException(getClass().getName() + " allots nothing: a node does");
    }

    /** Counts drops of a level below for the service's own reason. */
    void droppedBelow(String reason, long packets);

    /** See {@link Service#nanoTime}. */
    long nanoTime();

    /** Runs {@code task} on the service's thread after {@code delay}. */
    void schedule(Duration delay, Runnable task);

    /** See {@link Service#execute}. */
    boolean execute(Runnable task);

    /** See {@link Service#formats}. */
    FormatSource formats();

    /** Returns the control of the service's definition; null if it has none. */
    @Nullable
    ServiceControl control();
}
