package org.tamanoir.client;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ParseFault;

/**
 * What an {@link AnepReceiver} has taken in, over all transports. Thread contract: readable from any thread; each
 * number is right, and up to date at the end of each read, but they are not one snapshot.
 */
public final class ReceiverStatistics {
    private static final ParseFault[] REASONS = ParseFault.values();

    private final AtomicLong packets = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong refusedConnections = new AtomicLong();
    private final AtomicLong handlerFailures = new AtomicLong();
    private final AtomicLongArray malformed = new AtomicLongArray(REASONS.length);

    private final Map<DropReason, AtomicLong> refused = new ConcurrentHashMap<>();

    ReceiverStatistics() {}

    /** Returns the good packets, which were handed to a handler, or {@link #refused}. */
    public long packets() {
        return packets.get();
    }

    /** Returns the bytes of the good packets, headers included. */
    public long bytes() {
        return bytes.get();
    }

    /** Returns the packets that broke a receive rule, by the rule's reason; reasons that never applied are left out. */
    public Map<ParseFault, Long> malformed() {
        Map<ParseFault, Long> byReason = new EnumMap<>(ParseFault.class);
        for (ParseFault reason : REASONS) {
            long count = malformed.get(reason.ordinal());
            if (count > 0) {
                byReason.put(reason, count);
            }
        }
        return byReason;
    }

    /** Returns the good packets that no handler got since they were not authenticated, by reason. */
    public Map<DropReason, Long> refused() {
        Map<DropReason, Long> byReason = new EnumMap<>(DropReason.class);
        refused.forEach((reason, count) -> byReason.put(reason, count.get()));
        return byReason;
    }

    /** Returns the TCP connections that were accepted. */
    public long connections() {
        return connections.get();
    }

    /** Returns the TCP connections that were closed at once because there were too many. */
    public long refusedConnections() {
        return refusedConnections.get();
    }

    /** Returns the calls of a handler that ended in an exception. */
    public long handlerFailures() {
        return handlerFailures.get();
    }

    void countBatch(long packetsMore, long bytesMore) {
        if (packetsMore > 0) {
            packets.addAndGet(packetsMore);
            bytes.addAndGet(bytesMore);
        }
    }

    void countMalformed(ParseFault reason) {
        malformed.incrementAndGet(reason.ordinal());
    }

    void countRefused(DropReason reason) {
        refused.computeIfAbsent(reason, any -> new AtomicLong()).incrementAndGet();
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
