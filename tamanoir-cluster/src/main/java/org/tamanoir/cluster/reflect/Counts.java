package org.tamanoir.cluster.reflect;

import java.util.Map;
import java.util.TreeMap;

/**
 * Copies of datagrams that were asked for, and what became of them: {@code asked = sent + dropped}, at any time between
 * two batches; nothing is held. One thread.
 */
final class Counts {
    private static final ReflectDrop[] REASONS = ReflectDrop.values();

    long asked;
    long sentBytes;
    private final long[] dropped = new long[ReflectDrop.COUNT];

    void drop(ReflectDrop reason, long packets) {
        dropped[reason.ordinal()] += packets;
    }

    long sent() {
        long left = asked;
        for (long packets : dropped) {
            left -= packets;
        }
        return left;
    }

    void add(Counts other) {
        asked += other.asked;
        sentBytes += other.sentBytes;
        for (int i = 0; i < dropped.length; i++) {
            dropped[i] += other.dropped[i];
        }
    }

    /** Returns how many were dropped by reason, without those that are 0. */
    Map<String, Long> dropped() {
        Map<String, Long> all = new TreeMap<>();
        for (int i = 0; i < dropped.length; i++) {
            if (dropped[i] > 0) {
                all.put(REASONS[i].name(), dropped[i]);
            }
        }
        return all;
    }
}
