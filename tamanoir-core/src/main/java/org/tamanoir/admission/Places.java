package org.tamanoir.admission;

import java.net.InetAddress;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.routing.PeerNetwork;
import org.tamanoir.transport.BufferPool;

/**
 * The room for TCP streams. Each connection takes a place from its acceptance to its end, whether it has sent a header
 * yet or not, and each branch of one takes another. There are as many as {@code max-streams} says, but not more than
 * the JVM has memory for; of these one peer address may take a part.
 *
 * <p>Thread contract: any thread.
 */
public final class Places {
    /**
     * What a stream costs of the heap, in bytes, rounded up: measured 43 KiB for an idle one, most of it Netty's loop.
     * Half of the heap is for streams, the rest for their services and for all else.
     */
    static final long HEAP_BYTES = 64 << 10;

    private final int configured;
    private final int limit;
    private final StreamLimits limits;
    private final int perPeer;
    /** Places taken, by peer address; only of those that have one. */
    private final Map<InetAddress, Integer> byPeer = new HashMap<>();

    private final Map<StreamRefusal, Long> refusals = new EnumMap<>(StreamRefusal.class);
    private final Map<DropReason, Long> aborted = new EnumMap<>(DropReason.class);
    private int taken;
    private int branches;
    private long acceptedConnections;
    private long refusedConnections;
    private boolean closed;

    /**
     * @param configured as {@code max-streams} says
     * @param inMemory as many as there is memory for
     */
    public Places(int configured, int inMemory, StreamLimits limits) {
        this.configured = configured;
        this.limit = Math.max(1, Math.min(configured, inMemory));
        this.limits = limits;
        this.perPeer = limits.perPeer() == StreamLimits.AUTOMATIC ? Math.max(1, limit / 2) : limits.perPeer();
    }

    /** Returns for how many streams there is memory. */
    public static int inMemory(BufferPool pool, long heapBytes) {
        return (int) Math.min(pool.streamsFor(), heapBytes / 2 / HEAP_BYTES);
    }

    /** How many there are. */
    public int limit() {
        return limit;
    }

    /** Admits nobody any more. */
    public synchronized void close() {
        closed = true;
    }

    /** Takes a place for a connection; or says why it gets none. */
    public synchronized @Nullable StreamRefusal take(InetAddress peer) {
        StreamRefusal refusal = closed ? StreamRefusal.STOPPING : tryTake(peer);
        if (refusal == null) {
            acceptedConnections++;
            return null;
        }
        refusedConnections++;
        return count(refusal);
    }

    /**
     * Takes a place for a branch; or says why it gets none.
     *
     * @param before branches that its connection has already
     */
    public synchronized @Nullable StreamRefusal takeBranch(InetAddress peer, int before) {
        StreamRefusal refusal = before >= limits.branches() ? StreamRefusal.BRANCHES : tryTake(peer);
        if (refusal == null) {
            branches++;
            return null;
        }
        return count(refusal);
    }

    private @Nullable StreamRefusal tryTake(InetAddress peer) {
        if (taken >= limit) {
            return limit < configured ? StreamRefusal.MEMORY : StreamRefusal.MAX_STREAMS;
        }
        if (isCounted(peer) && byPeer.getOrDefault(PeerNetwork.of(peer), 0) >= perPeer) {
            return StreamRefusal.PEER;
        }
        if (isCounted(peer)) {
            byPeer.merge(PeerNetwork.of(peer), 1, Integer::sum);
        }
        taken++; // Last: without memory for the count above nothing is taken.
        return null;
    }

    /** Gives the place of a connection back. */
    public synchronized void give(InetAddress peer) {
        taken--;
        if (isCounted(peer)) {
            byPeer.computeIfPresent(PeerNetwork.of(peer), (key, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Gives the place of a branch back. */
    public synchronized void giveBranch(InetAddress peer) {
        branches--;
        give(peer);
    }

    private StreamRefusal count(StreamRefusal refusal) {
        refusals.merge(refusal, 1L, Long::sum);
        return refusal;
    }

    /** Demonstrations and measurements open a thousand streams on one host. */
    private boolean isCounted(InetAddress peer) {
        return limits.perPeer() != StreamLimits.AUTOMATIC || !peer.isLoopbackAddress();
    }

    /** A stream was aborted for this reason. */
    public synchronized void aborted(DropReason reason) {
        aborted.merge(reason, 1L, Long::sum);
    }

    /** Connections, now and since the start. */
    public synchronized StreamCounts connections() {
        return new StreamCounts(taken - branches, acceptedConnections, refusedConnections);
    }

    /** Returns how many places are taken, and who got none. */
    public synchronized StreamPlaces status() {
        return new StreamPlaces(limit, taken, branches, new EnumMap<>(refusals), new EnumMap<>(aborted));
    }
}
