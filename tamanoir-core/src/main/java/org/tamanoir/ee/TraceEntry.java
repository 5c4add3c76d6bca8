package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.nodeos.Level;
import org.tamanoir.offload.UpcallMetadata;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.trace.PacketTrace;
import org.tamanoir.trace.Stage;
import org.tamanoir.trace.TraceResult;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.UdpSocket;

/**
 * Brings packets into the node whose way is taken down. Each is made here, and goes into the inbox of its service as
 * those do that the reception reads from a port, with the number of its trace beside it; from then on it is a packet
 * like any other.
 *
 * <p>Thread contract: any thread.
 */
final class TraceEntry {
    private final NodeContext context;
    private final UdpServices udp;
    /** Counted under the lock. */
    private final Traffic traffic;

    TraceEntry(NodeContext context, UdpServices udp) {
        this.context = context;
        this.udp = udp;
        this.traffic = new Traffic(context.tap(), "trace");
    }

    /** Returns the counts of packets that were made here. */
    Traffic traffic() {
        return traffic;
    }

    /** As {@link ExecutionEnvironment#trace}. */
    TraceResult trace(Packet packet, @Nullable InetSocketAddress source, Duration atMost) throws InterruptedException {
        UdpSocket socket = socket(source);
        UdpSocket own = source == null ? answers(socket) : null;
        try {
            InetSocketAddress from = own == null ? source : own.localAddress();
            PacketTrace trace = context.traces().begin();
            try {
                enter(trace, packet, arrival(trace, socket, from == null ? socket.localAddress() : from));
                return trace.await(packet.length(), atMost);
            } finally {
                context.traces().end(trace);
            }
        } finally {
            if (own != null) {
                own.close();
            }
        }
    }

    private UdpSocket socket(@Nullable InetSocketAddress source) {
        List<UdpSocket> sockets = context.egress().receiving();
        if (sockets.isEmpty()) {
            throw new IllegalStateException("the node receives no UDP packets, and one that is traced comes as one;"
                    + " give the node an address for them (udp)");
        }
        if (source == null) {
            return sockets.get(0);
        }
        for (UdpSocket socket : sockets) {
            if (socket.localAddress().getAddress().getClass()
                    == source.getAddress().getClass()) {
                return socket;
            }
        }
        throw new IllegalArgumentException("source " + Addresses.host(source.getAddress())
                + ": the node receives no UDP packets by this family of" + " addresses, only at "
                + PacketTrace.at(sockets.get(0).localAddress()));
    }

    /** Opens a socket that answers go to, and nothing else; nobody reads them. */
    private UdpSocket answers(UdpSocket socket) {
        InetAddress local = socket.localAddress().getAddress();
        try {
            InetAddress at = local.isAnyLocalAddress()
                    ? InetAddress.getByName(local.getAddress().length == 4 ? "127.0.0.1" : "::1")
                    : local;
            return context.transport().bind(new InetSocketAddress(at, 0));
        } catch (IOException e) {
            throw new IllegalStateException(
                    "no socket for an answer: " + Causes.text(e) + "; name a source that it can go to", e);
        }
    }

    private static Arrival arrival(PacketTrace trace, UdpSocket socket, InetSocketAddress from) {
        return new Arrival(
                socket,
                Addresses.high(from.getAddress()),
                Addresses.low(from.getAddress()),
                from.getPort(),
                UpcallMetadata.traced(trace.number()),
                0,
                0);
    }

    private synchronized void enter(PacketTrace trace, Packet packet, Arrival from) {
        traffic.made();
        trace.step(
                Stage.RECEPTION,
                "taken",
                packet.length() + " bytes, made here as if they had come from " + PacketTrace.at(from.peer())
                        + " to UDP " + PacketTrace.at(from.socket().localAddress()));
        long key = packet.serviceKey();
        PacketGuard guard = context.authentication().guard(null);
        DropReason fault = guard == null ? null : guard.check(packet);
        from.prove(guard == null ? PacketGuard.NO_PROOF : guard.proof());
        if (fault != null) {
            traffic.drop(fault, from.peer(), key, packet.length());
            trace.ended(fault, "where it must be authenticated, before its service is looked up");
            traffic.publish();
            return;
        }
        tellService(trace, key);
        try {
            fault = give(trace, key, packet, from);
        } catch (RuntimeException e) {
            context.threads().survived("a packet that is traced", 1, e);
            fault = DropReason.NO_INSTANCE;
        }
        if (fault == null) {
            traffic.handed();
        } else {
            traffic.drop(fault, from.peer(), key, packet.length());
            trace.ended(fault, "on its way to the service's inbox");
        }
        traffic.publish();
    }

    /** Gives it to its service as {@link SharedPorts} do; null when it was taken. */
    private @Nullable DropReason give(PacketTrace trace, long key, Packet packet, Arrival from) {
        UdpTaker service = udp.running(key);
        DropReason fault = service == null ? null : service.offer(packet, from);
        if (service == null || fault == DropReason.SHUTDOWN) {
            fault = udp.deliver(key, packet, from);
        }
        if (fault != null
                && ServiceFetches.isRefusal(fault)
                && context.config().unknownService() == FailurePolicy.PASS) {
            trace.step(Stage.SERVICE, "passed", fault + ": without the service, unknown-service says pass");
            fault = udp.deliver(ServiceKey.NONE, packet, from);
        }
        return fault;
    }

    private void tellService(PacketTrace trace, long key) {
        ServiceDefinition definition =
                key == ServiceKey.NONE ? null : context.services().find(key);
        String named = "key " + ServiceKey.toString(key);
        if (key == ServiceKey.NONE) {
            trace.step(Stage.SERVICE, "none", "the packet names no service: it goes on along its route");
            trace.waits(Stage.INBOX, "in the inbox of packets without a service");
        } else if (definition == null) {
            trace.step(
                    Stage.SERVICE,
                    "unknown",
                    named
                            + " stands for no service here: its code is asked for where the node may fetch code; without it"
                            + " unknown-service says "
                            + context.config().unknownService().name().toLowerCase(Locale.ROOT));
            trace.waits(Stage.INBOX, "for the code of the service with " + named);
        } else {
            String origin = definition.version().isEmpty() ? "of the class path" : "deployed";
            trace.step(Stage.SERVICE, definition.label(), named + " stands for it, " + origin + instance(definition));
            tellQuarantine(trace, definition);
            tellLevel(trace, definition);
            trace.waits(Stage.INBOX, "in the inbox of service " + definition.label());
        }
    }

    private String instance(ServiceDefinition definition) {
        return udp.isRunning(definition) ? "" : "; it has no instance for UDP yet, one is made";
    }

    private static void tellQuarantine(PacketTrace trace, ServiceDefinition definition) {
        Instant until = definition.health().quarantinedUntil();
        if (until != null) {
            trace.step(
                    Stage.SERVICE,
                    "in quarantine",
                    "until " + until + ": " + definition.health().quarantineReason()
                            + "; its packets follow its failure" + " policy, " + definition.failurePolicy());
        }
    }

    private static void tellLevel(PacketTrace trace, ServiceDefinition definition) {
        Placement.Status status = definition.placement().status();
        String reason = status.reason() == null ? "" : "; " + status.wanted() + " was wanted: " + status.reason();
        trace.step(
                Stage.LEVEL,
                Level.JVM.label(),
                status.actual() == Level.JVM
                        ? "its UDP packets are handled there" + reason
                        : "as this packet was made there; those off the wire are handled at level "
                                + status.actual().label() + " unless that sends them up" + reason);
    }
}
