package org.tamanoir.gateway.udp;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.admission.FairPlaces;
import org.tamanoir.routing.Addresses;

/**
 * The senders of a gateway for UDP. They have {@link FairPlaces}: a flow is proven when its sender has sent again after he
 * was answered, and keeps its place while it is in use. What was used since the last {@link #sweep} is not quiet.
 *
 * <p>Thread contract: any thread. The lock is not held over system calls but those that close.
 */
final class GatewayFlows {
    /** Flows at once, each with a descriptor. */
    static final int MAX_FLOWS = 1024;
    /** Without a datagram from either side: what RFC 4787 wants of translators at least (REQ-5). */
    static final long IDLE_NS = 120_000_000_000L;
    /** For so long a proven flow keeps its place unused: who forges many has to go on with it. */
    static final long KEPT_NS = 30_000_000_000L;
    /** Flows that give way to others in a round: the system closes a socket no sooner than its loop forgets it. */
    private static final int MAX_EVICTIONS = 256;

    /** Changed under the lock; as many as there are places taken. */
    private final Map<Sender, GatewayFlow> flows = new ConcurrentHashMap<>();

    private final FairPlaces<GatewayFlow> places = new FairPlaces<>(MAX_FLOWS);
    /** In this round. */
    private int evictions;

    private boolean closed;
    /** Flows so far. */
    private long begun;
    /** What has left but answers of the far side, added by each thread when it flushes. */
    final SentCounts sent = new SentCounts();

    private record Sender(long high, long low, int port, long ownHigh, long ownLow) {
        @Override
        public int hashCode() {
            return (int) (Addresses.hash(high, low, port) >>> 32) + Long.hashCode(ownHigh ^ ownLow);
        }
    }

    /**
     * Returns the flow of a sender to one of this host's addresses, which is made where he has none; null where there is no
     * room for it.
     */
    synchronized @Nullable GatewayFlow of(
            long high, long low, int port, long ownHigh, long ownLow, int ownDevice, long nowNs) {
        Sender sender = new Sender(high, low, port, ownHigh, ownLow);
        GatewayFlow known = flows.get(sender);
        if (known != null || closed || !hasRoom(nowNs)) {
            return known;
        }
        GatewayFlow made = new GatewayFlow(high, low, port, ownHigh, ownLow, ownDevice, nowNs);
        flows.put(sender, made);
        begun++;
        places.add(made);
        return made;
    }

    /**
     * Returns the flow of a sender whom a service answers; null where he has none, and there is no room for another: then
     * without the lock, since any number of such are answered while senders are many.
     */
    @Nullable
    GatewayFlow answered(long high, long low, int port, long ownHigh, long ownLow, int ownDevice, long nowNs) {
        GatewayFlow known = flows.get(new Sender(high, low, port, ownHigh, ownLow));
        if (known != null || flows.size() >= MAX_FLOWS) {
            return known;
        }
        synchronized (this) {
            return places.isFull() ? null : of(high, low, port, ownHigh, ownLow, ownDevice, nowNs);
        }
    }

    private boolean hasRoom(long nowNs) {
        while (places.isFull()) {
            GatewayFlow goes = places.givesWay();
            if (goes == null || evictions == MAX_EVICTIONS) {
                return false;
            }
            if (goes.takeUsed()) {
                use(goes, nowNs); // Once for each that was used: the second chance of CLOCK.
            } else {
                evictions++;
                end(goes);
            }
        }
        return true;
    }

    private void use(GatewayFlow flow, long nowNs) {
        flow.usedNs = nowNs;
        places.used(flow);
    }

    /** Has a flow keep its place, whose sender has shown that he is there; the next sweep asks for it again. */
    synchronized void prove(GatewayFlow flow) {
        flow.proven(true);
        places.keep(flow, flow.address());
    }

    /** Ends a flow; its sender gets another when he sends again. */
    synchronized void end(GatewayFlow flow) {
        if (!flow.isClosed()) {
            flows.remove(new Sender(flow.high, flow.low, flow.port, flow.ownHigh, flow.ownLow));
            forget(flow);
        }
    }

    private void forget(GatewayFlow flow) {
        places.remove(flow);
        flow.close();
    }

    /** Begins another round: the system has closed what was closed in the one before. */
    synchronized void beginRound() {
        evictions = 0;
    }

    /** Ends flows that are idle, and takes note of which are used. */
    synchronized void sweep(long nowNs) {
        for (Iterator<GatewayFlow> each = flows.values().iterator(); each.hasNext(); ) {
            GatewayFlow flow = each.next();
            flow.proven(false);
            if (flow.takeUsed()) {
                use(flow, nowNs);
            } else if (nowNs - flow.usedNs >= IDLE_NS) {
                each.remove();
                forget(flow);
            } else if (nowNs - flow.usedNs >= KEPT_NS) {
                places.release(flow);
                flow.forgetAnswers();
            }
        }
    }

    /** Ends all, and makes no more. */
    synchronized void close() {
        closed = true;
        List<GatewayFlow> all = new ArrayList<>(flows.values());
        flows.clear();
        all.forEach(this::forget);
    }

    /** Returns how many there are now. */
    synchronized int count() {
        return flows.size();
    }

    /** Returns how many there were so far. */
    synchronized long begun() {
        return begun;
    }

    synchronized boolean isClosed() {
        return closed;
    }
}
