package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.Fields;
import org.tamanoir.arena.Slot;
import org.tamanoir.arena.SlotKind;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/**
 * The counts of one scheduling point, by class. A class keeps its counts as long as each configuration has one of its
 * name; one that is gone is shown while something waits in it.
 *
 * <p>Thread contract: inside the point's lock.
 */
final class PointCounts {
    /** Of turns before processing; of links they have their own. */
    private static final String TURNS = "pre";

    private final boolean sharesProcessors;
    /** Those of the configuration that holds, in its order; then those that are gone and were not empty. */
    private final Map<String, ClassCounts> byName = new LinkedHashMap<>();

    private int current;

    // What the arena shows.
    private static final long TEN_MS = 10_000_000;
    private final Arena arena;
    private Slot slot;
    private final RecentSum recentNs = new RecentSum();
    private long runningTurns;
    private long waitingTurns;
    /** Spans of 10 ms that have begun, by the clock. */
    private long spans = Long.MIN_VALUE;

    private PointCounts(boolean sharesProcessors, String name, Arena arena) {
        this.sharesProcessors = sharesProcessors;
        this.arena = arena;
        this.slot = arena.take(sharesProcessors ? SlotKind.POINT : SlotKind.LINK, name);
    }

    /** Makes those of turns, whose shares are those of processor time. */
    static PointCounts ofTurns(Arena arena) {
        return new PointCounts(true, TURNS, arena);
    }

    /** Makes those of a link, whose shares are those of bytes. */
    static PointCounts ofLink(String name, Arena arena) {
        return new PointCounts(false, name, arena);
    }

    /** Counts by the classes of this configuration from now on; shares count from here. */
    void change(QosConfig next) {
        Map<String, ClassCounts> before = new LinkedHashMap<>(byName);
        byName.clear();
        long weights = 0;
        for (TrafficClass each : next.classes()) {
            ClassCounts kept = before.remove(each.name());
            ClassCounts counts = kept == null ? new ClassCounts(this, take(each.name())) : kept;
            counts.configurationChanged(sharesProcessors);
            counts.configure(each);
            weights += each.weight();
            byName.put(each.name(), counts);
        }
        current = byName.size();
        slot.set(Fields.WEIGHT, weights);
        before.values().removeIf(each -> {
            if (each.isIdle()) {
                each.leave(arena);
            }
            return each.isIdle();
        });
        before.values().forEach(each -> each.configurationChanged(sharesProcessors));
        byName.putAll(before);
    }

    private Slot take(String className) {
        return arena.take(sharesProcessors ? SlotKind.TURNS : SlotKind.QUEUE, slot, className);
    }

    /** Returns the counts of a class of the configuration that holds. */
    ClassCounts of(String className) {
        ClassCounts known = byName.get(className);
        if (known == null) {
            throw new IllegalArgumentException("class '" + className + "': the configuration has none of this name");
        }
        return known;
    }

    // ---- in the arena ----------------------------------------------------------------------------------------------

    Slot slot() {
        return slot;
    }

    /** Looks whether spans of time are over. */
    void tick(long nowNs) {
        long now = Math.floorDiv(nowNs, TEN_MS);
        if (now > spans) {
            long tens = now - spans;
            long hundreds = Math.floorDiv(now, 10L) - Math.floorDiv(spans, 10L);
            spans = now;
            recentNs.advance(tens);
            slot.set(Fields.RECENT_NS, recentNs.sum());
            byName.values().forEach(each -> each.advance(tens, hundreds));
        }
    }

    void waits(long turns) {
        waitingTurns += turns;
        slot.set(Fields.TURNS_WAITING, waitingTurns);
    }

    void runs(long turns) {
        runningTurns += turns;
        slot.set(Fields.TURNS_RUNNING, runningTurns);
    }

    void used(long processorNs) {
        recentNs.add(processorNs);
        slot.set(Fields.RECENT_NS, recentNs.sum());
    }

    void processors(int count) {
        slot.set(Fields.PROCESSORS, count);
    }

    void contended(boolean isContended) {
        slot.set(Fields.CONTENDED, isContended ? 1 : 0);
    }

    void link(long rate, long tokens) {
        slot.set(Fields.RATE, rate);
        slot.set(Fields.TOKENS, tokens);
    }

    /** The point is no more. */
    void close() {
        slot = arena.give(slot);
        byName.values().forEach(each -> each.leave(arena));
    }

    QosStatus.Point status(String point, String discipline) {
        long total = 0;
        for (ClassCounts each : byName.values()) {
            total += each.sinceChange(sharesProcessors);
        }
        List<QosStatus.ClassStatus> all = new ArrayList<>();
        for (Map.Entry<String, ClassCounts> each : byName.entrySet()) {
            ClassCounts counts = each.getValue();
            if (all.size() < current || !counts.isIdle()) {
                double share = total == 0 ? 0 : (double) counts.sinceChange(sharesProcessors) / total;
                all.add(counts.status(each.getKey(), share));
            }
        }
        return new QosStatus.Point(point, discipline, all);
    }
}
