package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.Transit;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Route;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.service.Verdict;
import org.tamanoir.trace.PacketTrace;
import org.tamanoir.trace.Stage;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.UdpSocket;

/**
 * Sees one packet through the hands of a service's thread and tells its trace of it. What was gathered before leaves
 * first, and the packet leaves by itself, so that what the thread has counted when it is through is this packet's. The
 * way itself does not know of it but where the service has said what becomes of the packet, and where that is handed to
 * another thread.
 *
 * <p>Thread contract: the service's thread, but for {@link #lost}.
 */
final class TraceWatch implements PacketPath.Watch {
    /** Whose hands these are. */
    interface Hands {
        /** Returns how many packets wait for turns. */
        int waitingForTurns();

        /** Returns how many packets are held for the service. */
        int suspended();

        /** Returns where an answer to the packet in hand goes; null: nowhere. */
        @Nullable
        InetSocketAddress answersTo();

        /** Returns the socket that the packet in hand came to. */
        UdpSocket cameTo();
    }

    private static final DropReason[] REASONS = DropReason.values();

    private final Hands hands;
    private final ServiceThread thread;
    private final PacketPath path;
    private final NextHops nextHops;
    private final Traffic traffic;
    private final NodeContext context;
    private final PacketTrace trace;
    private final int lengthBefore;
    private final int hopsBefore;
    private final int waitedForTurns;
    private final int suspendedBefore;
    private final Map<String, Long> dropsBefore;
    private final long madeBefore;
    private final long beganNs;
    private final long beganProcessorNs;
    private final long[] dropped = new long[REASONS.length];
    private boolean isConcluded;
    private @Nullable Verdict verdict;
    private boolean isHandedOver;

    /** Begins with the packet in hand, which lies here. */
    TraceWatch(
            Hands hands,
            PacketPath path,
            NextHops nextHops,
            PacketTrace trace,
            ByteBuffer bytes,
            int offset,
            int length) {
        this.hands = hands;
        this.thread = path.thread;
        this.path = path;
        this.nextHops = nextHops;
        this.traffic = thread.traffic;
        this.context = thread.context();
        this.trace = trace;
        nextHops.flush();
        Packet packet = new Packet(context.config().typeId(), PacketSpace.HEAP);
        boolean isWhole = packet.parse(bytes, offset, length) == null;
        this.lengthBefore = length;
        this.hopsBefore = isWhole ? packet.hopBudget() : 0;
        if (trace.taken(thread.definition().label()) == Stage.INBOX && isWhole) {
            tellTurn(packet);
        }
        this.waitedForTurns = hands.waitingForTurns();
        this.suspendedBefore = hands.suspended();
        this.dropsBefore = thread.status().dropReasons();
        this.madeBefore = traffic.packetsMade();
        begin();
        path.watch = this;
        this.beganProcessorNs = context.platform().processorNs();
        this.beganNs = context.platform().nanoTime();
    }

    /** Has what is counted, and looked up, from now on be this packet's. */
    private void begin() {
        for (DropReason reason : REASONS) {
            dropped[reason.ordinal()] = traffic.dropped(reason);
        }
        nextHops.forgetLast();
    }

    private void tellTurn(Packet packet) {
        QosSnapshot now = path.scheduling();
        Classifier classifier = now == null ? null : now.classifier();
        if (now == null || classifier == null || now.turns() == null) {
            trace.step(Stage.TURN, "none needed", "turns on processors are not scheduled");
        } else if (path.isGated()) {
            trace.step(Stage.TURN, "class " + className(now, classifier, packet), classifier.why(packet));
        } else {
            String why =
                    thread.definition() == Transit.DEFINITION ? "no service processes it" : "its workers share jobs";
            trace.step(Stage.TURN, "none needed", why);
        }
    }

    private static String className(QosSnapshot now, Classifier classifier, Packet packet) {
        return now.config().classes().get(classifier.classOf(packet)).name();
    }

    @Override
    public void concluded(@Nullable Verdict said, @Nullable ParseFault fault, Packet packet) {
        if (thread.definition() != Transit.DEFINITION) {
            tellVerdict(said, fault, packet);
            isConcluded = true;
        }
        verdict = said;
        nextHops.flush(); // What it has emitted, and what links have given back: their drops are not this packet's.
        begin();
    }

    private void tellVerdict(@Nullable Verdict said, @Nullable ParseFault fault, Packet packet) {
        long ns = context.platform().nanoTime() - beganNs;
        long processorNs = context.platform().processorNs() - beganProcessorNs;
        StringBuilder how = new StringBuilder(
                "after " + PacketTrace.millis(ns) + ", " + PacketTrace.millis(processorNs) + " of a processor");
        if (said == null) {
            how.append("; the log says why; failure policy ")
                    .append(thread.definition().failurePolicy());
        } else if (fault != null) {
            how.append("; what it left is no packet: ").append(fault);
        } else if (packet.length() != lengthBefore) {
            how.append("; ").append(lengthBefore).append(" bytes became ").append(packet.length());
        }
        if (said == Verdict.DROP || said == Verdict.CLOSE || said == Verdict.RESET) {
            thread.status().dropReasons().forEach((reason, count) -> {
                if (count > dropsBefore.getOrDefault(reason, 0L)) {
                    how.append("; its reason: ").append(reason);
                }
            });
        }
        long made = traffic.packetsMade() - madeBefore;
        if (made > 0) {
            how.append("; it made ").append(made).append(made == 1 ? " packet" : " packets");
        }
        trace.step(Stage.PROCESS, said == null ? "failed" : said.name(), how.toString());
    }

    @Override
    public void handsOver(@Nullable ServiceDefinition other, long key) {
        String name = other == null ? "the service with key " + ServiceKey.toString(key) : "service " + other.label();
        trace.step(Stage.SERVICE, "handed over", "the packet is for " + name + ", not for this thread's");
        trace.waits(Stage.INBOX, other == null ? "for the code of " + name : "in the inbox of " + name);
        isHandedOver = true;
    }

    @Override
    public void lost(DropReason reason) {
        trace.ended(reason, "its service did not return, and its thread '" + thread.name() + "' was given up");
    }

    /** Ends it: the packet has left, waits, or has ended; what becomes of one that waits is told later. */
    void end() {
        path.watch = null;
        RouteCacheEntry hop = nextHops.routes.lastHop();
        DropReason reason = droppedFor();
        if (reason == null && hop == null && (isHandedOver || waits())) {
            return;
        }
        tellUnprocessed(reason);
        if (hop != null) {
            tellRoute(hop);
            tellHops(hop, reason);
        }
        if (reason != null) {
            trace.ended(reason, "on thread '" + thread.name() + "'");
        } else if (hop != null) {
            leave(hop);
        } else {
            answer();
        }
    }

    /** Says what the packet waits for in this thread's queues; false when it does not. */
    private boolean waits() {
        String label = thread.definition().label();
        if (hands.suspended() > suspendedBefore) {
            trace.waits(Stage.PROCESS, "held by service " + label);
        } else if (hands.waitingForTurns() > waitedForTurns) {
            trace.waits(Stage.TURN, "for a turn on a processor, in a queue of service " + label);
        } else {
            return false;
        }
        return true;
    }

    private @Nullable DropReason droppedFor() {
        for (DropReason reason : REASONS) {
            if (traffic.dropped(reason) > dropped[reason.ordinal()]) {
                return reason;
            }
        }
        return null;
    }

    /** Says why no service has had the packet, where none has. */
    private void tellUnprocessed(@Nullable DropReason reason) {
        if (!isConcluded && reason != DropReason.TURN_QUEUE_FULL) {
            boolean isQuarantined = thread.isQuarantined();
            trace.step(
                    Stage.PROCESS,
                    "not processed",
                    isQuarantined
                            ? "service " + thread.definition().label() + " is in quarantine"
                            : "no service of this node has processed it");
        }
    }

    private void tellRoute(RouteCacheEntry hop) {
        InetAddress destination = Addresses.of(nextHops.routes.lastHigh(), nextHops.routes.lastLow());
        String where = hop.address == null
                ? ""
                : ": to " + PacketTrace.at(hop.address) + ", " + (hop.isActiveNode ? "an active node" : "a host")
                        + ", over " + transport(hop);
        int generation = context.forwarder().generation();
        trace.step(
                Stage.ROUTE,
                hop.refusal == null ? "found" : hop.refusal.name(),
                () -> decides(destination, generation) + where);
    }

    /** Says which route decides; on the thread of who asked, since changes of routes may be waited for. */
    private String decides(InetAddress destination, int generation) {
        Route route = context.forwarder().deciding(Addresses.high(destination), Addresses.low(destination));
        String changed = context.forwarder().generation() == generation ? "" : " (routes have changed since)";
        return (route == null
                        ? "no route holds " + Addresses.host(destination)
                        : route.prefix() + (route.isFed() ? " of the feed" : " of the operator") + " decides about "
                                + Addresses.host(destination))
                + changed;
    }

    private void tellHops(RouteCacheEntry hop, @Nullable DropReason reason) {
        Packet packet = path.packet();
        boolean isPrepared = reason == null || reason == DropReason.HOP_BUDGET;
        if (hop.refusal != null || !packet.isTamanoir() || !isPrepared) {
            return;
        }
        if (reason == DropReason.HOP_BUDGET) {
            trace.step(Stage.HOPS, "spent", "one hop was left, behind which a host alone may follow");
        } else if (!hop.isActiveNode) {
            trace.step(Stage.HOPS, "kept", "the next hop is a host");
        } else {
            int left = packet.hopBudget();
            trace.step(
                    Stage.HOPS,
                    left + " left",
                    hopsBefore == 0 ? "it had no budget: the node's was put in" : "one of " + hopsBefore + " is spent");
        }
    }

    private void leave(RouteCacheEntry hop) {
        Egress departure = hop.departure;
        String way = (hop.address == null ? "" : "to " + PacketTrace.at(hop.address)) + " over " + transport(hop)
                + local(departure);
        if (tellLink(hop) && hop.backlog != null && hop.backlog.follow(reason -> left(reason, way))) {
            nextHops.flush();
        } else if (departure instanceof QueuedEgress queued) {
            trace.waits(Stage.END, "for the connection " + way + " to take it");
            queued.follow(reason -> left(reason, way));
            nextHops.flush();
        } else {
            flushed(way);
        }
    }

    /** Says what class the packet has for its link; returns whether there is one. */
    private boolean tellLink(RouteCacheEntry hop) {
        QosSnapshot now = path.scheduling();
        Classifier classifier = now == null ? null : now.classifier();
        if (hop.link == null || now == null || classifier == null) {
            trace.step(Stage.LINK, "none", "no scheduled link leads there");
            return false;
        }
        String name = hop.link.link().name();
        trace.step(
                Stage.LINK,
                "class " + className(now, classifier, path.packet()),
                "over link " + name + "; " + classifier.why(path.packet()));
        trace.waits(Stage.LINK, "for link " + name);
        return true;
    }

    private void answer() {
        InetSocketAddress to = hands.answersTo();
        UdpSocket socket = hands.cameTo();
        flushed((verdict == Verdict.REPLY ? "back" : "on") + (to == null ? "" : " to " + PacketTrace.at(to))
                + " from UDP " + PacketTrace.at(socket.localAddress()));
    }

    private void flushed(String way) {
        nextHops.flush();
        boolean isRefused = traffic.dropped(DropReason.SEND_ERROR) > dropped[DropReason.SEND_ERROR.ordinal()];
        left(isRefused ? DropReason.SEND_ERROR : null, way);
    }

    private void left(@Nullable DropReason reason, String way) {
        if (reason == null) {
            trace.sent(way);
        } else {
            trace.ended(reason, way);
        }
    }

    private static String transport(RouteCacheEntry hop) {
        return hop.isUdp ? "UDP" : hop.isTls ? "TLS" : "TCP";
    }

    private static String local(@Nullable Egress departure) {
        InetSocketAddress address = departure instanceof UdpEgress udp
                ? udp.localAddress()
                : departure instanceof QueuedEgress queued ? queued.localAddress() : null;
        return address == null ? "" : " from " + PacketTrace.at(address);
    }
}
