package org.tamanoir.client;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.tamanoir.anep.DropReason;

/**
 * What an {@link AnepReceiver} has taken in, over all transports. Thread contract: readable from any thread; each
 * number is right, and up to date at the end of each read, but they are not one snapshot.
 */
public final class ReceiverStatistics {
    private static final DropReason[] REASONS = DropReason.values();

    private final AtomicLong packets = new AtomicLong();
    private final AtomicLong octets = new AtomicLong();
    private final AtomicLong trailers = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong refusedConnections = new AtomicLong();
    private final AtomicLong handlerFailures = new AtomicLong();
    private final AtomicLongArray malformed = new AtomicLongArray(REASONS.length);

    ReceiverStatistics() {}

    /** Good packets, handed to a handler. */
    public long packets() {
        return packets.get();
    }

    /** Octets of those, headers included. */
    public long octets() {
        return octets.get();
    }

    /** Good packets of those that came in a longer datagram. */
    public long trailers() {
        return trailers.get();
    }

    /** Packets that broke a receive rule, by the rule's reason; reasons that never applied are left out. */
    public Map<DropReason, Long> malformed() {
        Map<DropReason, Long> byReason = new EnumMap<>(DropReason.class);
        for (DropReason reason : REASONS) {
            long count = malformed.get(reason.ordinal());
            if (count > 0) {
                byReason.put(reason, count);
            }
        }
        return byReason;
    }

    /** TCP connections accepted so far. */
    public long connections() {
        return connections.get();
    }

    /** TCP connections closed at once because there were too many. */
    public long refusedConnections() {
        return refusedConnections.get();
    }

    /** Calls of a handler that ended in an exception. */
    public long handlerFailures() {
        return handlerFailures.get();
    }

    void countBatch(long packetsMore, long octetsMore) {
        if (packetsMore > 0) {
            packets.addAndGet(packetsMore);
            octets.addAndGet(octetsMore);
        }
    }

    void countTrailer() {
        trailers.incrementAndGet();
    }

    void countMalformed(DropReason reason) {
        malformed.incrementAndGet(reason.ordinal());
    }

    void countConnection() {
        connections.incrementAndGet();
    }

    void countRefusedConnection() {
        refusedConnections.incrementAndGet();
    }

    void countHandlerFailure() {
        handlerFailures.incrementAndGet();
    }
}
