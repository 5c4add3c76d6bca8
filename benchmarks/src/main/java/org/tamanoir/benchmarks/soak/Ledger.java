package org.tamanoir.benchmarks.soak;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Keeps what senders and far ends counted of each whole stream, by the sender's address. Any thread. */
final class Ledger {
    /** Beyond these streams are counted, but not compared with the node's log. */
    private static final int MAX_STREAMS = 500_000;

    /**
     * Counts of one address.
     *
     * @param packetsIn sent to the node, replies of far ends included
     * @param packetsOut arrived from it at far ends and at the sender
     */
    record Entry(long packetsIn, long bytesIn, long packetsOut, long bytesOut) {
        Entry plus(Entry other) {
            return new Entry(
                    packetsIn + other.packetsIn,
                    bytesIn + other.bytesIn,
                    packetsOut + other.packetsOut,
                    bytesOut + other.bytesOut);
        }
    }

    private final Map<String, Entry> byAddress = new ConcurrentHashMap<>();
    private final LongAdder streams = new LongAdder();
    private final LongAdder cut = new LongAdder();
    private final LongAdder refused = new LongAdder();

    /** A whole stream has ended and all of it has arrived. */
    void ended(String address, Entry counts) {
        streams.increment();
        // A connection that sent nothing never becomes a stream.
        if (counts.packetsIn() > 0 && byAddress.size() < MAX_STREAMS) {
            byAddress.merge(address, counts, Entry::plus);
        }
    }

    void cut() {
        cut.increment();
    }

    void refused() {
        refused.increment();
    }

    long streams() {
        return streams.sum();
    }

    long streamsCut() {
        return cut.sum();
    }

    long streamsRefused() {
        return refused.sum();
    }

    int compared() {
        return byAddress.size();
    }

    @Nullable
    Entry find(String address) {
        return byAddress.get(address);
    }

    Iterable<Map.Entry<String, Entry>> all() {
        return byAddress.entrySet();
    }
}
